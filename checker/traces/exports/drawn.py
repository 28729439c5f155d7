"""Pictures of states that a spec declares with ``@picture``, and what they raise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.states.shortening import fit
from statewalk.checker.traces.exports.pictures import svg_of
from statewalk.checker.traces.exports.sketch import sketch_of
from statewalk.checker.traces.exports.sketch_text import lines_of
from statewalk.checker.traces.trace import take_step
from statewalk.dsl.errors import RunError, StatewalkError, place_of
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.view import Endless
from statewalk.dsl.words.draw import Part

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.model import Model, Picture
    from statewalk.dsl.view import State


MOST = 600  # parts of a picture


def pictures_of(model: Model, states: Sequence[State]) -> list[dict[str, Any]]:
    """Return each picture of a model for states: its drawings, and the number of that of each
    state. A drawing is shapes and their text, or the error of a state that cannot be drawn.
    """
    found = []
    for one in model.pictures:
        drawings: dict[str, dict[str, Any]] = {}
        at = []
        for state in states:
            made = drawn(model, one, state)
            key = repr(made)
            drawings.setdefault(key, made)
            at.append(list(drawings).index(key))
        found.append(
            {"name": one.name, "doc": one.doc, "drawings": list(drawings.values()), "at": at}
        )
    return found


def drawn(model: Model, picture: Picture, state: State) -> dict[str, Any]:
    """Return a picture of a state as shapes with their text, or the error that it raised."""
    try:
        part = part_of(model, picture, state)
    except Endless as endless:
        return {"error": endless.error.message}
    except Exception as error:
        return {"error": said_of(error, picture, model)}
    return sketch_of(part)


def states_of(model: Model, trace: Trace) -> list[State]:
    """Return the states of a trace as the model has them, as far as it goes that way."""
    states = [model.initial_states[trace.initial]]
    for step in trace.steps:
        taken = take_step(
            model, states[-1], model.actions[step.index], [c.index for c in step.choices]
        )
        if taken is None or taken.state is None:
            break
        states.append(taken.state)
    return states


def part_of(model: Model, picture: Picture, state: State) -> Part:
    """Return the part that a picture returns in a state. Raises what the picture raises."""
    found: list[Any] = []

    def look() -> bool:
        found.append(picture.draw())
        return True

    look.__name__ = picture.name
    model.holds(look, PlainView(state))
    part = found[0]
    if not isinstance(part, Part):
        raise TypeError(f"it returned {fit(part, 60)}, not a part such as draw.row(...)")
    if (count := _count(part)) > MOST:
        raise ValueError(f"it has {count} parts; {MOST} are the most that are drawn")
    return part


def said_of(error: Exception, picture: Picture, model: Model) -> str:
    """Return what a picture raised, and where."""
    place = place_of(error, set(model.sources)) or picture.span
    where = f" ({Path(place.file).name}:{place.line})" if place is not None else ""
    text = error.message if isinstance(error, StatewalkError) else str(error)
    return f"{picture.name} cannot be drawn: {type(error).__name__}: {text}{where}"


def to_picture(model: Model, state: State, *, svg: bool) -> str:
    """Return the pictures of a state, as SVG or as text.

    Raises:  RunError[SW322] where there is none, or one raises
    """
    if not model.pictures:
        help = "Write a function with @picture that returns draw.row(...) or another part."
        raise RunError("SW322", f"{model.path} has no picture.", help=help)
    parts = []
    for one in model.pictures:
        try:
            part = part_of(model, one, state)
        except Exception as error:
            raise RunError("SW322", said_of(error, one, model)) from None
        parts.append(Part("column", (part,), one.name) if len(model.pictures) > 1 else part)
    whole = Part("column", tuple(parts)) if len(parts) > 1 else parts[0]
    if not svg:
        return "\n".join(lines_of(whole)) + "\n"
    return svg_of(sketch_of(whole), alone=True)


def _count(part: Any) -> int:
    if not isinstance(part, Part):
        return 1
    cells = part.content
    if part.kind == "grid":
        cells = tuple(cell for line in part.content for cell in line)
    return 1 + sum(map(_count, cells))
