"""Find an order of versions for parallel-si by conflict-driven search.

Every undecided pair of writers is a variable, and the order of all transactions stays without a
cycle as in `search`. When all pairs are ordered, a read that misses a visible write yields a
conflict: the pairs that together show it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from statewalk.checker.history.data import Array, Bools, Floats, Ints
from statewalk.checker.history.decide.core import Support
from statewalk.checker.history.decide.graph import WW, Graph, order_by
from statewalk.checker.history.decide.kernels import cdcl as kernels
from statewalk.checker.history.decide.kernels import cdcl_state as cdcl
from statewalk.checker.history.decide.saturate import Reach
from statewalk.checker.history.decide.search import more_room, start
from statewalk.checker.history.errors import Undecided

_AT_ONCE = 30


@dataclass(frozen=True, slots=True)
class Pairs:
    """Undecided pairs as variables: literal 2x is one before two, 2x + 1 the other way round."""

    graph: Graph
    code: Ints
    one: Ints
    two: Ints
    edges: Ints

    @property
    def variables(self) -> int:
        """Return how many there are."""
        return len(self.code)

    def literal(self, i: int, j: int) -> int:
        """Return the literal of i before j; -1 where that pair is decided."""
        low, high = min(i, j), max(i, j)
        code = low * self.graph.n + high
        x = int(np.searchsorted(self.code, code))
        if x == len(self.code) or self.code[x] != code:
            return -1
        return 2 * x + (i > j)


def undecided_pairs(graph: Graph, reach: Reach) -> Pairs:
    """Return the pairs of writers of one key that nothing orders."""
    places = reach.undecided()
    ends = np.sort(graph.index.writer[places], axis=1)
    code = np.unique(ends[:, 0] * graph.n + ends[:, 1])
    one, two = code // graph.n, code % graph.n
    edges = np.empty((2 * len(code), 3), np.int64)
    edges[:, 0] = np.arange(len(edges))
    edges[::2, 1], edges[::2, 2] = one, two
    edges[1::2, 1], edges[1::2, 2] = two, one
    return Pairs(graph, code, one, two, edges)


def learn(
    graph: Graph, pairs: Pairs, priority: Floats, deadline: float, stats: dict[str, int]
) -> tuple[Ints, set[int]]:
    """Return an order of all transactions that fits, empty if there is none; who is on any
    conflict.

    The graph is at the fixpoint of the rules, and there are pairs.
    Raises:  Undecided after the deadline (monotonic seconds).
    """
    base = graph.edges[:, :2]
    order = order_by(graph.size, base[:, 0].copy(), base[:, 1].copy(), priority)
    state, used, none = start(pairs, base, order), set[int](), np.empty(0, np.int64)
    while True:
        if time.monotonic() > deadline:
            raise Undecided
        answer = kernels.run(state)
        if answer == cdcl.MORE:
            state = more_room(state)
            continue
        found = list(_missed(pairs, state.value, state.rank)) if answer == cdcl.SAT else []
        if answer == cdcl.SAT and not found:
            return np.argsort(state.rank), used
        for literals, nodes in found:
            used |= nodes
            if not all(state.value[x >> 1] == 1 - (x & 1) for x in literals):
                continue  # what was learned before has turned one of them around
            state = more_room(state)
            state.conflict[: len(literals)] = literals
            if not literals or not kernels.refuse(state, len(literals)):
                answer = cdcl.UNSAT
                break
        if answer == cdcl.UNSAT:
            stats["conflicts"] += int(state.reg[cdcl.CONFLICTS])
            return none, used | set(np.flatnonzero(state.used).tolist())


def _missed(pairs: Pairs, value: Array, rank: Ints) -> Iterator[tuple[list[int], set[int]]]:
    """For reads that miss a visible write: the literals that show it, and the transactions."""
    graph, x = pairs.graph, pairs.graph.index
    full, known = _with(pairs, value == 1), len(graph.edges)
    place = np.lexsort((rank[x.writer], x.writer_key))
    j, which = next_version(graph, x.writer[place], x.writer_key[place], rank)
    r, i = x.reads[which, 0], x.reads[which, 2]
    missed = np.flatnonzero(Reach(full, full.connect()).implied(j, r))
    support, newest = Support(full), int(full.batch.max(initial=0)) + 1
    for q in missed[:_AT_ONCE].tolist():
        path = support.path(int(j[q]), int(r[q]), newest)
        literals = {2 * (e - known) + int(value[e - known] == 0) for e in path if e >= known}
        premise = pairs.literal(int(i[q]), int(j[q])) if i[q] >= 0 else -1
        nodes = {int(j[q]), int(r[q]), *full.edges[path, :2].ravel().tolist()}
        yield sorted(literals | ({premise} - {-1})), nodes | ({int(i[q])} - {-1})


def _with(pairs: Pairs, first: Bools) -> Graph:
    """Return the graph with every pair ordered: one before two where `first`."""
    graph = pairs.graph
    rows = np.full((pairs.variables, 8), -1, np.int64)
    rows[:, 0] = np.where(first, pairs.one, pairs.two)
    rows[:, 1] = np.where(first, pairs.two, pairs.one)
    rows[:, 2], rows[:, 4] = WW, 0
    full = Graph(**{name: getattr(graph, name) for name in graph.__slots__})
    full.edges = np.concatenate((graph.edges, rows))
    full.batch = np.concatenate((graph.batch, np.zeros(len(rows), np.int64)))
    return full


def next_version(graph: Graph, writer: Ints, key: Ints, rank: Ints) -> tuple[Ints, Ints]:
    """Return the writer of the version after the one that is read, and the row of the read.

    Reads of a last version, and by the one who wrote the next, are left out. `writer` and `key`
    are by key and then by `rank`.
    """
    reads = graph.index.reads
    r, k, i = reads[:, 0], reads[:, 1], reads[:, 2]
    code = key * graph.size + rank[writer]
    after = np.searchsorted(code, k * graph.size + np.where(i < 0, -1, rank[i]), side="right")
    has = np.flatnonzero(np.append(key, -1)[after] == k)
    has = has[writer[after[has]] != r[has]]
    found: Ints = writer[after[has]]
    return found, has
