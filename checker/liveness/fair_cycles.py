"""The places where a fair behavior can stay for ever: fair components of a part of the graph.

A behavior that stays in a set of states for ever and meets each of them again and again,
stuttering allowed, exists exactly on a set that is strongly connected (one state is). Among those,
the fair ones are found by taking away what cannot be part of one, until nothing changes:

1. Split what is left into strongly connected components.
2. Weak A: a component in which A is enabled in every state and taken by no inner step is not fair,
   and neither is any part of it. Drop it. The same where no state to be visited is in it.
3. Strong A: if A is enabled somewhere in a component and taken by no inner step, then a fair part
   avoids every state with A enabled. Drop these states, and go to 1 with the rest.
4. A component that passes is fair, and as large as possible.

Before that, a few passes over all steps take away what can be seen to be part of no fair cycle. The
*core* are the states that are left, and only steps that may be part of a cycle count. Away go

a. states from which, or to which, no step leads inside the core;
b. A being a condition that no step inside the core takes, and strong: the states with A enabled;
c. the same for a weak A, if no step inside the core leads from a state with A enabled to one where
   it is not: then A is enabled all along a cycle through such a state.

That is repeated as long as it takes away a good part. Fair components with steps are all in what it
leaves, as a part of one that is not fair for these reasons is none either. Elsewhere a state is
fair by itself if no condition is enabled in it.

Each round is linear in what is left; there are at most as many rounds as strong conditions and one.

Source:  Emerson and Lei, "Modalities for model checking", Science of Computer Programming 8
         (1987), for Streett conditions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from statewalk.checker.liveness.conditions import Condition, conditions
from statewalk.checker.liveness.graph import Bools, Ints, StateGraph, Words
from statewalk.checker.liveness.kernels import components, drop, enabling, lost, run, survey, trim
from statewalk.dsl.model import Model

NONE = -1
Array = NDArray[Any]
_PAYS = 0.8  # of the states left, at most, by a round after which there is another
ALL = np.uint64((1 << 64) - 1)


@dataclass(frozen=True)
class FairComponents:
    """``component[s]`` numbers the fair component of a state, `NONE` outside of any."""

    component: Ints

    @property
    def inside(self) -> Bools:
        """The states that lie in a fair component."""
        found: Bools = self.component >= 0
        return found


def fair_components(fair: FairGraph, allowed: Bools, visit: Bools | None) -> FairComponents:
    """Return the largest fair components among the allowed states that meet ``visit`` (None:
    any state).

    States that were not expanded are in none.
    """
    graph = fair.graph
    result = np.full(graph.n, NONE, np.int32)
    if graph.expanded is not None:
        allowed = allowed & graph.expanded
    core = _core_of(fair, allowed)
    alone = allowed & ~core & may_stutter(fair)
    if visit is not None:
        alone &= visit
    found = int(alone.sum())
    result[alone] = np.arange(found)
    states = np.flatnonzero(core).astype(np.int32)
    block = np.full(graph.n if len(states) else 0, NONE, np.int32)
    block[states] = 0
    while len(states):
        component, count = _strongly_connected(graph, states, block)
        possible, unmet = _judge(fair, states, component, count, visit)
        good = possible & (np.bitwise_or.reduce(unmet, axis=0) == 0)
        own = component[states]
        if good.any():
            numbers = np.cumsum(good).astype(np.int32) - 1 + found
            kept = good[own]
            result[states[kept]] = numbers[own[kept]]
            found += int(good.sum())
        left = (possible & ~good)[own]
        for word, bad in enumerate(unmet[: fair.words]):
            left &= (fair.enabled[word][states] & bad[own]) == 0
        block[states] = NONE
        block[states[left]] = own[left]
        states = states[left]
    return FairComponents(result)


def _strongly_connected(graph: StateGraph, states: Ints, block: Ints) -> tuple[Ints, int]:
    """(component of each state, how many). States of different blocks are kept apart."""
    n = graph.n
    component = np.full(n, NONE, np.int32)
    order = np.zeros(n, np.int32)
    room = len(states) + 1
    stack, path, low = (np.zeros(room, np.int32) for _ in range(3))
    edge = np.zeros(room, np.int64)
    given = (states, graph.offsets, graph.targets, block)
    scratch = (order, stack, path, low, edge)
    return component, int(run(components, n + graph.m, given, (component, *scratch)))


def _judge(
    fair: FairGraph, states: Ints, component: Ints, count: int, visit: Bools | None
) -> tuple[Bools, list[Words]]:
    """Per component: whether it or a part of it may be fair, and the strong conditions it fails.

    It fails a strong condition that is enabled somewhere in it and that no inner step takes.
    """
    graph = fair.graph
    possible: Bools = np.ones(count, np.bool_)
    if visit is not None:
        possible[:] = False
        possible[component[states[visit[states]]]] = True
    unmet = []
    for word in range(fair.words):
        taken, sometimes = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
        always = np.full(count, ALL, np.uint64)
        transitions = (states, graph.offsets, graph.targets, graph.labels, component)
        given = (*transitions, fair.takes[word], fair.enabled[word])
        run(survey, graph.n + graph.m, given, (taken, always, sometimes))
        possible &= (always & ~taken & fair.weak[word]) == 0
        unmet.append(sometimes & ~taken & fair.strong[word])
    return possible, unmet or [np.zeros(count, np.uint64)]


def _core_of(fair: FairGraph, allowed: Bools) -> Bools:
    """Return the allowed states that may be part of a fair cycle with steps."""
    graph = fair.graph
    every = np.ones(max(1, len(graph.table)), np.bool_)
    turns = (every if graph.turns is None else graph.turns).astype(np.uint8)
    core = np.packbits(allowed, bitorder="little")
    steps = (graph.offsets, graph.targets, graph.labels, turns)
    left = int(allowed.sum())
    met = turns
    while left:
        before = left
        for word in range(fair.words):
            _drop(fair, word, np.bitwise_or.reduce(fair.takes[word][met > 0]), steps, core)
        met = np.zeros_like(turns)
        left = int(run(trim, graph.n + graph.m, steps, (core, np.zeros_like(core), met)))
        if left > _PAYS * before:
            break
    found: Bools = np.unpackbits(core, count=graph.n, bitorder="little").astype(np.bool_)
    return found


def _drop(
    fair: FairGraph, word: int, taken: np.uint64, steps: tuple[Array, ...], core: Array
) -> None:
    """Take away states for the sake of conditions that no step inside the core takes."""
    weak = np.array([fair.weak[word] & ~taken], np.uint64)
    if weak[0]:
        run(lost, fair.graph.n + fair.graph.m, (*steps, core, fair.enabled[word]), (weak,))
    never = weak | (fair.strong[word] & ~taken)
    if never[0]:
        run(drop, fair.graph.n, (fair.enabled[word], never), (core,))


BITS = 64


@dataclass(frozen=True)
class FairGraph:
    """A graph with its fairness conditions as bits, 64 to a word.

    ``takes[w]`` (labels,) and ``enabled[w]`` (n,) hold word w per label and per state; ``weak[w]``
    and ``strong[w]`` are the conditions of either kind.
    """

    graph: StateGraph
    conditions: tuple[Condition, ...]
    takes: tuple[Words, ...]
    enabled: tuple[Words, ...]
    weak: tuple[np.uint64, ...]
    strong: tuple[np.uint64, ...]

    @property
    def words(self) -> int:
        """Return how many words the conditions fill."""
        return len(self.takes)


def with_fairness(model: Model, graph: StateGraph) -> FairGraph:
    """Find the conditions and where each is enabled."""
    found = conditions(model, graph.table)
    takes, enabled, weak, strong = [], [], [], []
    for first in range(0, len(found), BITS):
        part = found[first : first + BITS]
        mask = np.zeros(max(1, len(graph.table)), np.uint64)
        known: dict[tuple[object, ...], int] = {}
        for at, label in enumerate(graph.table):
            key = (label.action, label.fair)
            if key not in known:
                known[key] = sum(1 << bit for bit, c in enumerate(part) if c.takes(label))
            mask[at] = known[key]
        takes.append(mask)
        enabled.append(_enabled(graph, mask))
        bits = _by_fairness(part)
        weak.append(bits[0])
        strong.append(bits[1])
    return FairGraph(graph, found, tuple(takes), tuple(enabled), tuple(weak), tuple(strong))


def _by_fairness(part: tuple[Condition, ...]) -> tuple[np.uint64, np.uint64]:
    """Return the bits of the weak conditions, and of the strong ones; there are no others."""
    weak = strong = 0
    for at, condition in enumerate(part):
        match condition.fairness:
            case "weak":
                weak |= 1 << at
            case "strong":
                strong |= 1 << at
            case _:
                assert_never(condition.fairness)
    return np.uint64(weak), np.uint64(strong)


def _enabled(graph: StateGraph, mask: Words) -> Words:
    """Per state, the conditions that some step which changes the state takes."""
    result = np.zeros(graph.n, np.uint64)
    given = (graph.offsets, graph.targets, graph.labels, mask)
    run(enabling, graph.n + graph.m, given, (result,))
    return result


def may_stutter(fair: FairGraph) -> Bools:
    """Return the states in which no fairness condition is enabled."""
    result: Bools = np.ones(fair.graph.n, np.bool_)
    for enabled in fair.enabled:
        result &= enabled == 0
    return result
