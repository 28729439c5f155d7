"""Isolation levels of transactional histories whose version order is known.

A history is transactions that read each other's versions and, per key, the order in which
versions were installed. From these follow edges between transactions: `wr` (read from), `ww`
(next version), `rw` (read what the other overwrote), `so` (session) and `rt` (real time). A
snapshot level holds when no cycle is without two adjacent `rw`, a serial one when there is no
cycle at all. Everything here is a pure function of small immutable values.

Sources: Adya, Liskov and O'Neil (ICDE 2000); Cerone and Gotsman (JACM 2018); Elnikety et al.
(SRDS 2005); Daudjee and Salem (VLDB 2006); Fekete et al. (SIGMOD Record 2004).

>>> t1 = Transaction("t1", reads=(Read("x", INITIAL),), writes=("y",))
>>> t2 = Transaction("t2", reads=(Read("y", INITIAL),), writes=("x",))
>>> judge((t1, t2), {"x": ("t2",), "y": ("t1",)}, "si").holds
True
>>> judge((t1, t2), {"x": ("t2",), "y": ("t1",)}, "serializable").anomaly
'write-skew'
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dsl.library.levels import LEVELS, weaker

INITIAL = "initial state"


# The weakest level that each anomaly refutes. Anomalies that need session or real-time order
# carry a suffix and refute the level that adds that order.
REFUTES: dict[str, str] = {
    "G1a": "read committed",
    "G1b": "read committed",
    "G0": "read committed",
    "G1c": "read committed",
    "fractured-read": "read atomic",
    "read-skew": "parallel snapshot isolation",
    "causality-violation": "causal consistency",
    "lost-update": "parallel snapshot isolation",
    "long-fork": "prefix consistency",
    "G-nonadjacent": "si",
    "stale-read": "si",
    "write-skew": "serializable",
    "read-only-anomaly": "serializable",
    "G2-item": "serializable",
}


class Read(NamedTuple):
    """A read of `writer`'s version of `key`; `final` is false for one its writer overwrote."""

    key: Hashable
    writer: Hashable
    final: bool = True


@dataclass(frozen=True, slots=True)
class Transaction:
    """One transaction: its reads in order, the keys it wrote, and its place in the run.

    `index` orders the transactions of a session; `begin` and `end` are times, None = unknown.
    """

    name: Hashable
    reads: tuple[Read, ...] = ()
    writes: tuple[Hashable, ...] = ()
    session: Hashable = None
    index: int = 0
    begin: float | None = None
    end: float | None = None
    aborted: bool = False


class Edge(NamedTuple):
    """`before` must precede `after`: of what kind, and over which key (None for so and rt)."""

    before: Hashable
    after: Hashable
    kind: str
    key: Hashable = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a level holds; if not, the cycle (or the one edge of an impossible read)."""

    holds: bool
    anomaly: str = ""
    refutes: str = ""
    cycle: tuple[Edge, ...] = ()


Versions = Mapping[Any, Sequence[Hashable]]


def dependencies(
    transactions: Iterable[Transaction], versions: Versions, *, nearest: bool = True
) -> tuple[Edge, ...]:
    """The wr, ww and rw edges among committed transactions.

    With `nearest`, ww and rw lead to the next version only, which decides every level; without
    it to all later versions, which shows the shortest cycles.
    """
    edges: list[Edge] = []
    place = {(key, t): i for key, order in versions.items() for i, t in enumerate(order)}
    for key, order in versions.items():
        for i, t in enumerate(order):
            edges += (Edge(t, u, "ww", key) for u in order[i + 1 : i + 2 if nearest else None])
    for t in transactions:
        if t.aborted:
            continue
        for read in dict.fromkeys(t.reads):
            if read.writer == t.name:
                continue
            after = 0
            if read.writer != INITIAL:
                edges.append(Edge(read.writer, t.name, "wr", read.key))
                after = place.get((read.key, read.writer), -1) + 1
            order = versions.get(read.key, ())
            later = order[after : after + 1] if nearest else order[after:]
            edges += (Edge(t.name, u, "rw", read.key) for u in later if u != t.name)
    return tuple(edges)


def session_edges(transactions: Iterable[Transaction]) -> tuple[Edge, ...]:
    """`so` edges from each transaction to all later ones of its session."""
    live = [t for t in transactions if not t.aborted and t.session is not None]
    return tuple(
        Edge(a.name, b.name, "so")
        for a in live
        for b in live
        if a.session == b.session and a.index < b.index
    )


def real_time_edges(
    transactions: Iterable[Transaction], clock_error: float = 0.0
) -> tuple[Edge, ...]:
    """`rt` edges to every transaction that began more than the error after another's end."""
    live = [t for t in transactions if not t.aborted]
    return tuple(
        Edge(a.name, b.name, "rt")
        for a in live
        for b in live
        if a.end is not None and b.begin is not None and a.end + clock_error < b.begin
    )


def bc_edges(
    names: Iterable[Hashable], edges: Iterable[Edge]
) -> tuple[tuple[tuple[Hashable, str], tuple[Hashable, str], Edge | None], ...]:
    """The begin-commit graph: (node, node, edge it stands for), nodes (name, "b") and "c".

    Each transaction begins before it commits; rw leads from begin to commit, every other kind
    from commit to begin. It has a cycle exactly when snapshot isolation is violated.
    """
    inside = [((t, "b"), (t, "c"), None) for t in names]
    return (
        *inside,
        *(
            ((e.before, "b"), (e.after, "c"), e)
            if e.kind == "rw"
            else ((e.before, "c"), (e.after, "b"), e)
            for e in edges
        ),
    )


def find_cycle(
    names: Sequence[Hashable], edges: Sequence[Edge], *, serial: bool
) -> tuple[Edge, ...]:
    """A shortest cycle: of any kind when `serial`, else one without two adjacent rw."""
    if serial:
        nodes: list[Hashable] = list(names)
        arcs: list[tuple[Hashable, Hashable, Edge | None]] = [(e[0], e[1], e) for e in edges]
    else:
        nodes = [(t, half) for t in names for half in "bc"]
        arcs = list(bc_edges(names, edges))
    out: dict[Hashable, list[tuple[Hashable, Edge | None]]] = {node: [] for node in nodes}
    for u, v, edge in arcs:
        out[u].append((v, edge))
    best: tuple[Edge, ...] = ()
    for node in nodes:
        found = _round_trip(node, out)
        if found and (not best or len(found) < len(best)):
            best = found
    return best


def _round_trip(
    start: Hashable, out: Mapping[Hashable, Sequence[tuple[Hashable, Edge | None]]]
) -> tuple[Edge, ...]:
    """The edges of a shortest way from a node back to itself; empty when there is none."""
    came: dict[Hashable, tuple[Hashable, Edge | None]] = {}
    queue = deque([start])
    while queue and start not in came:
        u = queue.popleft()
        for v, edge in out[u]:
            if v not in came:
                came[v] = (u, edge)
                queue.append(v)
    if start not in came:
        return ()
    path: list[Edge | None] = []
    node = start
    while True:
        node, edge = came[node]
        path.append(edge)
        if node == start:
            return tuple(e for e in reversed(path) if e is not None)


def judge(
    transactions: Sequence[Transaction],
    versions: Versions,
    level: str,
    *,
    clock_error: float = 0.0,
) -> Verdict:
    """Whether the history is of the level; if not, the most specific anomaly and its cycle."""
    impossible = impossible_read(transactions)
    if impossible is not None:
        return impossible
    wanted = LEVELS[level]
    live = [t for t in transactions if not t.aborted]
    names = [t.name for t in live]
    own = dependencies(live, versions)
    session = session_edges(live) if wanted.session else ()
    timed = real_time_edges(live, clock_error) if wanted.real_time else ()
    if not find_cycle(names, (*own, *session, *timed), serial=wanted.serial):
        return Verdict(True)
    every = dependencies(live, versions, nearest=False)
    for edges, suffix in ((every, ""), ((*every, *session), "-session")):
        if find_cycle(names, edges, serial=wanted.serial):
            return _named(live, edges, suffix, level)
    return _named(live, (*every, *session, *timed), "-realtime", level)


def impossible_read(transactions: Sequence[Transaction]) -> Verdict | None:
    """The first aborted (G1a) or intermediate (G1b) read among committed transactions."""
    aborted = {t.name for t in transactions if t.aborted}
    for t in transactions:
        for read in t.reads:
            name = "G1a" if read.writer in aborted else "" if read.final else "G1b"
            if name and not t.aborted and read.writer != t.name:
                edge = Edge(read.writer, t.name, "wr", read.key)
                return Verdict(False, name, REFUTES[name], (edge,))
    return None


def _named(
    transactions: Sequence[Transaction], edges: Sequence[Edge], suffix: str, level: str
) -> Verdict:
    """The verdict for the worst anomaly among the edges: fewest kinds of edge needed first."""
    names = [t.name for t in transactions]
    firm = [e for e in edges if e.kind != "rw"]
    blind = [e for e in firm if e.kind != "wr"]
    cycle = find_cycle(names, blind, serial=True) or find_cycle(names, firm, serial=True)
    cycle = cycle or _one_rw(transactions, edges, firm)
    cycle = cycle or find_cycle(names, edges, serial=False)
    cycle = cycle or find_cycle(names, edges, serial=True)
    name = classify(cycle, transactions)
    if not suffix:
        direct = name == "read-skew" and sorted(e.kind for e in cycle) == ["rw", "wr"]
        return Verdict(False, name, "read atomic" if direct else REFUTES[name], cycle)
    orders = {"-session": "strong-session-", "-realtime": "str"}[suffix]
    below = [n for n in weaker(level) if n.startswith(orders) and LEVELS[n].serial]
    snapshot = "strong-session-si" if suffix == "-session" else "strong-si"
    refutes = below[0] if classify_needs_serial(cycle) and below else snapshot
    plain = name == "stale-read" and suffix == "-realtime"
    return Verdict(False, name if plain else name + suffix, refutes, cycle)


def classify_needs_serial(cycle: Sequence[Edge]) -> bool:
    """Whether snapshot isolation allows the cycle: two of its rw edges are adjacent."""
    kinds = [e.kind for e in cycle]
    following = [*kinds[1:], kinds[0]]
    return len(kinds) > 1 and ("rw", "rw") in zip(kinds, following, strict=True)


def _one_rw(
    transactions: Sequence[Transaction], edges: Sequence[Edge], firm: Sequence[Edge]
) -> tuple[Edge, ...]:
    """A shortest cycle with exactly one rw edge, the most specifically named among equals."""
    names: list[Hashable] = [t.name for t in transactions]
    order = list(REFUTES)
    found: list[tuple[Edge, ...]] = []
    for rw in (e for e in edges if e.kind == "rw"):
        out: dict[Hashable, list[tuple[Hashable, Edge | None]]] = {name: [] for name in names}
        for e in firm:
            if e.after != rw.before or e.before != rw.before:
                out[e.before].append((e.after, e))
        out[rw.before] = [(rw.after, rw)]
        cycle = _round_trip(rw.before, out)
        if cycle:
            found.append(cycle)
            found += [(rw, e) for e in firm if (e.before, e.after) == (rw.after, rw.before)]
    named = [(len(c), order.index(classify(c, transactions)), i) for i, c in enumerate(found)]
    return found[min(named)[2]] if found else ()


def classify(cycle: Sequence[Edge], transactions: Iterable[Transaction]) -> str:
    """The most specific name of one cycle, from its edges and who wrote what."""
    by_name = {t.name: t for t in transactions}
    kinds = [e.kind for e in cycle]
    rw = kinds.count("rw")
    if rw == 0:
        return "G1c" if "wr" in kinds else "G0"
    if rw == 1:
        return _single(cycle, by_name)
    if not classify_needs_serial(cycle):
        plain = all(kind != "ww" for kind in kinds)
        return "long-fork" if rw == 2 and plain and len(cycle) == 4 else "G-nonadjacent"
    if len(cycle) == 2:
        return "write-skew"
    readers = any(not by_name[e.before].writes for e in cycle)
    return "read-only-anomaly" if readers and len(cycle) == 3 else "G2-item"


def _single(cycle: Sequence[Edge], by_name: Mapping[Hashable, Transaction]) -> str:
    """The name of a cycle with exactly one rw edge."""
    at = next(i for i, e in enumerate(cycle) if e.kind == "rw")
    rw, rest = cycle[at], [*cycle[at + 1 :], *cycle[:at]]
    reader, writer = by_name[rw.before], by_name[rw.after]
    if {e.kind for e in rest} <= {"so", "rt"}:
        return "stale-read"
    if len(rest) > 1:
        return "read-skew" if any(e.kind == "ww" for e in rest) else "causality-violation"
    if rest[0].kind == "ww":
        both = rw.key in reader.writes and rw.key in writer.writes
        return "lost-update" if both else "read-skew"
    if rest[0].kind != "wr":
        return "read-skew"
    keys = [read.key for read in reader.reads]
    return "fractured-read" if keys.index(rest[0].key) < keys.index(rw.key) else "read-skew"


def version_orders(
    writers: Sequence[Hashable], before: Iterable[tuple[Hashable, Hashable]]
) -> list[tuple[Hashable, ...]]:
    """Every order of the writers of one key that respects the pairs; for small numbers only."""
    pairs = set(before)
    if not writers:
        return [()]
    firsts = [w for w in writers if not any((v, w) in pairs for v in writers if v != w)]
    return [
        (w, *rest) for w in firsts for rest in version_orders([v for v in writers if v != w], pairs)
    ]
