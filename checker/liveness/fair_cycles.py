"""Where a fair behaviour can stay for ever: fair components of a part of the graph.

A behaviour that stays in a set of states for ever and meets each of them again and again,
stuttering allowed, exists exactly on a set that is strongly connected (one state is). Among those,
the fair ones are found by taking away what cannot be part of one, until nothing changes:

1. Split what is left into strongly connected components.
2. Weak A: a component in which A is enabled in every state and taken by no inner step is not fair,
   and neither is any part of it. Drop it. The same where no state to be visited is in it.
3. Strong A: if A is enabled somewhere in a component and taken by no inner step, then a fair part
   avoids every state with A enabled. Drop these states, and go to 1 with the rest.
4. A component that passes is fair, and as large as possible.

Each round is linear in what is left; there are at most as many rounds as strong conditions and one.

Source:  Emerson and Lei, "Modalities for model checking", Science of Computer Programming 8
         (1987), for Streett conditions; components by scipy (Pearce's variant of Tarjan's algorithm).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from checker.liveness.fairness import FairGraph, or_rows, row_chunks
from checker.liveness.graph import Bools, Ints, Positions, Words

NONE = -1


@dataclass(frozen=True)
class FairComponents:
    """``component[s]`` numbers the fair component of a state, `NONE` outside of any."""

    component: Ints
    count: int
    rounds: int
    largest: int

    @property
    def inside(self) -> Bools:
        """The states that lie in a fair component."""
        found: Bools = self.component >= 0
        return found


@dataclass(frozen=True)
class _Part:
    """A part of the graph on its own: its states, and the transitions among them."""

    states: Ints
    offsets: Positions
    targets: Ints
    labels: NDArray[Any]


@dataclass(frozen=True)
class _Split:
    """A part split into strongly connected components.

    ``component`` numbers that of each state; ``order`` lists the states by component, and component
    k begins at ``starts[k]``. ``taken[w][k]`` are the conditions that an inner step of k takes.
    """

    part: _Part
    component: Ints
    order: Positions
    starts: Positions
    taken: tuple[Words, ...]


def fair_components(fair: FairGraph, allowed: Bools, visit: Bools | None) -> FairComponents:
    """The largest fair components among the allowed states that meet ``visit`` (None: any state).

    States that were not expanded are in none.
    """
    graph = fair.graph
    result = np.full(graph.n, NONE, np.int32)
    if graph.expanded is not None:
        allowed = allowed & graph.expanded
    block = np.where(allowed, 0, NONE).astype(np.int32)
    states = np.flatnonzero(allowed).astype(np.int32)
    found, rounds, largest = 0, 0, 0
    while len(states):
        rounds += 1
        split = _split(fair, _induced(fair, states, block))
        possible, unmet = _judge(fair, split, visit)
        good = possible & (np.bitwise_or.reduce(unmet, axis=0) == 0)
        if good.any():
            numbers = np.cumsum(good).astype(np.int32) - 1 + found
            kept = good[split.component]
            result[states[kept]] = numbers[split.component[kept]]
            found += int(good.sum())
            sizes = np.diff(np.append(split.starts, len(states)))
            largest = max(largest, int(sizes[good].max()))
        left = (possible & ~good)[split.component]
        for word, bad in enumerate(unmet):
            left &= (fair.enabled[word][states] & bad[split.component]) == 0
        block[states] = NONE
        block[states[left]] = split.component[left]
        states = states[left]
    return FairComponents(result, found, rounds, largest)


def _judge(fair: FairGraph, split: _Split, visit: Bools | None) -> tuple[Bools, list[Words]]:
    """Per component: whether it or a part of it may be fair, and the strong conditions it fails.

    It fails a strong condition that is enabled somewhere in it and that no inner step takes.
    """
    states = split.part.states
    possible: Bools = np.ones(len(split.starts), np.bool_)
    if visit is not None:
        possible = np.logical_or.reduceat(visit[states][split.order], split.starts)
    unmet = [np.zeros(len(split.starts), np.uint64)]
    for word, taken in enumerate(split.taken):
        enabled = fair.enabled[word][states][split.order]
        always = np.bitwise_and.reduceat(enabled, split.starts)
        possible &= (always & ~taken & fair.weak[word]) == 0
        sometimes = np.bitwise_or.reduceat(enabled, split.starts)
        unmet[word : word + 1] = [sometimes & ~taken & fair.strong[word]]
    return possible, unmet


def _induced(fair: FairGraph, states: Ints, block: Ints) -> _Part:
    """The transitions between states of the same block that change the state."""
    graph = fair.graph
    local = np.full(graph.n + 1, NONE, np.int32)  # the last entry stands for targets that were cut
    local[states] = np.arange(len(states), dtype=np.int32)
    degrees = np.zeros(len(states) + 1, np.int64)
    np.cumsum(graph.offsets[states + 1] - graph.offsets[states], out=degrees[1:])
    counts = np.zeros(len(states), np.int64)
    targets, labels = [], []
    for first, last in row_chunks(degrees):
        sources, at = graph.out(states[first:last])
        to = graph.targets[at]
        inside = (local[to] >= 0) & (to != sources) & (block[to] == block[sources])
        counts[first:last] = np.bincount(local[sources[inside]] - first, minlength=last - first)
        targets.append(local[to[inside]])
        labels.append(graph.labels[at[inside]])
    offsets = np.zeros(len(states) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return _Part(states, offsets, np.concatenate(targets), np.concatenate(labels))


def _split(fair: FairGraph, part: _Part) -> _Split:
    """Strongly connected components, with the conditions that are taken inside each."""
    count, component = _strongly_connected(part)
    order = np.argsort(component, kind="stable")
    starts = np.zeros(count, np.int64)
    np.cumsum(np.bincount(component, minlength=count)[:-1], out=starts[1:])
    taken = []
    for takes in fair.takes:
        by_state = _taken(part, component, takes)
        taken.append(np.bitwise_or.reduceat(by_state[order], starts))
    return _Split(part, component, order, starts, tuple(taken))


def _strongly_connected(part: _Part) -> tuple[int, Ints]:
    """(number of components, component of each state)."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    n, m = len(part.states), len(part.targets)
    if m == 0:
        return n, np.arange(n, dtype=np.int32)
    ones = np.broadcast_to(np.float64(1), (m,))  # only the structure counts, so one value will do
    offsets = part.offsets.astype(np.int32) if m < 1 << 31 else part.offsets
    matrix = csr_matrix((ones, part.targets, offsets), shape=(n, n))
    count, component = connected_components(matrix, directed=True, connection="strong")
    return int(count), component.astype(np.int32, copy=False)


def _taken(part: _Part, component: Ints, takes: Words) -> Words:
    """Per state, the conditions that a step to a state of the same component takes."""
    result = np.zeros(len(part.states), np.uint64)
    for first, last in row_chunks(part.offsets):
        low, high = int(part.offsets[first]), int(part.offsets[last])
        counts = np.diff(part.offsets[first : last + 1])
        bits = takes[part.labels[low:high]]
        own = np.repeat(component[first:last], counts)
        bits[component[part.targets[low:high]] != own] = 0
        result[first:last] = or_rows(part.offsets[first : last + 1] - low, bits)
    return result
