"""Decides liveness properties on a state graph, exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from statewalk.checker.liveness.conditions import PREMISE, Lasso, LivenessResult, NotTaken
from statewalk.checker.liveness.demands import Demand, assumed, demanded, violating
from statewalk.checker.liveness.fair_cycles import (
    FairComponents,
    FairGraph,
    fair_components,
    may_stutter,
    with_fairness,
)
from statewalk.checker.liveness.formulas import Following, following, truths
from statewalk.checker.liveness.graph import Bools, Ints, Positions, StateGraph, step_at
from statewalk.checker.liveness.kernels import run, spread
from statewalk.dsl.errors import EngineError, SpecError
from statewalk.dsl.model import Model, Property
from statewalk.dsl.view import State


def check_liveness(
    model: Model, graph: StateGraph, properties: Sequence[Property]
) -> list[LivenessResult]:
    """Return what the graph says of each liveness property; a lasso is real also where it
    was cut.
    """
    fair = with_fairness(model, graph)
    demands = assumed(model, graph)
    refuse_unmet(model, fair, demands)
    return [_decide(model, fair, demands, p) for p in properties if p.of_kind.liveness]


def refuse_unmet(model: Model, fair: FairGraph, demands: Sequence[Demand]) -> None:
    """Raise SpecError[SW507] if no fair behavior satisfies the assumptions: liveness would hold of
    none.
    """
    graph = fair.graph
    if not demands or not graph.complete:
        return
    every: Bools = stems(graph, Problem()).second != UNREACHED
    for group in (*((demand,) for demand in demands), tuple(demands)):
        where = demanded(fair, group)
        if fair_components(where.fair, every & where.allowed, None).inside.any():
            continue
        props = [d.prop for d in group if d.prop is not None]
        names = " and ".join(f"'{prop.name}'" for prop in props)
        raise SpecError(
            "SW507",
            f"No fair behavior satisfies the assumption{'s' * (len(group) > 1)} {names}.",
            at=props[0].span,
            why="Every liveness property would hold, as there is no behavior to look at.",
            help="Assume less, or add the steps that meet it.",
        )


def _decide(
    model: Model, fair: FairGraph, demands: Sequence[Demand], prop: Property
) -> LivenessResult:
    """Return the result for one property."""
    path, possible = shortest_lasso(model, fair, demands, prop)
    return LivenessResult(
        prop.name,
        prop.kind,
        None if path is None else _lasso(model, fair, path),
        vacuous=not possible,
        unsound=path is None and not fair.graph.complete,
        unfair=possible and not (fair.conditions or demands) and not _promised(model, fair.graph),
    )


def _promised(model: Model, graph: StateGraph) -> bool:
    """Return whether an action that the graph does not show, as it was cut, is fair."""
    return not graph.complete and any(a.fairness != "none" for a in model.actions)


def shortest_lasso(
    model: Model, fair: FairGraph, demands: Sequence[Demand], prop: Property
) -> tuple[LassoPath | None, bool]:
    """Return the shortest lasso that violates a property; whether anything could begin to
    violate it.
    """
    if prop.formula:
        return _shortest_of_formula(model, fair, demands, prop)
    graph = fair.graph
    shortest: LassoPath | None = None
    possible = False
    if prop.of_kind.of_steps:
        demands = (*demands, violating(model, graph, prop))
    where = demanded(fair, demands)
    for problem in problems(prop, graph):
        reach = None if problem.begins_anywhere else stems(graph, problem)
        allowed: Bools = np.ones(graph.n, np.bool_) if reach is None else reach.second != UNREACHED
        allowed &= where.allowed
        if problem.cycle is not None:
            allowed &= problem.cycle
        if not (allowed if problem.visit is None else allowed & problem.visit).any():
            continue
        possible = True
        found = fair_components(where.fair, allowed, problem.visit)
        if not found.inside.any():
            continue
        reach = reach or stems(graph, problem)
        lasso = find_lasso(graph, where.fair, problem, reach, found)
        if lasso and (shortest is None or lasso.length < shortest.length):
            shortest = lasso
    return shortest, possible


def _shortest_of_formula(
    model: Model, fair: FairGraph, demands: Sequence[Demand], prop: Property
) -> tuple[LassoPath | None, bool]:
    """Return the same for a formula. An implication without a premise is violated by nothing."""
    where = truths(model, fair.graph, prop)
    found = [_first(follows) for follows in following(fair, demands, ("not", prop.formula), where)]
    if shortest := min((p for p in found if p is not None), key=lambda p: p.length, default=None):
        return shortest, True
    if prop.formula[0] != "implies":
        return None, True
    unfair = replace(fair, conditions=(), takes=(), enabled=(), weak=(), strong=())
    premises = following(unfair, demands, prop.formula[1], where)
    return None, any(_first(follows) is not None for follows in premises)


def _first(follows: Following) -> LassoPath | None:
    """Return the canonical lasso of the behaviors that satisfy a formula, in the state graph."""
    where, graph = demanded(follows.fair, follows.demands), follows.fair.graph
    reach = stems(graph, Problem())
    found = fair_components(where.fair, (reach.second != UNREACHED) & where.allowed, None)
    path = find_lasso(graph, where.fair, Problem(), reach, found)
    if path is None or follows.base is None:
        return path
    base, n = follows.base, follows.states

    def back(edges: tuple[Edge, ...]) -> tuple[Edge, ...]:
        return tuple(Edge(e.source % n, int(base[e.at])) for e in edges if base[e.at] >= 0)

    return LassoPath(path.start % n, back(path.stem), back(path.cycle))


def _lasso(model: Model, fair: FairGraph, path: LassoPath) -> Lasso:
    """Return the lasso by initial state and steps, as the model counts them."""
    graph = fair.graph
    initial = graph.initial.index(path.start)
    state: State = model.initial_states[initial]
    steps = []
    for edge in (*path.stem, *path.cycle):
        step, state = step_at(model, graph, edge.at, state)
        steps.append(step)
    cut = len(path.stem)
    return Lasso(initial, tuple(steps[:cut]), tuple(steps[cut:]), _not_taken(model, fair, path))


def _not_taken(model: Model, fair: FairGraph, path: LassoPath) -> tuple[NotTaken, ...]:
    """Return what is enabled somewhere on the cycle and never taken: fair conditions first."""
    graph = fair.graph
    end = int(graph.targets[path.stem[-1].at]) if path.stem else path.start
    states = [end, *(int(graph.targets[e.at]) for e in path.cycle[:-1])]
    ends = {(e.source, int(graph.targets[e.at])) for e in path.cycle}
    enabled: list[set[int]] = []
    taken: set[int] = set()
    for number in states:
        _, at = graph.out(np.array([number], np.int32))
        moves = [(int(graph.labels[a]), int(graph.targets[a])) for a in at]
        enabled.append({label for label, to in moves if to != number})
        taken |= {label for label, to in moves if (number, to) in ends}
    result = []
    for c in fair.conditions:
        where = _where(enabled, {i for i, label in enumerate(graph.table) if c.takes(label)}, taken)
        if where:
            result.append(NotTaken(c.action, c.label, c.fairness, where))
    for action in model.actions:
        if action.fairness == "none":
            labels = {i for i, label in enumerate(graph.table) if label.action == action.index}
            if where := _where(enabled, labels, taken):
                result.append(NotTaken(action.index, action.label, "none", where))
    return tuple(result)


def _where(enabled: list[set[int]], labels: set[int], taken: set[int]) -> tuple[int, ...]:
    if labels & taken:
        return ()
    return tuple(i for i, found in enumerate(enabled) if found & labels)


@dataclass(frozen=True)
class Edge:
    """A transition: its source, and its place in the arrays of the graph."""

    source: int
    at: int


@dataclass(frozen=True)
class LassoPath:
    """A lasso in the graph, from the state ``start``. Without cycle steps it stays where it is."""

    start: int
    stem: tuple[Edge, ...]
    cycle: tuple[Edge, ...]

    @property
    def length(self) -> int:
        """Steps of stem and cycle."""
        return len(self.stem) + len(self.cycle)


def find_lasso(
    graph: StateGraph, fair: FairGraph, problem: Problem, reach: Stems, found: FairComponents
) -> LassoPath | None:
    """Return the canonical lasso of a problem; None where no fair component is reached. Stems are
    in the graph, cycles in what demands leave of it.
    """
    entry = _nearest(graph, reach.second, found.inside)
    if entry is None:
        return None
    stem, start = _stem(graph, problem, reach, entry)
    lasso = LassoPath(start, stem, _Cycle(fair, problem, found, entry).edges())
    still = found.inside & may_stutter(fair)
    if problem.visit is not None:
        still &= problem.visit
    rest = _nearest(graph, reach.second, still)
    if rest is not None and int(reach.second[rest]) < lasso.length:
        stem, start = _stem(graph, problem, reach, rest)
        return LassoPath(start, stem, ())
    return lasso


def _nearest(graph: StateGraph, distance: Ints, among: Bools) -> int | None:
    states = np.flatnonzero(among & (distance != UNREACHED))
    if not len(states):
        return None
    states = states[distance[states] == distance[states].min()]
    return int(states[np.argmin(graph.fingerprints[states])])


def _stem(
    graph: StateGraph, problem: Problem, reach: Stems, entry: int
) -> tuple[tuple[Edge, ...], int]:
    """Return a shortest stem to a state, from its end backwards: (transitions, initial state)."""
    edges: list[Edge] = []
    at, late = entry, True
    for depth in range(int(reach.second[entry]) - 1, -1, -1):
        after = reach.second == depth if late else reach.first == depth
        turns = late and problem.turn is not None and bool(problem.turn[at])
        before = reach.first == depth if turns else np.zeros(graph.n, np.bool_)
        edge = _least_into(graph, np.flatnonzero(after | before).astype(np.int32), at)
        edges.append(edge)
        at = edge.source
        late = late and bool(after[at])
    return tuple(reversed(edges)), at


def _least_into(graph: StateGraph, sources: Ints, target: int) -> Edge:
    """Return the transition into a state with the least (fingerprint of the source, action,
    ordinal).
    """
    origin, at = graph.out(sources)
    hits = graph.targets[at] == target
    return _least_of(graph, origin[hits], at[hits])


def _least_of(graph: StateGraph, sources: Ints, at: Positions) -> Edge:
    """Return the transition with the least (fingerprint of the source, action, ordinal)."""
    prints = graph.fingerprints[sources]
    first = np.flatnonzero(prints == prints.min())

    def rank(which: int) -> tuple[int, int]:
        label = graph.table[int(graph.labels[at[which]])]
        return label.action, label.ordinal

    least = min(first.tolist(), key=rank)
    return Edge(int(sources[least]), int(at[least]))


class _Cycle:
    """Builds the cycle inside one fair component."""

    def __init__(
        self, fair: FairGraph, problem: Problem, found: FairComponents, entry: int
    ) -> None:
        self.fair = fair
        self.graph = fair.graph
        self.visit = problem.visit
        self.inside: Bools = found.component == found.component[entry]
        self.entry = entry

    def edges(self) -> tuple[Edge, ...]:
        """Return the transitions of the cycle."""
        tour: list[Edge] = []
        while True:
            closed = tour + self._way_back(tour)
            goal = self._missing(closed)
            if goal is None:
                return tuple(closed)
            tour += self._path(self._end(tour), goal)

    def _end(self, tour: list[Edge]) -> int:
        return int(self.graph.targets[tour[-1].at]) if tour else self.entry

    def _way_back(self, tour: list[Edge]) -> list[Edge]:
        end = self._end(tour)
        if end == self.entry:
            return []
        return self._path(end, lambda at, to: to == self.entry)

    def _missing(self, cycle: list[Edge]) -> Callable[[Positions, Ints], Bools] | None:
        """Return a test for transitions that mend something the cycle lacks; None if it lacks
        nothing.
        """
        states = np.array([self.entry, *(self._end([e]) for e in cycle)], np.int32)
        steps, leave = [], []
        for word in range(self.fair.words):
            enabled = self.fair.enabled[word][states]
            taken = self.taken(cycle, word)
            weak = np.bitwise_and.reduce(enabled) & ~taken & self.fair.weak[word]
            strong = np.bitwise_or.reduce(enabled) & ~taken & self.fair.strong[word]
            steps.append(weak | strong)
            leave.append(weak)
        unseen = self.visit is not None and not self.visit[states].any()
        if not unseen and not any(steps):
            return None

        def mends(at: Positions, to: Ints) -> Bools:
            good: Bools = np.zeros(len(at), np.bool_)
            if unseen and self.visit is not None:
                good |= self.visit[to]
            for word in range(self.fair.words):
                good |= (self.fair.takes[word][self.graph.labels[at]] & steps[word]) != 0
                good |= (~self.fair.enabled[word][to] & leave[word]) != 0
            return good

        return mends

    def taken(self, cycle: list[Edge], word: int) -> np.uint64:
        """Return the conditions that the steps of a cycle take, under whatever label."""
        bits = np.uint64(0)
        for edge in cycle:
            low, high = self.graph.offsets[edge.source], self.graph.offsets[edge.source + 1]
            same = self.graph.targets[low:high] == self.graph.targets[edge.at]
            labels = self.graph.labels[low:high][same]
            bits |= np.bitwise_or.reduce(self.fair.takes[word][labels])
        return bits

    def _path(self, start: int, goal: Callable[[Positions, Ints], Bools]) -> list[Edge]:
        """Return a shortest path inside the component whose last transition meets the goal."""
        distance = np.full(self.graph.n, UNREACHED, np.int32)
        distance[start] = 0
        levels = [np.array([start], np.int32)]
        while True:
            sources, at = self.graph.out(levels[-1])
            to = self.graph.targets[at]
            inner = (to >= 0) & (to != sources)
            inner &= self.inside[to]
            sources, at, to = sources[inner], at[inner], to[inner]
            hits = np.flatnonzero(goal(at, to))
            if len(hits):
                last = self._least(sources[hits], at[hits])
                return self._back(levels, last)
            new = np.unique(to[distance[to] == UNREACHED])
            if not len(new):
                raise EngineError("SW905", "A fair component has no fair cycle.")
            distance[new] = len(levels)
            levels.append(new)

    def _least(self, sources: Ints, at: Positions) -> Edge:
        """Return the transition with the least (fingerprint of target, of source, action,
        ordinal).
        """
        ends = self.graph.fingerprints[self.graph.targets[at]]
        first = ends == ends.min()
        return _least_of(self.graph, sources[first], at[first])

    def _back(self, levels: list[Ints], last: Edge) -> list[Edge]:
        """Return the path that ends with a transition from the last level."""
        path = [last]
        for level in reversed(levels[:-1]):
            path.append(_least_into(self.graph, level, path[-1].source))
        return list(reversed(path))


UNREACHED = -1


@dataclass(frozen=True)
class Problem:
    """A way to violate a property; see the module."""

    before: Bools | None = None
    turn: Bools | None = None
    after: Bools | None = None
    cycle: Bools | None = None
    visit: Bools | None = None

    @property
    def begins_anywhere(self) -> bool:
        """Return whether every behavior is a stem of it."""
        return self.turn is None and self.after is None


def problems(prop: Property, graph: StateGraph) -> list[Problem]:
    """Return the ways to violate a liveness property."""
    if prop.of_kind.of_steps:  # a demand on the cycle
        return [Problem()]
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
    """The number of steps to each state, before the turn and after it; `UNREACHED` where none."""

    first: Ints
    second: Ints


def stems(graph: StateGraph, problem: Problem) -> Stems:
    """Breadth-first search along the problem's stem."""
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


def _mask(graph: StateGraph, allowed: Bools | None) -> NDArray[Any]:
    return np.ones(graph.n, np.uint8) if allowed is None else allowed.astype(np.uint8)
