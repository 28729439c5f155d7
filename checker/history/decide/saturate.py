"""Derive every order that the rules force, pass by pass, until nothing new or a cycle.

Sound both ways: an edge is added only when the opposite order closes a cycle. Memory is
bounded by `ROOM` bytes: reachability is done in blocks of session chains, or of bits.
Source: pruning of PolySI (PVLDB 16), made linear in the sessions by chain indexing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from statewalk.checker.history.data import Array, Bools, Ints
from statewalk.checker.history.decide.graph import Graph
from statewalk.checker.history.decide.kernels import bits
from statewalk.checker.history.decide.kernels import reach as chains
from statewalk.checker.history.errors import Undecided

ROOM = 256 << 20
PATIENCE = 100
Fill = Callable[[int, Array, Array, Ints, int], int]


@dataclass(frozen=True, slots=True)
class Saturation:
    """The end of a saturation: the topological order (short = cycle), the passes, a witness
    if one came.
    """

    order: Ints
    passes: int
    witness: Ints = field(default_factory=lambda: np.empty(0, np.int64))


@dataclass(slots=True)
class Reach:
    """Reachability of one graph in blocks; what the rules and the search ask of it.

    It stands for the graph as it was last connected; edges added since then are not in it.
    `tables` are reused when they have the right shape, and kept when one block is all.
    """

    graph: Graph
    order: Ints
    room: int = 1 << 14
    tables: tuple[Array, ...] = ()
    known: bool = False
    after: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    needed: Bools = field(default_factory=lambda: np.empty(0, bool))

    def blocks(self) -> Iterator[tuple[int, Array, Array]]:
        """(base, forward, backward) tables, one block of columns after the other."""
        g = self.graph
        if self.known:
            yield 0, self.tables[0], self.tables[1]
            return
        if g.by_session:
            columns, cell = g.chains, 8
        else:
            columns, cell = (g.w * g.n + 63) // 64, 16
        width = max(1, min(columns, ROOM // (cell * max(1, g.size))))
        if [t.shape for t in self.tables] != [(g.size, width)] * 2:
            kind = np.int32 if g.by_session else np.uint64
            self.tables = tuple(np.empty((g.size, width), kind) for _ in range(2))
        one, two = self.tables
        before, back = np.empty_like(g.to), np.zeros(g.size + 1, np.int64)
        self.after, self.needed = np.empty_like(g.to), np.ones(len(g.to), bool)
        chains.nearest_first(self.order, g.start, g.to, back, self.after, before)
        edges = (self.order, g.start, self.after, back, before)
        for base in range(0, columns, width):
            if g.by_session:
                chains.reach(*edges, g.chain, g.pos, base, one, two, self.needed)
                yield base, one, two
            else:
                bits.closure(*edges, 64 * base, one, two, self.needed)
                yield 64 * base, one, two
        self.known = width >= columns

    def few_edges(self) -> Ints:
        """Return edges with the same reachability and nearly none implied by others; (·, 2)."""
        for _ in self.blocks():
            pass
        source = np.repeat(np.arange(self.graph.size), np.diff(self.graph.start))
        return np.stack((source[self.needed], self.after[self.needed]), 1)

    def derive(self) -> Ints:
        """Return every edge that the rules force and reachability does not yet have."""

        def fill(base: int, one: Array, two: Array, out: Ints, m: int) -> int:
            g, x = self.graph, self.graph.index
            if not g.by_session:
                near = np.empty(int(np.diff(x.key_at).max(initial=1)) + 1, np.int64)
                return bits.rules(one, two, base, g.w, x, near, out, m)
            if g.w > 1:
                m = chains.rule_one(one, two, base, g.pos, x, out, m)
            return chains.rules(one, two, base, g.w, g.pos, x, out, m)

        return self._collect(fill, 8)

    def undecided(self) -> Ints:
        """Return pairs of places in index.writer, of one key, that nothing orders; (·, 2)."""
        return self._collect(self._undecided, 2)

    def implied(self, src: Ints, dst: Ints) -> Bools:
        """Return which of the edges src -> dst reachability already has."""
        g, found = self.graph, np.zeros(len(src), bool)
        column = g.chain[dst] if self.graph.by_session else dst
        for base, forward, _ in self.blocks():
            width = forward.shape[1] * (1 if self.graph.by_session else 64)
            here = np.flatnonzero((column >= base) & (column < base + width))
            u, x = src[here], column[here] - base
            if self.graph.by_session:
                found[here] = forward[u, x] <= g.pos[dst[here]]
            else:
                found[here] = (forward[u, x >> 6] >> (x & 63).astype(np.uint64)) & np.uint64(1) != 0
        return found

    def count_undecided(self) -> int:
        """Return how many rows `undecided` would have, without making them."""
        none, m = np.empty((0, 2), np.int64), 0
        for base, one, two in self.blocks():
            m = self._undecided(base, one, two, none, m)
        return m

    def _undecided(self, base: int, one: Array, two: Array, out: Ints, m: int) -> int:
        g, x = self.graph, self.graph.index
        if not g.by_session:
            return bits.undecided(one, two, base, g.w, x, out, m)
        return chains.undecided(one, two, base, g.w, g.pos, x, out, m)

    def _collect(self, fill: Fill, width: int) -> Ints:
        """Run a kernel over all blocks, giving it room for the rows it says it needs."""
        found: list[Ints] = []
        for base, one, two in self.blocks():
            out = np.empty((self.room, width), np.int64)
            m = fill(base, one, two, out, 0)
            if m > self.room:
                self.room = m
                out = np.empty((m, width), np.int64)
                fill(base, one, two, out, 0)
            found.append(out[:m].copy())
        return np.concatenate(found) if found else np.empty((0, width), np.int64)


def saturate(
    graph: Graph,
    attempt: Callable[[Ints], Ints] | None = None,
    deadline: float = math.inf,
    *,
    exact: bool = False,
) -> Saturation:
    """Add forced edges to the graph, to the fixpoint or the first cycle.

    `attempt` is asked before passes 1, 2, 4, 8 … whether the order so far already leads to a
    witness; if it returns one, no more is derived. Unless `exact`, a pass that adds less than one
    edge to `PATIENCE` is the last: its edges are in the graph then, but not in the order.
    Raises:  Undecided after the deadline (monotonic seconds).
    """
    room, tables = 1 << 14, tuple[Array, ...]()
    begun = int(graph.batch.max(initial=0))
    for batch in count(begun + 1):
        if time.monotonic() > deadline:
            raise Undecided
        order, passes = graph.connect(), batch - begun
        if len(order) < graph.size:
            return Saturation(order, passes)
        if attempt is not None and passes & (passes - 1) == 0:
            witness = attempt(order)
            if len(witness):
                return Saturation(order, passes - 1, witness)
        reach = Reach(graph, order, room, tables)
        rows = reach.derive()
        room, tables = reach.room, reach.tables
        if not len(rows):
            return Saturation(order, passes)
        graph.add(rows, batch)
        if not exact and len(rows) * PATIENCE < len(graph.edges):
            return Saturation(order, passes)
    raise AssertionError("count does not end")
