"""Liveness of a small graph, in plain Python on lists: which properties hold.

The same steps as in `check` and `fair_cycles`, by the same loops. Where there is a fair cycle that
violates a property nothing is decided here: to find the lasso is left to `check`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.contract.stops import StoppedBy
from statewalk.checker.engines.small import Allowance, Kept
from statewalk.checker.liveness.conditions import CUT, Condition, conditions
from statewalk.checker.liveness.explore import Build, built
from statewalk.checker.liveness.kernels import components, enabling, spread, survey
from statewalk.checker.liveness.problems import UNREACHED, Problem, problems
from statewalk.checker.liveness.result import LivenessResult
from statewalk.dsl.model import Model, Property

_NONE = -1


class Truth(list[bool]):
    """Where a predicate is true, for `problems`."""

    def __invert__(self) -> Truth:
        return Truth(not true for true in self)

    def __and__(self, other: Truth) -> Truth:
        return Truth(a and b for a, b in zip(self, other, strict=True))


@dataclass(frozen=True)
class Lists:
    """A state graph as lists, with its conditions of fairness as bits. Compare `StateGraph`,
    `FairGraph`; a word has room for all conditions here.
    """

    work: Build
    conditions: tuple[Condition, ...]
    offsets: list[int]
    takes: list[int]
    enabled: list[int]
    weak: int
    strong: int

    def holds(self, key: str) -> Truth:
        """The truth of a predicate."""
        return Truth(self.work.truth[key])

    @property
    def n(self) -> int:
        """States."""
        return len(self.work.rows)

    @property
    def stopped(self) -> StoppedBy | None:
        """Which bound ended the building."""
        return self.work.stopped

    @property
    def complete(self) -> bool:
        """Whether nothing was cut and nothing left unexpanded."""
        return self.stopped is None and not any(self.work.cut.values())


def small_graph(
    model: Model,
    limits: SearchOptions,
    properties: tuple[Property, ...],
    kept: Kept | None = None,
) -> Lists | None:
    """The state graph; None where building it is too much work for plain Python. Steps
    that a search ``kept`` are not taken again.

    Raises:  PredicateRaisedError
    """
    allowance = Allowance()
    known = kept.steps_of(model) if kept is not None else None
    work = built(model, allowance.limited(limits), properties, known)
    return None if allowance.used_up else lists_of(model, work)


def lists_of(model: Model, work: Build) -> Lists:
    """The graph that was built, whose transitions are in the order of their sources."""
    found = conditions(model, tuple(work.table))
    offsets = [0] * (len(work.rows) + 1)
    for source in work.sources:
        offsets[source + 1] += 1
    for state in range(len(work.rows)):
        offsets[state + 1] += offsets[state]
    takes = [sum(1 << at for at, c in enumerate(found) if c.takes(label)) for label in work.table]
    enabled = [0] * len(work.rows)
    enabling(offsets, work.targets, work.labels, takes, enabled)
    weak, strong = (
        sum(1 << at for at, c in enumerate(found) if c.fairness == kind)
        for kind in ("weak", "strong")
    )
    return Lists(work, found, offsets, takes, enabled, weak, strong)


def all_hold(graph: Lists, properties: Sequence[Property]) -> list[LivenessResult] | None:
    """The results, as `check.check_liveness` gives them, where no property is violated."""
    results = []
    for prop in properties:
        if not prop.of_kind.liveness:
            continue
        possible = False
        for problem in problems(prop, graph):
            allowed = _allowed(graph, problem)
            met = allowed if problem.visit is None else allowed & problem.visit
            if any(met):
                possible = True
                if _stays(graph, allowed, problem.visit):
                    return None
        results.append(
            LivenessResult(
                prop.name,
                prop.kind,
                vacuous=not possible,
                unsound=not graph.complete,
                unfair=possible and not graph.conditions,
            )
        )
    return results


def _allowed(graph: Lists, problem: Problem) -> Truth:
    """The states of cycles that a stem of the problem leads to. Compare `problems.stems`."""
    everywhere = Truth([True] * graph.n)
    before, turn, after = (m or everywhere for m in (problem.before, problem.turn, problem.after))
    first, second = [UNREACHED] * graph.n, [UNREACHED] * graph.n
    queue = [0] * (2 * graph.n + 1)
    starts = sorted({s for s in graph.work.initial if s != CUT})
    early = [s for s in starts if problem.turn is not None and before[s]]
    late = [s for s in starts if (problem.turn is None or turn[s]) and after[s]]
    for s in early:
        first[s] = 0
    for s in late:
        second[s] = 0
    ways = [*(2 * s for s in early), *(2 * s + 1 for s in late)]
    queue[: len(ways)] = ways
    spread(
        graph.offsets, graph.work.targets, before, turn, after, first, second, queue, [len(ways)]
    )
    reached = Truth(distance != UNREACHED for distance in second)
    return reached if problem.cycle is None else reached & problem.cycle


def _stays(graph: Lists, allowed: Truth, visit: Truth | None) -> bool:
    """Whether a fair behaviour can stay among some states, and meet others on the way again and
    again. Compare `fair_cycles.fair_components`.
    """
    expanded = graph.n if graph.work.stopped is None else graph.work.expanded
    states = [s for s in range(expanded) if allowed[s]]
    block = [_NONE] * graph.n
    for s in states:
        block[s] = 0
    while states:
        component, count = _connected(graph, states, block)
        possible = [visit is None] * count
        for s in states:
            possible[component[s]] |= visit is not None and visit[s]
        taken, always, sometimes = [0] * count, [-1] * count, [0] * count
        work = graph.work
        survey(
            states, graph.offsets, work.targets, work.labels, component, graph.takes,
            graph.enabled, taken, always, sometimes,
        )  # fmt: skip
        unmet = [some & ~took & graph.strong for some, took in zip(sometimes, taken, strict=True)]
        for c in range(count):
            possible[c] &= not always[c] & ~taken[c] & graph.weak
            if possible[c] and not unmet[c]:
                return True
        for s in states:
            block[s] = _NONE
        states = [
            s
            for s in states
            if possible[component[s]] and not graph.enabled[s] & unmet[component[s]]
        ]
        for s in states:
            block[s] = component[s]
    return False


def _connected(graph: Lists, states: list[int], block: list[int]) -> tuple[list[int], int]:
    """(component of each state, how many). States of different blocks are kept apart."""
    component, order = [_NONE] * graph.n, [0] * graph.n
    stack, path, low, edge = ([0] * (len(states) + 1) for _ in range(4))
    count = components(
        states, graph.offsets, graph.work.targets, block, component, order, stack, path, low, edge
    )
    return component, count
