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

from checker.history import bits_kernels as bits
from checker.history import reach_kernels as chains
from checker.history.data import Array, Bools, Ints
from checker.history.errors import Undecided
from checker.history.graph import Graph

ROOM = 256 << 20
Fill = Callable[[int, Array, Array, Ints, int], int]


@dataclass(frozen=True, slots=True)
class Saturation:
    """How it ended: the topological order (short = cycle), the passes, a witness if one came."""

    order: Ints
    passes: int
    witness: Ints = field(default_factory=lambda: np.empty(0, np.int64))


@dataclass(slots=True)
class Reach:
    """Reachability of one graph in blocks; what the rules and the search ask of it."""

    graph: Graph
    order: Ints
    room: int = 1 << 14

    def blocks(self) -> Iterator[tuple[int, Array, Array]]:
        """(base, forward, backward) tables, one block of columns after the other."""
        g = self.graph
        if self.graph.by_session:
            width = max(1, min(g.chains, ROOM // (8 * max(1, g.size))))
            first = np.empty((g.size, width), np.int32)
            last = np.empty((g.size, width), np.int32)
            for base in range(0, g.chains, width):
                chains.reach(self.order, g.start, g.to, g.chain, g.pos, base, first, last)
                yield base, first, last
            return
        nodes = g.w * g.n
        words = max(1, min((nodes + 63) // 64, ROOM // (16 * max(1, g.size))))
        after, before = np.empty_like(g.to), np.empty_like(g.to)
        back = np.zeros(g.size + 1, np.int64)
        bits.nearest_first(self.order, g.start, g.to, back, after, before)
        down = np.empty((g.size, words), np.uint64)
        up = np.empty((g.size, words), np.uint64)
        for base in range(0, nodes, 64 * words):
            bits.closure(self.order, g.start, after, back, before, base, down, up)
            yield base, down, up

    def derive(self) -> Ints:
        """Every edge that the rules force and reachability does not yet have."""

        def fill(base: int, one: Array, two: Array, out: Ints, m: int) -> int:
            g, x = self.graph, self.graph.index
            if not self.graph.by_session:
                near = np.empty(int(np.diff(x.key_at).max(initial=1)) + 1, np.int64)
                return bits.rules(
                    one, two, base, g.w, x.writer, x.key_at, x.reads, x.read_at, near, out, m
                )
            if g.w > 1:
                m = chains.rule_one(
                    one,
                    two,
                    base,
                    g.pos,
                    x.writer,
                    x.writer_key,
                    x.by_key,
                    x.group,
                    x.group_chain,
                    out,
                    m,
                )
            return chains.rules(
                one,
                two,
                base,
                g.w,
                g.pos,
                x.writer,
                x.by_key,
                x.group,
                x.group_chain,
                x.reads,
                out,
                m,
            )

        return self._collect(fill, 8)

    def undecided(self) -> Ints:
        """Pairs of places in index.writer, of one key, that nothing orders; (·, 2)."""

        def fill(base: int, one: Array, two: Array, out: Ints, m: int) -> int:
            g, x = self.graph, self.graph.index
            if not self.graph.by_session:
                return bits.undecided(one, two, base, g.w, x.writer, x.key_at, out, m)
            return chains.undecided(
                one,
                two,
                base,
                g.w,
                g.pos,
                x.writer,
                x.writer_key,
                x.by_key,
                x.group,
                x.group_chain,
                out,
                m,
            )

        return self._collect(fill, 2)

    def implied(self, src: Ints, dst: Ints) -> Bools:
        """Which of the edges src -> dst reachability already has."""
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
        """How many rows `undecided` would have, without making them."""
        g, x, none, m = self.graph, self.graph.index, np.empty((0, 2), np.int64), 0
        for base, one, two in self.blocks():
            if self.graph.by_session:
                m = chains.undecided(
                    one,
                    two,
                    base,
                    g.w,
                    g.pos,
                    x.writer,
                    x.writer_key,
                    x.by_key,
                    x.group,
                    x.group_chain,
                    none,
                    m,
                )
            else:
                m = bits.undecided(one, two, base, g.w, x.writer, x.key_at, none, m)
        return m

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
) -> Saturation:
    """Add forced edges to the graph, to the fixpoint or the first cycle.

    `attempt` is asked before passes 1, 2, 4, 8 … whether the order so far already leads to a
    witness; if it returns one, no more is derived.
    Raises:  Undecided after the deadline (monotonic seconds).
    """
    room = 1 << 14
    for batch in count(1):
        if time.monotonic() > deadline:
            raise Undecided
        order = graph.connect()
        if len(order) < graph.size:
            return Saturation(order, batch)
        if attempt is not None and batch & (batch - 1) == 0:
            witness = attempt(order)
            if len(witness):
                return Saturation(order, batch - 1, witness)
        reach = Reach(graph, order, room)
        rows = reach.derive()
        room = reach.room
        if not len(rows):
            return Saturation(order, batch)
        graph.add(rows, batch)
    raise AssertionError("count does not end")
