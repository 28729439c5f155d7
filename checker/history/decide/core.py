"""From a rejected history to a minimal set of transactions that is rejected by itself.

First the support of one contradiction: a cycle, and recursively every path that forced one of
its derived edges (or, after a search, the nodes of all its conflicts). Then deletion: leave
transactions out as long as the rest is still rejected.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from statewalk.checker.history.data import INITIAL, Bools, Ints
from statewalk.checker.history.decide.graph import Graph, neighbours
from statewalk.checker.history.decide.kernels.reach import find_path, topological
from statewalk.checker.history.decide.scan import Facts

EFFORT = 50_000  # transactions in all sets that are tried; about five seconds at most
_EACH = 10  # that trying one more set costs, whatever is in it
_TRIES = 40
_EXPANSIONS = 3000
_FOLLOWED = 4


class Support:
    """Collects the transactions behind edges of a saturated graph."""

    def __init__(self, graph: Graph, inside: Bools | None = None) -> None:
        """Prepare for paths in a graph whose adjacency is current, or `inside` some nodes."""
        self.graph, self.found = graph, set[int]()
        self.start, self.to, self.edge = graph.start, graph.to, graph.edge
        if inside is not None:
            src, dst = graph.edges[:, 0], graph.edges[:, 1]
            some = np.flatnonzero(inside[src] & inside[dst])
            self.start, self.to, edge = neighbours(graph.size, src[some], dst[some])
            self.edge = some[edge]
        self.came = np.empty(graph.size, np.int64)
        self.queue = np.empty(graph.size, np.int64)

    def path(self, source: int, target: int, newest: int) -> list[int]:
        """Ids of the edges of a shortest path that is older than a pass; none = no path."""
        g = self.graph
        if source == target or not find_path(
            self.start, self.to, self.edge, g.batch, newest, source, target, self.came, self.queue
        ):
            return []
        path, node = [], target
        while node != source:
            path.append(int(self.came[node]))
            node = int(g.edges[path[-1], 0])
        return path[::-1]

    def take(self, edges: list[int]) -> None:
        """Add the transactions of these edges and of everything that forced them."""
        g, done, waiting = self.graph, set[int](), list(edges)
        while waiting and len(done) < _EXPANSIONS:
            e = waiting.pop()
            if e in done:
                continue
            done.add(e)
            src, dst, _, _, rule, i, j, r = g.edges[e].tolist()
            self.found.update(x // g.w for x in (src, dst) if x < g.w * g.n)
            if not rule:
                continue
            self.found.update(t for t in (i, j, r) if t >= 0)
            last = g.w - 1
            ends = {
                1: (g.w * j, g.w * i + last),
                2: (g.w * i + last, g.w * j),
                3: (g.w * j + last, g.w * r),
            }[rule]
            if i >= 0:
                waiting += self.path(*ends, int(g.batch[e]))


def cycle_support(graph: Graph) -> list[int]:
    """Return transactions that suffice for a cycle of the graph: one of the last pass, if it
    is new.

    Of the cycles tried, the few shortest are followed back to what was observed, and the one
    that needs the fewest transactions is taken.
    """
    inside, newest = _on_cycles(graph), int(graph.batch.max(initial=0))
    on_cycle, cycles = Support(graph, inside), list[list[int]]()
    src, dst = graph.edges[:, 0], graph.edges[:, 1]
    last = np.flatnonzero((graph.batch == newest) & inside[src] & inside[dst])
    for tried, e in enumerate(last.tolist()):
        path = on_cycle.path(int(dst[e]), int(src[e]), newest + 1)
        if path:
            cycles.append([e, *path])
        if cycles and tried > _TRIES:
            break
    best: set[int] | None = None
    for cycle in sorted(cycles, key=len)[:_FOLLOWED]:
        support = Support(graph)
        support.take(cycle)
        if best is None or len(support.found) < len(best):
            best = support.found
    return sorted(best or ())


def _on_cycles(graph: Graph) -> Bools:
    """Return which nodes are on a cycle, or on a path from one to another."""
    inside = np.ones(graph.size, bool)
    for back in (0, 1):
        edges = graph.edges[inside[graph.edges[:, 0]] & inside[graph.edges[:, 1]], :2]
        start, to, _ = neighbours(graph.size, edges[:, back].copy(), edges[:, 1 - back].copy())
        order = np.empty(graph.size, np.int64)
        inside[order[: topological(graph.size, start, to, order)]] = False
    return inside


def search_support(graph: Graph, used: Ints) -> list[int]:
    """Return transactions on any conflict of a search, with what forced the edges among them."""
    inside = np.zeros(graph.size, bool)
    inside[used] = True
    graph.connect()
    support = Support(graph)
    support.found.update((used[used < graph.w * graph.n] // graph.w).tolist())
    derived = inside[graph.edges[:, 0]] & inside[graph.edges[:, 1]] & (graph.batch > 0)
    support.take(np.flatnonzero(derived).tolist())
    return sorted(support.found)


def support_of(graph: Graph, used: Ints) -> list[int]:
    """Return transactions that suffice, perhaps: by a cycle, or by the nodes of a search's
    conflicts.
    """
    return search_support(graph, used) if len(used) else cycle_support(graph)


def restrict(facts: Facts, kept: list[int]) -> Facts:
    """Return the facts about some of the members only; reads from the others are forgotten."""
    number = np.full(len(facts.members) + 1, -2, np.int64)
    number[kept] = np.arange(len(kept))
    number[-1] = INITIAL
    reads, writes = facts.reads.copy(), facts.writes.copy()
    reads[:, 0], reads[:, 2] = number[reads[:, 0]], number[reads[:, 2]]
    writes[:, 0] = number[writes[:, 0]]
    order = facts.order
    if len(order):
        order = _bridge(facts, set(kept))
        order[:, :2] = number[order[:, :2]]
    return Facts(
        facts.members[kept],
        reads[(reads[:, 0] >= 0) & (reads[:, 2] >= INITIAL)],
        writes[writes[:, 0] >= 0],
        order,
    )


def _bridge(facts: Facts, kept: set[int]) -> Ints:
    """Known version orders among the kept writers, through the ones left out."""
    rows = facts.writes[np.isin(facts.writes[:, 0], list(kept))]
    following: dict[tuple[int, int], list[int]] = {}
    keys = np.unique(rows[:, 1])
    for a, b, k in facts.order[np.isin(facts.order[:, 2], keys)].tolist():
        following.setdefault((a, k), []).append(b)
    pairs: set[tuple[int, int, int]] = set()
    for t, k in rows.tolist():
        seen, waiting = set[int](), list(following.get((t, k), ()))
        while waiting:
            u = waiting.pop()
            if u in seen:
                continue
            seen.add(u)
            if u in kept:
                pairs.add((t, u, k))
            else:
                waiting += following.get((u, k), ())
    return np.array(sorted(pairs), np.int64).reshape(-1, 3)


def minimal(
    kept: list[int], still: Callable[[list[int]], bool], effort: int
) -> tuple[list[int], bool]:
    """Leave out ever smaller parts while the rest is still rejected.

    False says that the effort was spent before the set was known to be minimal.

    Source: delta debugging, Zeller and Hildebrandt (TSE 2002).
    """
    size = max(1, len(kept) // 2)
    while True:
        at, smaller = 0, False
        while at < len(kept):
            rest = kept[:at] + kept[at + size :]
            if still(rest):
                kept, smaller = rest, True
            else:
                at += size
            effort -= len(rest) + _EACH
            if effort < 0:
                return kept, False
        if size > 1:
            size = max(1, size // 2)
        elif not smaller:
            return kept, True


def core(facts: Facts, support: list[int], rejected: Callable[[Facts], bool]) -> tuple[Facts, bool]:
    """Return the facts of a minimal set of transactions that is rejected, and whether it is
    known minimal.

    It is looked for in `support`, if that is rejected by itself.
    """

    def still(kept: list[int]) -> bool:
        return bool(kept) and rejected(restrict(facts, kept))

    kept = support if still(support) else list(range(len(facts.members)))
    kept, proven = minimal(kept, still, EFFORT)
    return restrict(facts, kept), proven
