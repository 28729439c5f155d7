"""What only its spec tells of a path: what else was possible, and the functions of its steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from statewalk.checker.machine.limits import within
from statewalk.checker.machine.watch import CutShort
from statewalk.checker.states.showing import place
from statewalk.checker.verdict.spec_text import lines_of
from statewalk.checker.walk.around import along
from statewalk.checker.walk.walk import Walk
from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.view import Endless

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.model import Model

RUNS = 20_000  # of actions, for the drawings of a page
_ENDLESS = 60.0  # seconds after which a step is taken for one that does not end
_LONGEST = 150  # lines of a function


class Around:
    """Draws what was possible along paths of a model, with so many runs of actions at most."""

    def __init__(self, model: Model, runs: int = RUNS) -> None:
        self.walk = Walk(model)
        self.left = runs

    def of(self, trace: Trace) -> dict[str, Any]:
        """By state of a trace a drawing of what is around it; nothing where the spec has changed,
        or a step does not end.
        """
        if self.left <= 0:
            return {}
        try:
            with within(trace.spec, "drawing what else was possible", _ENDLESS):
                drawings, runs = along(self.walk, self.walk.path_of(trace), self.left)
                self.left -= runs
                return {"around": drawings}
        except (StatewalkError, Endless, CutShort):
            return {}


def code_of(places: Iterable[tuple[str, int]]) -> dict[str, Any]:
    """By place the text of the function that is there, and its first line."""
    return {
        place(file, line): found
        for file, line in dict.fromkeys(places)
        if file and (found := _function(lines_of(file), line - 1)) is not None
    }


def _function(lines: tuple[str, ...], at: int) -> dict[str, Any] | None:
    """The lines that belong to the one at a place: its decorators, and what is further in."""
    if not 0 <= at < len(lines):
        return None
    first = at
    while first and lines[first - 1].lstrip().startswith("@"):
        first -= 1
    while at < len(lines) and lines[at].lstrip().startswith("@"):
        at += 1
    indent = _indent(lines[first])
    last = at + 1
    while last < len(lines) and (not lines[last].strip() or _indent(lines[last]) > indent):
        last += 1
    found = list(lines[first : min(last, first + _LONGEST)])
    while found and not found[-1].strip():
        found.pop()
    return {"first": first + 1, "lines": [line[indent:] for line in found]}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
