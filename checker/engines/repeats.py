"""The check that a step has the same result when repeated.

A search believes that a step depends on the state and its choices only. A few runs per action are
repeated to see whether that is so: the 1st, 2nd, 4th, 8th, ..., and every 256th.
"""

from __future__ import annotations

from collections import Counter

from statewalk.dsl.errors import Span, SpecError
from statewalk.dsl.model import Action, Model
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.state.refs import show_place
from statewalk.dsl.values.canonical import ABSENT, intern_key
from statewalk.dsl.view import Disabled, State

_EVERY = 256


class Repeats:
    """Repeats a sample of the runs of one search."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.runs: Counter[int] = Counter()

    def check(self, action: Action, state: State, first: PlainView) -> None:
        """Raises SpecError[SW204] if a run that went well is repeated and goes another way, [SW102]
        if something was changed that is no part of the state.
        """
        self.runs[action.index] += 1
        count = self.runs[action.index]
        if count & (count - 1) and count % _EVERY:
            return
        second = PlainView(state, first.taken)
        try:
            self.model.take(action, second)
        except Disabled:
            what = "the first time it was possible, then not"
        except Exception as error:
            what = f"the first time it went well, then there was {type(error).__name__}: {error}"
        else:
            what = difference(first, second)
        self.model.look_outside()
        if what:
            raise unsteady(action.label, what, action.span)


def unsteady(label: str, what: str, span: Span | None) -> SpecError:
    """Return the error of a step or property that went another way the second time."""
    return SpecError(
        "SW204",
        f"{label} did something else the second time: {what}.",
        at=span,
        why="Steps and properties may depend on the state and on declared choices only.",
        help="Look for global variables, caches, time, random numbers or hash order.",
    )


def difference(first: PlainView, second: PlainView) -> str:
    """Return how two runs from one state differ; empty if they do not."""
    one, other = ([(n, intern_key(o)) for (_, n), o in zip(v.choices, v.chosen, strict=True)]
                  for v in (first, second))  # fmt: skip
    if one != other:
        return "its choices differed"
    for path in {**first.writes, **second.writes}:
        a, b = first.writes.get(path, ABSENT), second.writes.get(path, ABSENT)
        if intern_key(a) != intern_key(b):
            return f"{show_place(path, ())} became {a!r}, then {b!r}"
    return ""
