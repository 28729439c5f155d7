"""A proof that a few transactions have no order: the rules with their reasons, then case by case.

The slow twin of the kernels: the same rules over small graphs, keeping for each derived edge
the path that forced it; where no rule applies, both orders of a pair of writers are tried.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from statewalk.checker.history.clock import reached
from statewalk.checker.history.data import INFO, INITIAL, History
from statewalk.checker.history.decide.scan import Facts
from statewalk.dsl.library.levels import IsolationLevel

_DERIVED_COST = 8
Order = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Link:
    """One step of a cycle: `before` precedes `after`; observed (rule 0), assumed (-1) or derived.

    `because` is the path that rule 1, 2 or 3 used: docs/reference/history-format.md says how.
    """

    before: int
    after: int
    kind: str
    key: int
    rule: int = 0
    because: tuple[Link, ...] = ()
    premise: Order | None = None

    @property
    def derived(self) -> bool:
        """Return whether a rule forced it (1, 3, or 2 by such), rather than the history
        showing it.
        """
        return self.rule in (1, 3) or any(link.derived for link in self.because)


@dataclass(frozen=True, slots=True)
class Proof:
    """A cycle, or two proofs: one for each order of the writers `first` and `second` of `key`."""

    cycle: tuple[Link, ...] = ()
    pair: Order | None = None
    cases: tuple[Proof, ...] = ()


@dataclass(slots=True)
class Small:
    """The facts about a few transactions, as plain Python."""

    n: int
    w: int
    reads: list[tuple[int, int, int]]
    writers: dict[int, list[int]]
    fixed: list[Link] = field(default_factory=list)

    def pairs(self) -> Iterator[Order]:
        """Yield every two writers of one key."""
        for k, ts in self.writers.items():
            for at, i in enumerate(ts):
                for j in ts[at + 1 :]:
                    yield i, j, k


def small(history: History, facts: Facts, level: IsolationLevel, clock_error: float) -> Small:
    """Return the observed edges of restricted facts, session and real time pairwise."""
    n, w = len(facts.members), 1 if level.serial else 2
    reads: list[tuple[int, int, int]] = sorted({tuple(row) for row in facts.reads[:, :3].tolist()})
    writers: dict[int, list[int]] = {}
    for t, k in sorted({tuple(row) for row in facts.writes.tolist()}):
        writers.setdefault(k, []).append(t)
    found = Small(n, w, reads, writers)
    session = history.session[facts.members]
    begin, end = history.begin[facts.members], history.end[facts.members].copy()
    end[history.status[facts.members] == INFO] = np.nan
    end = reached(end, clock_error, begin, history.exact)
    for i in range(n):
        for j in range(n):
            if level.session and i < j and session[i] == session[j]:
                found.fixed.append(Link(i, j, "so", -1))
            if level.real_time and i != j and end[i] < begin[j]:
                found.fixed.append(Link(i, j, "rt", -1))
    found.fixed += [Link(i, r, "wr", k) for r, k, i in reads if i != INITIAL]
    found.fixed += [Link(i, j, "ww", k) for i, j, k in facts.order.tolist()]
    found.fixed += [
        Link(r, j, "rw", k)
        for r, k, i in reads
        if i == INITIAL
        for j in writers.get(k, ())
        if j != r
    ]
    return found


class Closure:
    """The edges that follow from the facts and some assumed version orders."""

    def __init__(
        self, facts: Small, assumed: tuple[Order, ...] = (), *, plain: bool = False
    ) -> None:
        """Apply the rules until nothing is new or there is a cycle; `plain`: only rule 2.

        Rule 2 alone adds no version order, it only says who read what is known to be old.
        """
        self.plain = plain
        self.facts, self.links = facts, dict[tuple[int, int], Link]()
        for link in facts.fixed:
            self._put(link)
        for i, j, k in assumed:
            self._assume(i, j, k)
        self.reach = self._reach()
        while not self.cyclic() and self._derive():
            self.reach = self._reach()

    def nodes(self, link: Link) -> tuple[int, int]:
        """Return the begin or commit nodes that a link leads from and to."""
        w, last = self.facts.w, self.facts.w - 1
        if link.kind == "rw":
            return w * link.before, w * link.after + last
        return w * link.before + last, w * link.after

    def _put(self, link: Link) -> bool:
        new = self.nodes(link) not in self.links
        if new:
            self.links[self.nodes(link)] = link
        return new

    def _assume(self, i: int, j: int, k: int) -> None:
        self._put(Link(i, j, "ww", k, -1))
        for r, key, writer in self.facts.reads:
            if key == k and writer == i and r != j:
                self._put(Link(r, j, "rw", k, -1))

    def _reach(self) -> list[int]:
        """For each node the set, as bits, of the nodes that it leads to in one step or more."""
        size, w = self.facts.w * self.facts.n, self.facts.w
        reach = [0] * size
        if w > 1:
            for t in range(self.facts.n):
                reach[2 * t] |= 1 << (2 * t + 1)
        for u, v in self.links:
            reach[u] |= 1 << v
        for v in range(size):
            for u in range(size):
                if reach[u] >> v & 1:
                    reach[u] |= reach[v]
        return reach

    def cyclic(self) -> bool:
        """Return whether some node leads back to itself."""
        return any(row >> u & 1 for u, row in enumerate(self.reach))

    def leads(self, u: int, v: int) -> bool:
        """Return whether u is v or leads to it."""
        return u == v or bool(self.reach[u] >> v & 1)

    def before(self, i: int, j: int) -> bool:
        """Return whether i's versions are known to precede j's."""
        return self.leads(self.facts.w * i + self.facts.w - 1, self.facts.w * j)

    def _derive(self) -> bool:
        """Return one pass of the three rules; whether anything was new."""
        w, last, new = self.facts.w, self.facts.w - 1, False
        for i, j, k in [(a, b, k) for x, y, k in self.facts.pairs() for a, b in ((x, y), (y, x))]:
            if (
                w > 1
                and not self.plain
                and self.leads(w * j, w * i + last)
                and not self.before(j, i)
            ):
                new |= self._put(Link(j, i, "ww", k, 1, self.path(w * j, w * i + last)))
        for r, k, i in self.facts.reads:
            for j in self.facts.writers.get(k, ()):
                if i == INITIAL or j in (i, r):
                    continue
                if self.before(i, j) and not self.leads(w * r, w * j + last):
                    path = self.path(w * i + last, w * j)
                    new |= self._put(Link(r, j, "rw", k, 2, path, (i, j, k)))
                if not self.plain and self.leads(w * j + last, w * r) and not self.before(j, i):
                    path = self.path(w * j + last, w * r)
                    new |= self._put(Link(j, i, "ww", k, 3, path, (r, i, k)))
        return new

    def path(self, source: int, target: int) -> tuple[Link, ...]:
        """Return a path from node to node with few steps, derived ones counted dear."""
        out: dict[int, list[tuple[int, Link | None]]] = {}
        if self.facts.w > 1:
            for t in range(self.facts.n):
                out[2 * t] = [(2 * t + 1, None)]
        for (u, v), link in self.links.items():
            out.setdefault(u, []).append((v, link))
        queue: list[tuple[int, int, int, tuple[Link, ...]]] = [(0, 0, source, ())]
        done, count = set[int](), 0
        while queue:
            cost, _, u, path = heapq.heappop(queue)
            if u == target and (cost or count):
                return path
            if u in done and u != source:
                continue
            done.add(u)
            for v, step in out.get(u, ()):
                if v not in done or v == target:
                    count += 1
                    more = () if step is None else (step,)
                    dear = sum(_DERIVED_COST if x.derived else 1 for x in more)
                    heapq.heappush(queue, (cost + dear, count, v, path + more))
        return ()

    def cycle(self) -> tuple[Link, ...]:
        """Return the cheapest cycle; empty when there is none."""
        found = [self.path(u, u) for u, row in enumerate(self.reach) if row >> u & 1]
        return min(found, key=lambda c: (sum(x.derived for x in c), len(c)), default=())

    def open_pairs(self) -> list[Order]:
        """Return pairs of writers that nothing orders yet."""
        return [
            (i, j, k)
            for i, j, k in self.facts.pairs()
            if not self.before(i, j) and not self.before(j, i)
        ]


def prove(
    facts: Small, assumed: tuple[Order, ...] = (), make: Callable[..., Closure] = Closure
) -> Proof:
    """Return a proof that no version order exists that extends the assumed ones, by rules of
    `make`.

    Raises:  ValueError when there is one.
    """
    for plain in (True, False):
        closure = make(facts, assumed, plain=plain)
        if closure.cyclic():
            return Proof(closure.cycle())
    pairs = closure.open_pairs()
    if not pairs:
        raise ValueError("these transactions have an order")
    ranked = []
    for at, (i, j, k) in enumerate(pairs):
        ends = sum(make(facts, (*assumed, case)).cyclic() for case in ((i, j, k), (j, i, k)))
        ranked.append((-ends, at))
        if ends == 2:
            break
    i, j, k = pairs[min(ranked)[1]]
    cases = tuple(prove(facts, (*assumed, case), make) for case in ((i, j, k), (j, i, k)))
    return Proof(pair=(i, j, k), cases=cases)
