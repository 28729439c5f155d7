"""The known graph of a history at one level: what must come before what, and who is undecided.

Nodes are the begins and commits of transactions (one node each for a serial level), then
helper nodes that carry real-time order in linear size. A version order that makes the graph
acyclic exists exactly when the history is of the level (BC graph: Viper, EuroSys 2023).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from statewalk.checker.history.clock import reached
from statewalk.checker.history.data import INFO, Floats, History, Ints
from statewalk.checker.history.decide.kernels.reach import (
    Index,
    adjacency,
    topological,
    topological_by,
)
from statewalk.checker.history.decide.scan import Facts
from statewalk.dsl.library.levels import IsolationLevel

BC, SO, RT, WR, WW, RW = -1, 0, 4, 1, 2, 3


@dataclass(slots=True)
class Graph:
    """Edges in columns, growing as they are derived.

    Shapes:  n transactions; w nodes each; size nodes in all; chain, pos (size,) with `chains`
             chains (by_session: reachability is kept by chain, else by bits); edges (·, 8):
             source, target, kind, key, rule, i, j, r (-1 = none);
             batch (·,): the pass that derived the edge, 0 = observed.
    """

    n: int
    w: int
    size: int
    chain: Ints
    pos: Ints
    chains: int
    by_session: bool
    edges: Ints
    batch: Ints
    index: Index
    start: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    to: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    edge: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    def connect(self) -> Ints:
        """Rebuild the adjacency; the nodes in topological order, fewer when there is a cycle."""
        self.start, self.to, self.edge = neighbours(
            self.size, self.edges[:, 0].copy(), self.edges[:, 1].copy()
        )
        order = np.empty(self.size, np.int64)
        return order[: topological(self.size, self.start, self.to, order)]

    def add(self, rows: Ints, batch: int) -> None:
        """Add derived edges, each (source, target) once."""
        code = rows[:, 0] * self.size + rows[:, 1]
        rows = rows[np.sort(np.unique(code, return_index=True)[1])]
        self.edges = np.concatenate((self.edges, rows))
        self.batch = np.concatenate((self.batch, np.full(len(rows), batch, np.int64)))


def neighbours(size: int, src: Ints, dst: Ints) -> tuple[Ints, Ints, Ints]:
    """Adjacency of an edge list: start (size+1,), targets and edge ids by source."""
    start = np.zeros(size + 1, np.int64)
    to, edge = np.empty(len(src), np.int64), np.empty(len(src), np.int64)
    adjacency(size, src, dst, start, to, edge)
    return start, to, edge


def order_by(size: int, src: Ints, dst: Ints, priority: Floats) -> Ints:
    """Return nodes in topological order, by priority where free; fewer than size = a cycle."""
    start, to, _ = neighbours(size, src, dst)
    order = np.empty(size, np.int64)
    return order[: topological_by(size, start, to, priority, order)]


def build(history: History, facts: Facts, level: IsolationLevel, clock_error: float) -> Graph:
    """Return the graph of everything observed: within transactions, sessions, time, reads,
    lists.
    """
    n, w = len(facts.members), 1 if level.serial else 2
    session = history.session[facts.members]
    ids = np.arange(n, dtype=np.int64)
    parts: list[Ints] = []
    if w > 1:
        parts.append(_rows(2 * ids, 2 * ids + 1, BC, -1))
    place, chains = np.zeros(n, np.int64), 1
    if level.session:
        by_session = np.argsort(session, kind="stable")
        ordered = session[by_session]
        chains = len(history.sessions)
        runs = np.searchsorted(ordered, np.arange(chains))
        place[by_session] = ids - runs[ordered]
        next_to = ordered[1:] == ordered[:-1]
        before, after = by_session[:-1][next_to], by_session[1:][next_to]
        parts.append(_rows(w * before + w - 1, w * after, SO, -1))
    known = facts.reads[facts.reads[:, 2] >= 0]
    parts.append(_rows(w * known[:, 2] + w - 1, w * known[:, 0], WR, known[:, 1]))
    parts.append(_rows(w * facts.order[:, 0] + w - 1, w * facts.order[:, 1], WW, facts.order[:, 2]))
    chain = np.repeat(session if level.session else np.zeros(n, np.int64), w)
    pos = np.repeat(w * place, w) + np.tile(np.arange(w), n)
    helpers = 0
    if level.real_time:
        timed, helpers = _real_time(history, facts, w, clock_error)
        parts.append(timed)
        chain = np.concatenate((chain, np.full(helpers, chains)))
        pos = np.concatenate((pos, np.arange(helpers)))
        chains += 1
    edges, size = np.concatenate(parts), w * n + helpers
    by_chain = level.session and 32 * chains <= size  # else bits are smaller than places
    index = _index(
        history,
        facts,
        session if by_chain else np.zeros(n, np.int64),
        place if by_chain else ids,
    )
    return Graph(
        n,
        w,
        size,
        chain.astype(np.int64),
        pos.astype(np.int64),
        chains,
        by_chain,
        edges,
        np.zeros(len(edges), np.int64),
        index,
    )


def _rows(src: Ints, dst: Ints, kind: int, key: Ints | int) -> Ints:
    rows = np.full((len(src), 8), -1, np.int64)
    rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3], rows[:, 4] = src, dst, kind, key, 0
    return rows


def _real_time(history: History, facts: Facts, w: int, clock_error: float) -> tuple[Ints, int]:
    """Return edges through helper nodes: commit of i -> begin of j when end_i + error < begin_j.

    A helper stands for "everything that ended by now"; helpers follow each other in time.
    Indeterminate transactions have no end, and a missing time orders nothing.
    """
    begin, end = history.begin[facts.members], history.end[facts.members].copy()
    end[history.status[facts.members] == INFO] = np.nan
    ended = np.flatnonzero(~np.isnan(end))
    ended = ended[np.argsort(end[ended], kind="stable")]
    begun = np.flatnonzero(~np.isnan(begin))
    reach = reached(end[ended], clock_error, begin[begun], history.exact)
    before = np.searchsorted(reach, begin[begun], side="left")
    begun, before = begun[before > 0], before[before > 0]
    cuts = np.unique(before)
    n, base = len(cuts), w * len(begin)
    if not n:
        return _rows(cuts, cuts, RT, -1), 0
    into = np.searchsorted(cuts, np.arange(1, cuts[-1] + 1))
    helper = base + np.arange(n)
    return np.concatenate(
        (
            _rows(w * ended[: cuts[-1]] + w - 1, base + into, RT, -1),
            _rows(helper[:-1], helper[1:], RT, -1),
            _rows(base + np.searchsorted(cuts, before), w * begun, RT, -1),
        )
    ), n


def _index(history: History, facts: Facts, chain: Ints, place: Ints) -> Index:
    writes = facts.writes
    if len(writes):
        t, k = writes[:, 0], writes[:, 1]
        writes = writes[np.lexsort((place[t], chain[t], k))]
    writer, key = writes[:, 0].copy(), writes[:, 1].copy()
    new = np.ones(len(writer), bool)
    new[1:] = (key[1:] != key[:-1]) | (chain[writer[1:]] != chain[writer[:-1]])
    begins = np.flatnonzero(new)
    keys = np.arange(len(history.keys) + 1)
    reads = np.unique(facts.reads[:, [1, 0, 2]], axis=0)[:, [1, 0, 2]]
    reads = np.ascontiguousarray(reads)
    return Index(
        writer,
        key,
        np.append(begins, len(writer)),
        chain[writer[begins]],
        np.searchsorted(key[begins], keys),
        np.searchsorted(key, keys),
        reads,
        np.searchsorted(reads[:, 1], keys),
    )


def ranks(order: Ints) -> Ints:
    """Return the place of each node in an order."""
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank
