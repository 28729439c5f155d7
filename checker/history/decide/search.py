"""Decide what saturation left open: a guess, then conflict-driven search.

One topological order of what is known is taken as the version order of every key and tested in
linear time; most valid histories need no more. Then one that a run of a store proposes, which
is also where the search begins. Every undecided pair becomes a variable, or, when there are
more than `PAIRS` of them, only those that a failed guess puts on a cycle (more after each
failed guess; the end is reached at the latest with all).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np

from statewalk.checker.history.data import Floats, Ints
from statewalk.checker.history.decide.graph import Graph, neighbours, order_by, ranks
from statewalk.checker.history.decide.guess import executed, placed_in, readers_of, try_order
from statewalk.checker.history.decide.kernels import cdcl as cdcl_kernels
from statewalk.checker.history.decide.kernels import cdcl_state as cdcl
from statewalk.checker.history.decide.kernels.encode import encode
from statewalk.checker.history.decide.saturate import Reach, saturate
from statewalk.checker.history.errors import Undecided

PAIRS = 4_000_000
_PAUSE = 500


@dataclass(slots=True)
class Decided:
    """The decision whether an order exists; the order of all nodes, or the nodes of the
    conflicts met.
    """

    holds: bool
    order: Ints
    used: Ints
    stats: dict[str, int] = field(default_factory=dict)


def decide(
    graph: Graph,
    reach: Reach,
    priority: Floats,
    *,
    saturated: bool,
    schedule: str = "off",
    guess: bool = True,
    deadline: float = math.inf,
) -> Decided:
    """Search for an acyclic completion of a graph without a known cycle.

    `saturated` says that the graph has every edge that the rules derive from `reach`, so that
    what is ordered there is settled; if that was not yet the fixpoint, a rejection goes on to it,
    because a cycle is easier to explain (`used` is empty then).
    `schedule` is Viper's heuristic ("add", "double" or "off"); it never changes the verdict.
    Raises:  Undecided after the deadline (monotonic seconds).
    """
    if saturated:
        base = np.concatenate((reach.few_edges(), graph.edges[len(graph.to) :, :2]))
    else:
        base = np.concatenate((graph.edges[:, :2], initial_edges(graph)))
    order = order_by(graph.size, base[:, 0].copy(), base[:, 1].copy(), priority)
    if len(order) < graph.size:
        left = np.flatnonzero(~placed_in(order, graph.size))
        return _rejected(graph, Decided(False, order, left), deadline)
    stats = {"rounds": 0, "undecided": 0, "variables": 0, "conflicts": 0, "decisions": 0}
    chosen = np.empty((0, 2), np.int64)
    if guess:
        found, chosen = try_order(graph, base, order, priority)
        if not len(found):
            order = executed(graph, base, priority)
            found, chosen = try_order(graph, base, order, ranks(order).astype(np.float64))
        if len(found):
            return Decided(True, found, np.empty(0, np.int64), stats)
    stats["undecided"] = reach.count_undecided() if saturated else _count_pairs(graph)
    everything = stats["undecided"] <= PAIRS
    pairs = chosen
    if everything:
        pairs = reach.undecided() if saturated else _all_pairs(graph)
    while True:
        problem = Problem(graph, pairs, base, order, reach if saturated else None)
        problem.deadline = deadline
        decided = _scheduled(problem, schedule) if schedule != "off" else problem.solve()
        stats["variables"] = problem.variables
        for name in ("conflicts", "decisions"):
            stats[name] += decided.stats[name]
        decided.stats = stats
        if not decided.holds:
            return _rejected(graph, decided, deadline) if saturated else decided
        if everything:
            return decided
        stats["rounds"] += 1
        found, more = try_order(graph, base, decided.order, ranks(decided.order).astype(np.float64))
        if len(found):
            decided.order = found
            return decided
        pairs = np.unique(np.concatenate((pairs, more)), axis=0)


def _rejected(graph: Graph, decided: Decided, deadline: float) -> Decided:
    """Return what was decided, with a cycle of the saturated graph as evidence, if there is one."""
    if len(graph.edges) > len(graph.to):
        done = saturate(graph, deadline=deadline, exact=True)
        if len(done.order) < graph.size:
            decided.order, decided.used = done.order, decided.used[:0]
    return decided


def initial_edges(graph: Graph) -> Ints:
    """Readers of the initial version before every other writer of the key."""
    x, w = graph.index, graph.w
    rows = [
        (w * r, w * int(j) + w - 1)
        for r, k, i in x.reads.tolist()
        if i < 0
        for j in x.writer[x.key_at[k] : x.key_at[k + 1]]
        if j != r
    ]
    return np.array(rows, np.int64).reshape(-1, 2)


def _count_pairs(graph: Graph) -> int:
    runs = np.diff(graph.index.key_at)
    return int((runs * (runs - 1) // 2).sum())


def _all_pairs(graph: Graph) -> Ints:
    """Return every two writers of a key, ordered already or not, the lesser transaction first."""
    x = graph.index
    parts = [np.stack(np.triu_indices(z - a, 1), 1) + a for a, z in pairwise(x.key_at.tolist())]
    pairs = np.concatenate([*parts, np.empty((0, 2), np.int64)]).astype(np.int64)
    swap = x.writer[pairs[:, 0]] > x.writer[pairs[:, 1]]
    pairs[swap] = pairs[swap][:, ::-1]
    return pairs


class Variables(Protocol):
    """The variables of a search: pairs of transactions, and the edges of each literal, in order."""

    @property
    def graph(self) -> Graph: ...
    @property
    def variables(self) -> int: ...
    @property
    def one(self) -> Ints: ...
    @property
    def two(self) -> Ints: ...
    @property
    def edges(self) -> Ints: ...


class Problem:
    """Undecided pairs as variables over a fixed graph; solved once, or once per assumption."""

    def __init__(
        self, graph: Graph, pairs: Ints, base: Ints, order: Ints, reach: Reach | None
    ) -> None:
        """Encode the pairs; with `reach`, edges that the graph already implies are left out."""
        self.graph, self.base, self.order = graph, base, order
        self.deadline = math.inf
        x = graph.index
        one, two = x.writer[pairs[:, 0]], x.writer[pairs[:, 1]]
        rank = ranks(order)
        code, which = np.unique(one * graph.n + two, return_inverse=True)
        self.one, self.two = code // graph.n, code % graph.n
        self.variables = len(code)
        last = graph.w - 1
        earliest = np.minimum(rank[graph.w * self.one + last], rank[graph.w * self.two + last])
        by_time = np.argsort(earliest, kind="stable")
        number = ranks(by_time)
        self.one, self.two = self.one[by_time], self.two[by_time]
        self.edges = self._encode(pairs, number[which])
        if reach is not None and len(self.edges):
            self.edges = self.edges[~reach.implied(self.edges[:, 1], self.edges[:, 2])]
        self.edges = self.edges[np.argsort(self.edges[:, 0], kind="stable")]

    def _encode(self, pairs: Ints, variable: Ints) -> Ints:
        x, w = self.graph.index, self.graph.w
        reader_at, readers = readers_of(self.graph)[:2]
        fan = np.diff(reader_at)
        room = 2 * len(pairs) + int((fan[pairs[:, 0]] + fan[pairs[:, 1]]).sum())
        out = np.empty((room, 3), np.int64)
        m = encode(
            w,
            pairs,
            variable,
            x.writer,
            reader_at,
            readers,
            np.zeros(self.variables, np.int64),
            out,
        )
        return out[:m].copy()

    def solve(self, fixed: Ints | None = None) -> Decided:
        """Search, with the literals `fixed` taken as true."""
        base = self.base
        if fixed is not None and len(fixed):
            base = np.concatenate((base, self.edges[np.isin(self.edges[:, 0], fixed), 1:]))
        graph, stats = self.graph, {"conflicts": 0, "decisions": 0}
        order = order_by(
            graph.size, base[:, 0].copy(), base[:, 1].copy(), ranks(self.order).astype(np.float64)
        )
        if len(order) < graph.size:
            left = np.flatnonzero(~placed_in(order, graph.size))
            return Decided(False, order, left, stats)
        if not self.variables:
            return Decided(True, order, np.empty(0, np.int64), stats)
        state, answer = start(self, base, order), cdcl.MORE
        while True:
            answer = cdcl_kernels.run(state)
            if answer != cdcl.MORE:
                break
            if time.monotonic() > self.deadline:
                raise Undecided
            state = more_room(state)
        stats = {
            "conflicts": int(state.reg[cdcl.CONFLICTS]),
            "decisions": int(state.reg[cdcl.DECISIONS]),
        }
        return Decided(
            answer == cdcl.SAT, np.argsort(state.rank), np.flatnonzero(state.used), stats
        )


def _scheduled(problem: Problem, schedule: str) -> Decided:
    """Viper's heuristic pruning: assume the order of pairs more than k ranks apart, widen k.

    "add" starts at a tenth of the ranks and adds as much each round; "double" doubles k.
    A rejection counts only when nothing was assumed.
    """
    rank, w = ranks(problem.order), problem.graph.w
    gap = rank[w * problem.two + w - 1] - rank[w * problem.one + w - 1]
    step = max(1, problem.graph.size // 10)
    k, spent = step, {"conflicts": 0, "decisions": 0}
    while True:
        far = np.flatnonzero(np.abs(gap) > k)
        decided = problem.solve(2 * far + (gap[far] < 0))
        for name in spent:
            spent[name] += decided.stats[name]
        decided.stats = spent
        if decided.holds or not len(far):
            return decided
        k = k + step if schedule == "add" else 2 * k


def start(problem: Variables, base: Ints, order: Ints) -> cdcl.SolverState:
    """Return the arrays of a search over these edges, with `order` as the first guess."""
    graph, nv, edges = problem.graph, problem.variables, problem.edges
    size, ne, w = graph.size, len(edges), graph.w
    literal, src, dst = (np.ascontiguousarray(edges[:, c]) for c in range(3))
    down = neighbours(size, base[:, 0].copy(), base[:, 1].copy())
    up = neighbours(size, base[:, 1].copy(), base[:, 0].copy())

    def some(n: int, what: int = 0) -> Ints:
        return np.full(n, what, np.int64)

    later, reg = np.arange(1, nv + 1), some(cdcl.REGISTERS)
    later[-1] = -1
    reg[cdcl.CLOCK], reg[cdcl.PAUSE] = nv + 1, _PAUSE
    room = max(1 << 16, 4 * nv)
    return cdcl.SolverState(
        value=np.full(nv, -1, np.int8),
        level=some(nv),
        reason=some(nv, -1),
        seen=some(nv),
        later=later,
        earlier=np.arange(-1, nv - 1),
        stamp=np.arange(nv, 0, -1),
        one=w * problem.one + w - 1,
        two=w * problem.two + w - 1,
        trail=some(nv + 1),
        level_trail=some(nv + 2),
        trail_edges=some(nv + 1),
        conflict=some(nv + 2),
        learnt=some(nv + 2),
        first=np.searchsorted(literal, np.arange(2 * nv + 1)),
        watch=some(2 * nv, -1),
        src=src,
        dst=dst,
        literal=literal,
        out_next=some(ne, -1),
        in_next=some(ne, -1),
        stack=some(ne),
        rank=ranks(order),
        out_head=some(size, -1),
        in_head=some(size, -1),
        mark=some(size),
        back_mark=some(size),
        parent=some(size),
        by_edge=some(size),
        queue=some(size),
        back_queue=some(size),
        used=np.zeros(size, np.int8),
        start=down[0],
        to=down[1],
        back_start=up[0],
        back_to=up[1],
        arena=some(room),
        clause_at=some(1 << 12),
        watch_next=some(1 << 13, -1),
        reg=reg,
    )


def more_room(state: cdcl.SolverState) -> cdcl.SolverState:
    """Double the clause store where it is nearly full, and let the search go on."""
    reg, nv = state.reg, len(state.value)
    reg[cdcl.PAUSE] = reg[cdcl.CONFLICTS] + _PAUSE
    if reg[cdcl.USED] + nv + 2 > len(state.arena):
        state = state._replace(arena=np.concatenate((state.arena, np.zeros_like(state.arena))))
    if reg[cdcl.CLAUSES] + 2 > len(state.clause_at):
        state = state._replace(
            clause_at=np.concatenate((state.clause_at, np.zeros_like(state.clause_at))),
            watch_next=np.concatenate((state.watch_next, np.full_like(state.watch_next, -1))),
        )
    return state
