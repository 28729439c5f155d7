"""What a behaviour that violates a property looks like: a stem, then states it never leaves again.

Each kind of property becomes one or two *problems*. A problem is a small automaton that runs
along: a stem in which every state satisfies ``before``, a step into a state that satisfies
``turn``, a stem in ``after``, and a cycle in ``cycle`` with a state that satisfies ``visit``. None
is true everywhere; without ``turn`` the behaviour begins in ``after``.

    eventually P            ¬P all along
    always eventually P     anything, then ¬P for ever
    eventually always P     ¬P again and again
    P leads to Q            anything, a state with P and ¬Q, then ¬Q for ever
    P until Q               P and ¬Q for ever, or
                            P and ¬Q up to a state with neither, then anything
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from statewalk.checker.liveness.conditions import PREMISE
from statewalk.checker.liveness.kernels import run, spread
from statewalk.dsl.errors import EngineError
from statewalk.dsl.model import Property

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from statewalk.checker.liveness.graph import Ints, StateGraph

UNREACHED = -1
Mask = Any
"""A truth for each state, an array or a list that knows ``~`` and ``&``."""


class Told(Protocol):
    """What knows where predicates are true."""

    def holds(self, key: str) -> Mask: ...


@dataclass(frozen=True)
class Problem:
    """A way to violate a property; see the module."""

    before: Mask | None = None
    turn: Mask | None = None
    after: Mask | None = None
    cycle: Mask | None = None
    visit: Mask | None = None

    @property
    def begins_anywhere(self) -> bool:
        """Whether every behaviour is a stem of it."""
        return self.turn is None and self.after is None


def problems(prop: Property, graph: Told) -> list[Problem]:
    """The ways to violate a liveness property."""
    bad = ~graph.holds(prop.name)
    if prop.kind == "eventually":
        return [Problem(after=bad, cycle=bad)]
    if prop.kind == "always_eventually":
        return [Problem(cycle=bad)]
    if prop.kind == "eventually_always":
        return [Problem(visit=bad)]
    premise = graph.holds(prop.name + PREMISE)
    if prop.kind == "leads_to":
        return [Problem(turn=premise & bad, after=bad, cycle=bad)]
    if prop.kind == "until":
        waits = premise & bad
        return [Problem(after=waits, cycle=waits), Problem(before=waits, turn=~premise & bad)]
    raise EngineError("SW905", f"'{prop.name}' is not a liveness property, but {prop.kind}.")


@dataclass(frozen=True)
class Stems:
    """How many steps lead to each state, before the turn and after it; `UNREACHED` where none."""

    first: Ints
    second: Ints


def stems(graph: StateGraph, problem: Problem) -> Stems:
    """Breadth-first search along the problem's stem."""
    import numpy as np

    first = np.full(graph.n, UNREACHED, np.int32)
    second = np.full(graph.n, UNREACHED, np.int32)
    before, turn, after = (_mask(graph, m) for m in (problem.before, problem.turn, problem.after))
    starts = graph.start()
    early = starts[:0]
    if problem.turn is not None:
        early, starts = starts[before[starts] > 0], starts[turn[starts] > 0]
    late = starts[after[starts] > 0]
    first[early], second[late] = 0, 0
    filled = np.array([len(early) + len(late)], np.int64)
    queue = np.zeros(2 * graph.n + 1, np.int64)
    queue[: filled[0]] = np.concatenate([2 * early, 2 * late + 1])
    given = (graph.offsets, graph.targets, before, turn, after)
    run(spread, graph.n + graph.m, given, (first, second, queue, filled))
    return Stems(first, second)


def _mask(graph: StateGraph, allowed: Mask | None) -> NDArray[Any]:
    import numpy as np

    return np.ones(graph.n, np.uint8) if allowed is None else allowed.astype(np.uint8)
