"""What a behaviour that violates a property looks like: a stem, then states it never leaves again.

Each kind of property becomes one or two *problems*. A problem is a small automaton that runs
along: a stem in which every state satisfies ``before``, a step into a state that satisfies ``turn``,
a stem in ``after``, and a cycle in ``cycle`` with a state that satisfies ``visit``. None is true
everywhere; without ``turn`` the behaviour begins in ``after``.

    eventually P            ¬P all along
    always eventually P     anything, then ¬P for ever
    eventually always P     ¬P again and again
    P leads to Q            anything, a state with P and ¬Q, then ¬Q for ever
    P until Q               P and ¬Q for ever, or
                            P and ¬Q up to a state with neither, then anything
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from checker.liveness.graph import PREMISE, Bools, Ints, StateGraph
from dsl.errors import EngineError
from dsl.model import Property

UNREACHED = -1


@dataclass(frozen=True)
class Problem:
    """A way to violate a property; see the module."""

    before: Bools | None = None
    turn: Bools | None = None
    after: Bools | None = None
    cycle: Bools | None = None
    visit: Bools | None = None


def problems(prop: Property, graph: StateGraph) -> list[Problem]:
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
    shape = graph.n
    first = np.full(shape, UNREACHED, np.int32)
    second = np.full(shape, UNREACHED, np.int32)
    starts = graph.start()
    early = _among(starts, problem.before) if problem.turn is not None else starts[:0]
    late = _among(starts, problem.turn) if problem.turn is not None else starts
    late = _among(late, problem.after)
    first[early], second[late] = 0, 0
    depth = 0
    while len(early) or len(late):
        depth += 1
        from_early, from_late = _successors(graph, early), _successors(graph, late)
        turning = _among(from_early, problem.turn)
        late = _fresh(second, _among(np.concatenate([from_late, turning]), problem.after), depth)
        early = _fresh(first, _among(from_early, problem.before), depth)
    return Stems(first, second)


def _among(states: Ints, allowed: Bools | None) -> Ints:
    return states if allowed is None else states[allowed[states]]


def _successors(graph: StateGraph, states: Ints) -> Ints:
    _, at = graph.out(states)
    found = graph.targets[at]
    return found[found >= 0]


def _fresh(distance: Ints, states: Ints, depth: int) -> Ints:
    """Mark the states not yet reached; each of them once."""
    new = states[distance[states] == UNREACHED]
    distance[new] = depth
    return np.unique(new)
