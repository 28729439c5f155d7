"""Cycles of dependencies between transactions: which of them a level's rule forbids.

Edges: `wr` (read from), `ww` (next version), `rw` (read what the other overwrote), `so`
(session), `rt` (real time). A cycle without rw is forbidden by every rule; one with a single rw
by the rules of visibility, each of which says how the overwriter can have been visible; the
rules of snapshots forbid those without two adjacent rw, the serial one forbids all.

Sources: Adya (1999); Cerone and Gotsman (JACM 2018) for parallel, prefix and snapshot; Biswas
and Enea (OOPSLA 2019) for view, atomic and causal.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from statewalk.dsl.library.levels import (
    ATOMIC,
    CAUSAL,
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
    """The begin-commit graph: (node, node, edge it stands for), nodes (name, "b") and "c".

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
    """A shortest cycle: of any kind when `serial`, else one of the begin-commit graph."""
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


def forbidden(names: Sequence[Hashable], edges: Sequence[Edge], rule: str) -> list[Cycle]:
    """Cycles that a rule forbids, all of the worst kind there is; empty when there are none.

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
    """Whether snapshot isolation allows the cycle: two of its rw edges are adjacent."""
    kinds = [e.kind for e in cycle]
    following = [*kinds[1:], kinds[0]]
    return len(kinds) > 1 and ("rw", "rw") in zip(kinds, following, strict=True)


def weakest_rule(cycle: Sequence[Edge], asked: str, *, in_order: bool) -> str:
    """The weakest rule that forbids a cycle; `asked` decides between parallel and prefix.

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
