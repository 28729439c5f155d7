"""Isolation levels of transactional histories whose version order is known.

A history is transactions that read each other's versions and, per key, the order in which
versions were installed. From these follow edges between transactions: `wr` (read from), `ww`
(next version), `rw` (read what the other overwrote), `so` (session) and `rt` (real time). A
level holds when there is no cycle that its rule forbids (`dsl.library.cycles`). Everything here
is a pure function of small immutable values.

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

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from statewalk.dsl.library.cycles import (
    Cycle,
    Edge,
    adjacent_rw,
    find_cycle,
    forbidden,
    weakest_rule,
)
from statewalk.dsl.library.levels import LEVELS, SERIAL, VIEW

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
    """Whether the history is of the level; if not, the most specific anomaly and its cycle."""
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
    """The rw edges of reads that do not come before every read from the overwriter."""
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
    transactions: Sequence[Transaction],
    cycles: Sequence[Cycle],
    suffix: str,
    rule: str,
    missed: set[Edge],
) -> Verdict:
    """The verdict for the shortest of some cycles, the most specifically named among equals."""
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
    """The most specific name of one cycle, from its edges and who wrote what.

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
    return "fractured-read" if rw in missed else "read-skew"


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
