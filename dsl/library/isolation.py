"""Isolation levels of transactional histories whose version order is known.

A history is transactions that read each other's versions and, per key, the order in which
versions were installed. From these follow edges between transactions: `wr` (read from), `ww`
(next version), `rw` (read what the other overwrote), `so` (session) and `rt` (real time). A
level holds when there is no cycle that its rule forbids: every rule forbids a cycle without rw,
the rules of visibility some with a single rw, the rules of snapshots those without two adjacent
rw, the serial one all. Everything here is a pure function of small immutable values.

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
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from statewalk.dsl.library.levels import (
    ATOMIC,
    CAUSAL,
    LEVELS,
    PARALLEL,
    PREFIX,
    READ_COMMITTED,
    SERIAL,
    SNAPSHOT,
    VIEW,
)


class Edge(NamedTuple):
    """`before` must precede `after`: of what kind, and over which key (None for so and rt)."""

    before: Hashable
    after: Hashable
    kind: str
    key: Hashable = None


Cycle = tuple[Edge, ...]
_Out = dict[Hashable, list[tuple[Hashable, Edge | None]]]


def bc_edges(
    names: Iterable[Hashable], edges: Iterable[Edge], *, overlap: bool = False
) -> tuple[tuple[tuple[Hashable, str], tuple[Hashable, str], Edge | None], ...]:
    """Return the begin-commit graph: (node, node, edge it stands for), nodes (name, "b") and "c".

    Each transaction begins before it commits; rw leads from begin to commit, every other kind
    from commit to begin. It has a cycle exactly when snapshot isolation is violated. With
    `overlap`, writers of a key may overlap: ww leads from commit to commit (prefix consistency).
    """
    inside = [((t, "b"), (t, "c"), None) for t in names]
    return (
        *inside,
        *(
            (
                (e.before, "b" if e.kind == "rw" else "c"),
                (e.after, "c" if e.kind == "rw" or (overlap and e.kind == "ww") else "b"),
                e,
            )
            for e in edges
        ),
    )


def find_cycle(
    names: Sequence[Hashable], edges: Sequence[Edge], *, serial: bool, overlap: bool = False
) -> Cycle:
    """Return a shortest cycle: of any kind when `serial`, else one of the begin-commit graph."""
    if serial:
        nodes: list[Hashable] = list(names)
        arcs: list[tuple[Hashable, Hashable, Edge | None]] = [(e[0], e[1], e) for e in edges]
    else:
        nodes = [(t, half) for t in names for half in "bc"]
        arcs = list(bc_edges(names, edges, overlap=overlap))
    out: _Out = {node: [] for node in nodes}
    for u, v, edge in arcs:
        out[u].append((v, edge))
    best: Cycle = ()
    for node in nodes:
        found = _round_trip(node, out)
        if found and (not best or len(found) < len(best)):
            best = found
    return best


def _round_trip(
    start: Hashable, out: Mapping[Hashable, Sequence[tuple[Hashable, Edge | None]]]
) -> Cycle:
    """Return the edges of a shortest way from a node back to itself; empty when there is none."""
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


def forbidden(names: Sequence[Hashable], edges: Sequence[Edge], rule: str) -> list[Cycle]:
    """Return the forbidden cycles of the worst kind present; empty if there are none.

    Kinds, the worst first: ww only, no rw, one rw, no two adjacent rw, any. Of each kind there
    is a shortest one; of those with one rw, a shortest for each of these. For the rule VIEW
    the edges of kind rw must be those of reads that come after one from the overwriter.
    """
    firm = [e for e in edges if e.kind != "rw"]
    blind = [e for e in firm if e.kind != "wr"]
    cycle = find_cycle(names, blind, serial=True) or find_cycle(names, firm, serial=True)
    if cycle or rule == READ_COMMITTED:
        return [cycle] if cycle else []
    single = _one_rw(names, edges, firm, rule)
    if single or rule in (VIEW, ATOMIC, CAUSAL, PARALLEL):
        return single
    cycle = find_cycle(names, edges, serial=False, overlap=rule == PREFIX)
    if not cycle and rule == SERIAL:
        cycle = find_cycle(names, edges, serial=True)
    return [cycle] if cycle else []


def _one_rw(
    names: Sequence[Hashable], edges: Sequence[Edge], firm: Sequence[Edge], rule: str
) -> list[Cycle]:
    """Shortest cycles with exactly one rw edge, by what the rule says makes writes visible."""
    kinds = {VIEW: ("wr",), ATOMIC: ("wr", "so"), CAUSAL: ("wr", "so"), PREFIX: ("wr", "so")}
    visible = [e for e in firm if e.kind in kinds.get(rule, (e.kind,))]
    direct = rule in (VIEW, ATOMIC)
    found: list[Cycle] = []
    for rw in (e for e in edges if e.kind == "rw"):
        back = [e for e in visible if (e.before, e.after) == (rw.after, rw.before)]
        if not direct:
            out: _Out = {name: [] for name in names}
            for e in visible:
                out[e.before].append((e.after, e))
            out[rw.before] = [(rw.after, rw)]
            cycle = _round_trip(rw.before, out)
            if cycle:
                found.append(cycle)
        found += [(rw, e) for e in back]
    return found


def adjacent_rw(cycle: Sequence[Edge]) -> bool:
    """Return whether snapshot isolation allows the cycle: two of its rw edges are adjacent."""
    kinds = [e.kind for e in cycle]
    following = [*kinds[1:], kinds[0]]
    return len(kinds) > 1 and ("rw", "rw") in zip(kinds, following, strict=True)


def weakest_rule(cycle: Sequence[Edge], asked: str, *, in_order: bool) -> str:
    """Return the weakest rule that forbids a cycle; `asked` decides between parallel and prefix.

    `in_order`: the reader of the rw edge had already read from its overwriter (a cycle of two).
    """
    kinds = [e.kind for e in cycle]
    rw = kinds.count("rw")
    if rw == 0:
        return READ_COMMITTED
    led_to = all(kinds[i - 1] in ("wr", "so") for i, kind in enumerate(kinds) if kind == "rw")
    if rw == 1 and "ww" in kinds:
        return PREFIX if asked == PREFIX and led_to else PARALLEL
    if rw == 1 and len(kinds) == 2:
        return VIEW if in_order and "wr" in kinds else ATOMIC
    if rw == 1:
        return CAUSAL
    if adjacent_rw(cycle):
        return SERIAL
    return PREFIX if led_to else SNAPSHOT


INITIAL = "initial state"


# The weakest level that each anomaly refutes at its smallest; a cycle says more exactly. What
# needs session or real-time order carries a suffix and refutes the level with that order.
REFUTES: dict[str, str] = {
    "G1a": "read-committed",
    "G1b": "read-committed",
    "G0": "read-committed",
    "G1c": "read-committed",
    "fractured-read": "monotonic-atomic-view",
    "read-skew": "read-atomic",
    "causality-violation": "causal",
    "lost-update": "parallel-si",
    "long-fork": "prefix",
    "G-nonadjacent": "si",
    "stale-read": "strong-si",
    "write-skew": "serializable",
    "read-only-anomaly": "serializable",
    "G2-item": "serializable",
}


class Read(NamedTuple):
    """A read of `writer`'s version of `key`; `final` is false for one its writer overwrote.

    Neighbouring reads with the same `moment` are of one operation, such as a range query.
    """

    key: Hashable
    writer: Hashable
    final: bool = True
    moment: int | None = None


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


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a level; if it does not hold, the cycle (or the one edge of an
    impossible read).
    """

    holds: bool
    anomaly: str = ""
    refutes: str = ""
    cycle: tuple[Edge, ...] = ()


Versions = Mapping[Any, Sequence[Hashable]]


def dependencies(
    transactions: Iterable[Transaction], versions: Versions, *, nearest: bool = True
) -> tuple[Edge, ...]:
    """Return the wr, ww and rw edges among committed transactions.

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
        for key, writer in dict.fromkeys((read.key, read.writer) for read in t.reads):
            if writer == t.name:
                continue
            after = 0
            if writer != INITIAL:
                edges.append(Edge(writer, t.name, "wr", key))
                after = place.get((key, writer), -1) + 1
            order = versions.get(key, ())
            later = order[after : after + 1] if nearest else order[after:]
            edges += (Edge(t.name, u, "rw", key) for u in later if u != t.name)
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


def judge(
    transactions: Sequence[Transaction],
    versions: Versions,
    level: str,
    *,
    clock_error: float = 0.0,
) -> Verdict:
    """Return whether the history is of the level; if not, the most specific anomaly and
    its cycle.
    """
    impossible = impossible_read(transactions)
    if impossible is not None:
        return impossible
    wanted = LEVELS[level]
    live = [t for t in transactions if not t.aborted]
    names = [t.name for t in live]
    session = session_edges(live) if wanted.session else ()
    timed = real_time_edges(live, clock_error) if wanted.real_time else ()
    if not wanted.weak:
        own = (*dependencies(live, versions), *session, *timed)
        if not find_cycle(names, own, serial=wanted.serial):
            return Verdict(True)
    every = dependencies(live, versions, nearest=False)
    missed = _missed_after_seen(live, versions)
    if wanted.rule == VIEW:
        every = tuple(e for e in every if e.kind != "rw" or e in missed)
    for edges, suffix in (
        (every, ""),
        ((*every, *session), "-session"),
        ((*every, *session, *timed), "-realtime"),
    ):
        cycles = forbidden(names, edges, wanted.rule)
        if cycles:
            return _named(live, cycles, suffix, wanted.rule, missed)
    return Verdict(True)


def _missed_after_seen(transactions: Sequence[Transaction], versions: Versions) -> set[Edge]:
    """Return the rw edges of reads that do not come before every read from the overwriter."""
    place = {(key, t): i for key, order in versions.items() for i, t in enumerate(order)}
    missed: set[Edge] = set()
    for t in transactions:
        seen: list[Hashable] = []
        for _, moment in groupby(
            t.reads, lambda read: object() if read.moment is None else read.moment
        ):
            reads = [*moment]
            seen += (read.writer for read in reads if read.writer != INITIAL)
            for key, writer, *_ in reads:
                at = place.get((key, writer), -1)
                missed.update(
                    Edge(t.name, j, "rw", key) for j in seen if place.get((key, j), -1) > at
                )
    return missed


def impossible_read(transactions: Sequence[Transaction]) -> Verdict | None:
    """Return the first aborted (G1a) or intermediate (G1b) read among committed transactions."""
    aborted = {t.name for t in transactions if t.aborted}
    for t in transactions:
        for read in t.reads:
            name = "G1a" if read.writer in aborted else "" if read.final else "G1b"
            if name and not t.aborted and read.writer != t.name:
                edge = Edge(read.writer, t.name, "wr", read.key)
                return Verdict(False, name, REFUTES[name], (edge,))
    return None


def _named(
    transactions: Sequence[Transaction],
    cycles: Sequence[Cycle],
    suffix: str,
    rule: str,
    missed: set[Edge],
) -> Verdict:
    """Return the verdict for the shortest of some cycles, the most specifically named among
    equals.
    """
    order = list(REFUTES)
    names = [classify(c, transactions, missed) for c in cycles]
    ranked = [(len(c), order.index(names[i]), i) for i, c in enumerate(cycles)]
    at = min(ranked)[2]
    cycle, name = cycles[at], names[at]
    kinds = {e.kind for e in cycle}
    weakest = weakest_rule(cycle, rule, in_order=not missed.isdisjoint(cycle))
    if "rt" in kinds:
        refutes = "strict-serializable" if weakest == SERIAL else "strong-si"
    else:
        session = "so" in kinds
        refutes = next(n for n, x in LEVELS.items() if (x.rule, x.session) == (weakest, session))
    plain = name == "stale-read" and suffix == "-realtime"
    return Verdict(False, name if plain else name + suffix, refutes, cycle)


def classify(cycle: Sequence[Edge], transactions: Iterable[Transaction], missed: set[Edge]) -> str:
    """Return the most specific name of one cycle, from its edges and who wrote what.

    `missed` are the rw edges of reads that do not come before every read from the overwriter.
    """
    by_name = {t.name: t for t in transactions}
    kinds = [e.kind for e in cycle]
    rw = kinds.count("rw")
    if rw == 0:
        return "G1c" if "wr" in kinds else "G0"
    if rw == 1:
        return _single(cycle, by_name, missed)
    if not adjacent_rw(cycle):
        plain = all(kind != "ww" for kind in kinds)
        return "long-fork" if rw == 2 and plain and len(cycle) == 4 else "G-nonadjacent"
    if len(cycle) == 2:
        return "write-skew"
    readers = any(not by_name[e.before].writes for e in cycle)
    return "read-only-anomaly" if readers and len(cycle) == 3 else "G2-item"


def _single(
    cycle: Sequence[Edge], by_name: Mapping[Hashable, Transaction], missed: set[Edge]
) -> str:
    """Return the name of a cycle with exactly one rw edge."""
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
    return "fractured-read" if rw in missed else "read-skew"


def version_orders(
    writers: Sequence[Hashable], before: Iterable[tuple[Hashable, Hashable]]
) -> list[tuple[Hashable, ...]]:
    """Return every order of the writers of one key that respects the pairs; for small numbers
    only.
    """
    return list(each_version_order(writers, set(before)))


def each_version_order(
    writers: Sequence[Hashable], before: Set[tuple[Hashable, Hashable]]
) -> Iterator[tuple[Hashable, ...]]:
    """Yield the orders of `version_orders`, one by one: n writers may have n! of them."""
    if not writers:
        yield ()
    for first in writers:
        if not any((other, first) in before for other in writers if other != first):
            rest = [other for other in writers if other != first]
            yield from ((first, *order) for order in each_version_order(rest, before))
