"""From a fair component to a lasso: a shortest stem into it, then a short fair cycle.

Everything is chosen by content, so that engines that number states differently give the same lasso:

1. The stem ends in the component state with the fewest steps to it, and among those in the one with
   the least fingerprint. Backwards from there, each time the predecessor with the least
   (fingerprint, action, ordinal of the step).
2. The cycle begins there. While it breaks a fairness condition, or misses the state to be visited,
   it is extended by a shortest path, inside the component, to a step or state that mends one of
   these; equals are told apart by (fingerprint of the target, of the source, action, ordinal).
   Then it is closed by a shortest path.
3. Where a component state exists in which stuttering is fair, the lasso that goes there by a
   shortest stem and stays is taken instead, if it is shorter.

A cycle without steps is a state in which nothing happens any more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from statewalk.checker.liveness.fair_cycles import FairComponents
from statewalk.checker.liveness.fairness import FairGraph, may_stutter
from statewalk.checker.liveness.graph import Bools, Ints, Positions, StateGraph
from statewalk.checker.liveness.problems import UNREACHED, Problem, Stems
from statewalk.dsl.errors import EngineError


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
    fair: FairGraph, problem: Problem, reach: Stems, found: FairComponents
) -> LassoPath | None:
    """The canonical lasso of a problem; None where no fair component is reached."""
    graph = fair.graph
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
    """A shortest stem to a state, from its end backwards: (transitions, initial state)."""
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
    """The transition into a state with the least (fingerprint of the source, action, ordinal)."""
    origin, at = graph.out(sources)
    hits = graph.targets[at] == target
    return _least_of(graph, origin[hits], at[hits])


def _least_of(graph: StateGraph, sources: Ints, at: Positions) -> Edge:
    """The transition with the least (fingerprint of the source, action, ordinal)."""
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
        """The transitions of the cycle."""
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
        """A test for transitions that mend something the cycle lacks; None if it lacks nothing."""
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
        """The conditions that the steps of a cycle take, under whatever label."""
        bits = np.uint64(0)
        for edge in cycle:
            low, high = self.graph.offsets[edge.source], self.graph.offsets[edge.source + 1]
            same = self.graph.targets[low:high] == self.graph.targets[edge.at]
            labels = self.graph.labels[low:high][same]
            bits |= np.bitwise_or.reduce(self.fair.takes[word][labels])
        return bits

    def _path(self, start: int, goal: Callable[[Positions, Ints], Bools]) -> list[Edge]:
        """A shortest path inside the component whose last transition meets the goal."""
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
        """The transition with the least (fingerprint of target, of source, action, ordinal)."""
        ends = self.graph.fingerprints[self.graph.targets[at]]
        first = ends == ends.min()
        return _least_of(self.graph, sources[first], at[first])

    def _back(self, levels: list[Ints], last: Edge) -> list[Edge]:
        """The path that ends with a transition from the last level."""
        path = [last]
        for level in reversed(levels[:-1]):
            path.append(_least_into(self.graph, level, path[-1].source))
        return list(reversed(path))
