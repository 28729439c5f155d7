"""Decide the levels below snapshot isolation that ask who was visible to whom.

A level holds when one order of all transactions fits: who reads comes after whom it reads from,
sessions (if they count) and observed lists keep their order, and whoever reads i's version of a
key although j, which also wrote it, was visible to it, puts j before i. What is visible: to
read-committed nothing; to monotonic-atomic-view what was read from earlier; to read-atomic
direct dependencies, to causal all of them. These are decided in one pass. For parallel-si
versions are dependencies too, so that their order has to be found: rules to a fixpoint, then a
guess, where it fails a search over the pairs that it guessed, and then `parallel`.

Sources: Biswas and Enea (OOPSLA 2019); for parallel-si Cerone, Bernardi and Gotsman (CONCUR
2015). Prefix consistency is snapshot isolation without write conflicts: see `prefix`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from statewalk.checker.history.data import Array, Floats, History, Ints
from statewalk.checker.history.decide.core import Support, cycle_support
from statewalk.checker.history.decide.graph import RW, WW, Graph, build, order_by, ranks
from statewalk.checker.history.decide.hint import commit_order
from statewalk.checker.history.decide.kernels import weak as kernels
from statewalk.checker.history.decide.parallel import learn, next_version, undecided_pairs
from statewalk.checker.history.decide.saturate import Reach
from statewalk.checker.history.decide.scan import Facts
from statewalk.checker.history.decide.search import PAIRS
from statewalk.checker.history.errors import Undecided
from statewalk.dsl.library.levels import (
    ATOMIC,
    CAUSAL,
    LEVELS,
    PARALLEL,
    READ_COMMITTED,
    VIEW,
    IsolationLevel,
)

_NONE = np.empty(0, np.int64)
_FLIPS = 100
DECISIONS = 50
"""Steps of the search for parallel-si before one that learns takes over."""
_KIND, _KEY, _RULE, _I, _J, _R = 2, 3, 4, 5, 6, 7


@dataclass(slots=True)
class Weak:
    """The verdict on a weak level: an order of the members, or the graph with a cycle.

    After a search that found no order, `used` are the members on any of its conflicts.
    """

    holds: bool
    stage: str
    graph: Graph
    order: Ints = field(default_factory=lambda: _NONE)
    used: Ints = field(default_factory=lambda: _NONE)
    stats: dict[str, int] = field(default_factory=dict)


def decide_weak(
    history: History,
    facts: Facts,
    level: IsolationLevel,
    priority: Floats,
    deadline: float,
    *,
    hint: bool = True,
) -> Weak:
    """Return the answer for a level of rule read-committed, view, atomic, causal or parallel.

    `priority` (n,) says when each member probably committed, and `hint` whether to look for
    something better before searching; neither changes the verdict.
    Raises:  Undecided after the deadline (monotonic seconds).
    """
    serial = LEVELS["strong-session-serializable" if level.session else "serializable"]
    if level.rule == PARALLEL:

        def better() -> Floats:
            return commit_order(history, facts, level, priority, deadline)

        graph = build(history, facts, serial, 0.0)
        return _parallel(graph, facts, priority, deadline, better if hint else None)
    bare = Facts(facts.members, facts.reads, facts.writes, facts.order[:0])
    graph = build(history, bare, serial, 0.0)
    if len(graph.connect()) < graph.size:
        return Weak(False, "dependencies", graph)
    rows = _visible(history, facts, level, graph)
    impossible = np.flatnonzero(rows[:, _KIND] == RW)[:1]
    graph.add(np.concatenate((_listed(facts), rows[rows[:, _KIND] == WW], rows[impossible])), 1)
    order = graph.connect()
    if len(order) < graph.size:
        return Weak(False, "visibility", graph)
    return Weak(True, "visibility", graph, _by(graph, priority))


def _by(graph: Graph, priority: Floats) -> Ints:
    """Return the members in an order that the edges allow, by priority where it is free."""
    return order_by(graph.size, graph.edges[:, 0].copy(), graph.edges[:, 1].copy(), priority)


def _listed(facts: Facts) -> Array:
    """Return the version orders that lists show, as edges."""
    rows = np.full((len(facts.order), 8), -1, np.int64)
    rows[:, 0], rows[:, 1], rows[:, _KIND] = facts.order[:, 0], facts.order[:, 1], WW
    rows[:, _KEY], rows[:, _RULE] = facts.order[:, 2], 0
    return rows


def _visible(history: History, facts: Facts, level: IsolationLevel, graph: Graph) -> Array:
    """Return edges j -> i for every reader of i to which j was visible; r -> j of kind rw if
    i is T0.
    """
    if level.rule == READ_COMMITTED:
        return np.empty((0, 8), np.int64)
    if level.rule == CAUSAL:
        return _caused(graph)
    n, keys = len(facts.members), len(history.keys)
    by_writer = np.unique(facts.writes, axis=0)
    first = np.searchsorted(by_writer[:, 0], np.arange(n + 1))
    written = by_writer[:, 1].copy()
    reads = facts.reads[np.argsort(facts.reads[:, 0], kind="stable")]
    rows = _filled(
        lambda out: kernels.missed(n, keys, reads, first, written, level.rule == VIEW, out, 0)
    )
    if level.rule != ATOMIC or not level.session:
        return rows
    session = history.session[facts.members]
    order = np.argsort(session, kind="stable")
    read_at = np.searchsorted(reads[:, 0], np.arange(n + 1))
    more = _filled(
        lambda out: kernels.missed_in_session(
            keys, order, session, reads, read_at, first, written, out, 0
        )
    )
    return np.concatenate((rows, more))


def _filled(fill: Callable[[Array], int]) -> Array:
    """Return the rows of a kernel, which is given the room that it says it needs."""
    out = np.empty((1 << 14, 8), np.int64)
    m = fill(out)
    if m > len(out):
        out = np.empty((m, 8), np.int64)
        fill(out)
    return out[:m]


def _caused(graph: Graph) -> Array:
    """`_visible` for dependencies of any length: the graph's edges are the dependencies."""
    reach = Reach(graph, graph.connect())
    rows = reach.derive()
    return np.concatenate((rows[rows[:, _RULE] == 3], _impossible(reach, rows)))


def _impossible(reach: Reach, rows: Array) -> Array:
    """Rows of reads of the initial version although a writer of the key was visible."""
    initial: Array = rows[(rows[:, _KIND] == RW) & (rows[:, _I] < 0)]
    seen: Array = initial[reach.implied(initial[:, _J].copy(), initial[:, _R].copy())]
    return seen


# -- parallel snapshot isolation -------------------------------------------------------------------


def _parallel(
    graph: Graph,
    facts: Facts,
    priority: Floats,
    deadline: float,
    better: Callable[[], Floats] | None,
) -> Weak:
    """Search depth first: each step turns around what a failed guess got wrong.

    A step turns many pairs at once; when that contradicts, half as many, in the end one, and
    only then is that one known the right way around. When the first guess fails, `better` is
    asked for a better one. After `DECISIONS` steps a search that learns from conflicts takes over.
    """
    waiting: list[tuple[Array, Ints, Array]] = []
    fixed: tuple[Array, Ints] | None = None
    used, stats = set[int](), {"passes": 0, "decisions": 0, "conflicts": 0}
    overwrites = np.unique(facts.writes, axis=0) @ np.array([len(graph.index.read_at), 1])
    while True:
        reach, witness, wrong = _propagate(graph, overwrites, priority, deadline, stats)
        if reach is not None and witness is not None:
            stage = "search" if stats["decisions"] else "guess"
            return Weak(True, stage, graph, witness, stats=stats)
        if reach is not None and better is not None:
            priority, better = better(), None
            continue
        if reach is not None and fixed is None:
            fixed = graph.edges, graph.batch
        if fixed is not None and stats["decisions"] == DECISIONS:
            now, (graph.edges, graph.batch) = (graph.edges, graph.batch), fixed
            done = _learned(graph, priority, deadline, stats)
            if done is not None:
                return done
            graph.edges, graph.batch = now
            graph.connect()
        if reach is None:
            stats["conflicts"] += 1
            if not stats["decisions"]:
                return Weak(False, "saturation", graph, stats=stats)
            used.update(cycle_support(graph))
            if not waiting:
                return Weak(False, "search", graph, used=np.array(sorted(used)), stats=stats)
            graph.edges, graph.batch, wrong = waiting.pop()
            if len(wrong) == 1:
                graph.add(wrong, int(graph.batch.max(initial=0)) + 1)
                continue
            wrong = wrong[: len(wrong) // 2]
        stats["decisions"] += 1
        waiting.append((graph.edges, graph.batch, wrong))
        graph.add(wrong[:, [1, 0, 2, 3, 4, 5, 6, 7]], int(graph.batch.max(initial=0)) + 1)


def _learned(graph: Graph, priority: Floats, deadline: float, stats: dict[str, int]) -> Weak | None:
    """Return the answer of the search that learns; None when there are too many pairs for it,
    or none.
    """
    reach = Reach(graph, graph.connect())
    if not 0 < reach.count_undecided() <= PAIRS:
        return None
    order, used = learn(graph, undecided_pairs(graph, reach), priority, deadline, stats)
    found = np.array(sorted(used), np.int64)
    return Weak(len(order) > 0, "search", graph, order, found, stats)


def _propagate(
    graph: Graph, overwrites: Ints, priority: Floats, deadline: float, stats: dict[str, int]
) -> tuple[Reach | None, Ints | None, Array]:
    """Apply the rules to the fixpoint: (None, ...) at a cycle, else a witness or a wrong pair.

    Beside rule 3, who reads a version and overwrites it comes right after its writer.
    """
    for batch in count(int(graph.batch.max(initial=0)) + 1):
        if time.monotonic() > deadline:
            raise Undecided
        stats["passes"] += 1
        order = graph.connect()
        if len(order) < graph.size:
            return None, None, graph.edges[:0]
        reach = Reach(graph, order)
        rows = reach.derive()
        impossible = _impossible(reach, rows)
        if len(impossible):
            graph.add(impossible[:1], batch)
            graph.connect()
            return None, None, graph.edges[:0]
        read = rows[:, _R] * len(graph.index.read_at) + rows[:, _KEY]
        chained = rows[(rows[:, _KIND] == RW) & np.isin(read, overwrites)]
        chained[:, _KIND] = WW
        rows = np.concatenate((rows[rows[:, _RULE] == 3], chained))
        if not len(rows):
            witness, wrong = _guess(graph, reach, priority)
            return reach, witness, wrong
        graph.add(rows, batch)
    raise AssertionError("count does not end")


def _guess(graph: Graph, reach: Reach, priority: Floats) -> tuple[Ints | None, Array]:
    """Order versions as one order of all transactions does: it fits, or pairs that are wrong.

    There is a pair for each read that misses a visible write: one of those that together show it.
    """
    x, order = graph.index, _by(graph, priority)
    rank = ranks(order)
    place = np.lexsort((rank[x.writer], x.writer_key))
    writer, key = x.writer[place], x.writer_key[place]
    same = key[1:] == key[:-1]
    rows = np.full((int(same.sum()), 8), -1, np.int64)
    rows[:, 0], rows[:, 1], rows[:, _KIND] = writer[:-1][same], writer[1:][same], WW
    rows[:, _KEY], rows[:, _RULE] = key[1:][same], 0
    full = Graph(**{name: getattr(graph, name) for name in graph.__slots__})
    known = len(full.edges)
    full.edges = np.concatenate((graph.edges, rows))
    full.batch = np.concatenate((graph.batch, np.zeros(len(rows), np.int64)))
    r, k = x.reads[:, 0], x.reads[:, 1]
    j, has = next_version(graph, writer, key, rank)
    missed = np.flatnonzero(Reach(full, full.connect()).implied(j, r[has]))
    if not len(missed):
        return order, rows[:0]
    support, newest = Support(full), int(full.batch.max(initial=0)) + 1
    guessed = []
    for q in missed[:_FLIPS].tolist():
        path = support.path(int(j[q]), int(r[has[q]]), newest)
        premise = np.flatnonzero((rows[:, 1] == j[q]) & (rows[:, _KEY] == k[has[q]])) + known
        guessed.append([*premise.tolist(), *(e for e in path if e >= known)])
    flat = np.array(sorted({e for part in guessed for e in part}))
    pairs = full.edges[flat]
    free = set(flat[~reach.implied(pairs[:, 0].copy(), pairs[:, 1].copy())].tolist())
    first = {next(e for e in part if e in free) for part in guessed}
    return None, full.edges[sorted(first)]
