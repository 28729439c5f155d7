"""Figures of a spec before any code: who takes part, and the state machine of a role.

A figure is boxes with arrows that have texts: as Mermaid, for Markdown, or as SVG.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from statewalk.checker.engines.layout import Layout
from statewalk.checker.states.content import content_of
from statewalk.checker.states.shortening import fit
from statewalk.checker.traces.exports.boxes import boxed
from statewalk.checker.traces.exports.dot import mermaid_text
from statewalk.checker.traces.exports.pictures import svg_of
from statewalk.checker.traces.exports.sequence import is_message, lane, owner_of
from statewalk.dsl.errors import RunError
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.stored import ABSENT

if TYPE_CHECKING:
    from statewalk.checker.states.diff import Change
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.model import Model
    from statewalk.dsl.view import Path


MOST = 20_000  # states of which a machine is made
_SHOWN = 6  # steps that are listed by their numbers
_WRITES = "writes "
_WIDE = 40  # of the text of a value


@dataclass
class Figure:
    """Boxes by name, those marked as first ones, and texts by the boxes that an arrow joins."""

    boxes: dict[str, str] = field(default_factory=dict)
    first: set[str] = field(default_factory=set)
    arrows: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    note: str = ""

    def text(self, arrow: tuple[str, str]) -> str:
        """Return the text of an arrow, a line for each part."""
        return "\n".join(self.arrows[arrow])

    def to_mermaid(self) -> str:
        """Return the figure as a mermaid ``flowchart``."""
        ids = {name: f"n{at}" for at, name in enumerate(self.boxes)}
        lines = ["flowchart LR", *([f"  %% {self.note}"] if self.note else [])]
        for name, shown in self.boxes.items():
            opens, closes = ("([", "])") if name in self.first else ("[", "]")
            lines.append(f'  {ids[name]}{opens}"{mermaid_text(shown)}"{closes}')
        for arrow in self.arrows:
            text = mermaid_text(self.text(arrow))
            lines.append(f'  {ids[arrow[0]]} -->|"{text}"| {ids[arrow[1]]}')
        return "\n".join(lines) + "\n"

    def to_svg(self) -> str:
        """Return the figure as a picture."""
        boxes = {name: text.split("\n") for name, text in self.boxes.items()}
        return svg_of(boxed(boxes, self.first, self.arrows), alone=True)


def to_actors(trace: Trace) -> str:
    """Return who takes part in a trace as a mermaid ``flowchart``."""
    return actors_of(trace).to_mermaid()


def actors_of(trace: Trace) -> Figure:
    """Return the roles and shared state of a trace, and what goes between them, with the numbers
    of the steps.
    """
    found = Figure(note=f"the steps of {trace.property}, {trace.length} in all")
    instances: dict[str, set[str]] = {}
    numbers: dict[tuple[str, str], dict[str, list[int]]] = {}
    for number, (step, changes) in enumerate(trace, 1):
        actor = lane(step.actor, trace.names)
        instances.setdefault(_class(actor), set()).add(actor)
        if isinstance(step.actor, Role) and not trace.names.get(type(step.actor).__name__):
            found.first.add(_class(actor))
        for a, b, text in _exchanges(actor, changes, set(trace.names.values())):
            instances.setdefault(_class(a), set()).add(a)
            instances.setdefault(_class(b), set()).add(b)
            at = numbers.setdefault((_class(a), _class(b)), {}).setdefault(text, [])
            at += [number] if number not in at else []
    for content in trace.contents[:1]:
        for owner, index, *_ in content:
            if owner not in trace.names:
                instances.setdefault(owner, set()).add(f"{owner}#{index}")
    for name, several in instances.items():
        if name and not name.startswith("@"):
            found.boxes[name] = f"{name} × {len(several)}" if len(several) > 1 else name
    for (a, b), texts in numbers.items():
        if a in found.boxes and b in found.boxes:
            found.arrows[a, b] = [*_joined(texts)]
    return found


def _joined(texts: Mapping[str, Sequence[int]]) -> Iterator[str]:
    """Yield the texts of an arrow with their numbers; fields that are written together as one."""
    together: dict[tuple[str, bool], list[str]] = {}
    for text, at in texts.items():
        together.setdefault((_listed(at), text.startswith(_WRITES)), []).append(text)
    for (numbers, writes), found in together.items():
        names = [text.removeprefix(_WRITES) for text in found] if writes else found
        yield f"{numbers} {_WRITES * writes}{', '.join(names)}"


def _class(instance: str) -> str:
    return instance.partition("#")[0]


def _listed(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:_SHOWN]))
    return f"{shown}, …" if len(numbers) > _SHOWN else shown


def _exchanges(
    actor: str, changes: Sequence[Change], shared: set[str]
) -> Iterator[tuple[str, str, str]]:
    """Yield what a step sends, takes and changes elsewhere: from whom to whom, and a text."""
    for change in changes:
        owner = owner_of(change) if "." in change.place else ""
        if owner == actor or not owner:
            continue
        if is_message(change, "+"):
            yield actor, owner, type(change.after).__name__
        elif is_message(change, "-") and owner in shared:
            yield owner, actor, type(change.before).__name__
        else:
            name = change.place.partition(".")[2].partition("[")[0].partition(".")[0]
            yield actor, owner, f"{_WRITES}{name}"


def machine_of(model: Model, by: str) -> Figure:
    """Return the state machine of a role: the values of a field ``by``, as in ``Client.state``,
    of whichever instance, with the actions that lead from one to another.

    Raises:  RunError[SW321] for a field that there is not
    """
    places = _places(model, by)
    found = Figure()
    edges: dict[tuple[str, str], dict[str, None]] = {}
    layout = Layout(model)
    seen = {layout.row(s): dict(s) for s in model.initial_states}
    queue = list(seen.values())
    for state in queue:
        for value in _values(model, state, places).values():
            found.first.add(value)
            found.boxes.setdefault(value, value)
    for state in queue:
        before = _values(model, state, places)
        for action in model.actions:
            for outcome in model.outcomes(action, state):
                after = model.successor(state, outcome)
                row = layout.row(after)
                if row not in seen and len(seen) < MOST:
                    seen[row] = after
                    queue.append(after)
                elif row not in seen:
                    found.note = f"of the first {MOST:,} states"
                now = _values(model, after, places)
                for path in places:
                    one, two = before.get(path), now.get(path)
                    if one is not None and two is not None and one != two:
                        edges.setdefault((one, two), {}).setdefault(_called(action, by))
    for (one, two), names in edges.items():
        found.boxes.setdefault(one, one)
        found.boxes.setdefault(two, two)
        found.arrows[one, two] = list(names)
    return found


def _called(action: Any, by: str) -> str:
    """Return an action by its name, with its role where that is another."""
    owner = type(action.actor).__name__ if action.actor is not None else ""
    return action.name if owner in ("", by.partition(".")[0]) else f"{owner}.{action.name}"


def _places(model: Model, by: str) -> list[Path]:
    fields = {
        f"{path[0]}.{path[2]}": None for s in model.initial_states for path in content_of(model, s)
    }
    if by not in fields:
        said = f"There is no field {by}." if by else "A state machine is of a field."
        known = ", ".join(sorted(fields))
        raise RunError("SW321", said, help=f"Name one with --by Role.field. There are: {known}.")
    owner, _, name = by.partition(".")
    paths = [p for s in model.initial_states for p in content_of(model, s)]
    return [p for p in dict.fromkeys(paths) if p[0] == owner and p[2] == name]


def _values(model: Model, state: Mapping[Any, Any], places: Sequence[Path]) -> dict[Path, str]:
    """Return the values of fields by place, as texts; a field of parts is put together."""
    found = {path: state.get(path, ABSENT) for path in places}
    if any(value is ABSENT for value in found.values()):
        content = content_of(model, state)
        found = {path: content.get(path, ABSENT) for path in places}
    return {path: _text(value) for path, value in found.items() if value is not ABSENT}


def _text(value: Any) -> str:
    if isinstance(value, Enum):
        return value.name
    return value if isinstance(value, str) and value else fit(value, _WIDE)
