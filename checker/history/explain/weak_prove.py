"""The minimal set that a level rejects, and the proof for one below snapshot isolation.

The closures are slow twins of checker.history.decide.weak and prefix, as
checker.history.explain.prove is of the kernels: the rules that belong to the level, with the path
that forced each derived edge.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

import numpy as np

from statewalk.checker.history.data import INITIAL, History, Ints
from statewalk.checker.history.decide.core import core, support_of
from statewalk.checker.history.decide.graph import Graph, build
from statewalk.checker.history.decide.prefix import build_halves
from statewalk.checker.history.decide.saturate import Reach, saturate
from statewalk.checker.history.decide.scan import Facts
from statewalk.checker.history.decide.search import decide
from statewalk.checker.history.decide.weak import decide_weak
from statewalk.checker.history.explain.prove import Closure, Link, Order, Small
from statewalk.dsl.library.levels import (
    ATOMIC,
    CAUSAL,
    LEVELS,
    PARALLEL,
    PREFIX,
    VIEW,
    IsolationLevel,
    weaker,
)


def rejected_core(
    history: History,
    facts: Facts,
    level: IsolationLevel,
    graph: Graph,
    used: Ints,
    clock_error: float,
) -> tuple[Facts, bool]:
    """Return the facts of a minimal rejected set of transactions, and whether it is known
    minimal.
    """
    support = support_of(graph, used)
    if level.rule == PREFIX:
        support = sorted({t // 2 for t in support})
    return core(facts, support, lambda some: rejected(history, some, level, clock_error))


def rejected(history: History, facts: Facts, level: IsolationLevel, clock_error: float) -> bool:
    """Return whether these facts alone contradict the level."""
    if level.weak and level.rule != PREFIX:
        priority = facts.members.astype(np.float64)
        return not decide_weak(history, facts, level, priority, math.inf, hint=False).holds
    if level.rule == PREFIX:
        graph = build_halves(history, facts, level)
    else:
        graph = build(history, facts, level, clock_error)
    done = saturate(graph, exact=True)
    if len(done.order) < graph.size:
        return True
    reach = Reach(graph, done.order)
    return not decide(graph, reach, np.zeros(graph.size), saturated=True).holds


def weakest_refuted(
    history: History, facts: Facts, level: IsolationLevel, clock_error: float
) -> str:
    """Return the weakest level that these facts alone contradict, session order apart where
    it can be.

    `level` is one that they do contradict.
    """
    below = [x for x in LEVELS.values() if x.name in weaker(level.name)]
    for other in sorted(below, key=lambda x: (x.session, x.real_time)):
        if rejected(history, facts, other, clock_error):
            return other.name
    return level.name


def closure_of(level: IsolationLevel, facts: Facts, found: Small) -> Callable[..., Closure]:
    """Return the closure that has the level's rules; `found` is set to the nodes that it needs."""
    if not level.weak:
        return Closure
    if level.rule == PREFIX:
        return Halves
    found.w = 1
    reads = [(r, k, i, op) for r, k, i, op in facts.reads.tolist()]

    def make(small: Small, assumed: tuple[Order, ...] = (), *, plain: bool = False) -> Closure:
        return Visible(small, assumed, plain=plain, rule=level.rule, reads=reads)

    return make


class Halves(Closure):
    """Prefix consistency: writers may overlap, so ww leads from commit to commit."""

    def nodes(self, link: Link) -> tuple[int, int]:
        """Return the begin or commit nodes that a link leads from and to."""
        if link.kind == "ww":
            return 2 * link.before + 1, 2 * link.after + 1
        return super().nodes(link)

    def before(self, i: int, j: int) -> bool:
        """Return whether i is known to commit before j."""
        return self.leads(2 * i + 1, 2 * j + 1)

    def _derive(self) -> bool:
        new = False
        for r, k, i in self.facts.reads:
            for j in self.facts.writers.get(k, ()):
                if i == INITIAL or j in (i, r):
                    continue
                if self.before(i, j) and not self.leads(2 * r, 2 * j + 1):
                    path = self.path(2 * i + 1, 2 * j + 1)
                    new |= self._put(Link(r, j, "rw", k, 2, path, (i, j, k)))
                if not self.plain and self.leads(2 * j + 1, 2 * r) and not self.before(j, i):
                    path = self.path(2 * j + 1, 2 * r)
                    new |= self._put(Link(j, i, "ww", k, 3, path, (r, i, k)))
        return new


class Visible(Closure):
    """Levels of visibility: rw edges order nothing, but one may not be closed by what is seen."""

    def __init__(
        self,
        facts: Small,
        assumed: tuple[Order, ...] = (),
        *,
        plain: bool = False,
        rule: str = CAUSAL,
        reads: list[tuple[int, int, int, int]],
    ) -> None:
        """Apply the rules until nothing is new or there is a contradiction.

        `reads` are reader, key, writer and operation.
        """
        self.rule, self.reads, self.broken = rule, reads, ()
        super().__init__(facts, assumed, plain=plain)

    broken: tuple[Link, ...]

    def _put(self, link: Link) -> bool:
        return link.kind != "rw" and super()._put(link)

    def cyclic(self) -> bool:
        """Return whether there is a cycle, or a read that misses what was visible to it."""
        return bool(self.broken) or super().cyclic()

    def cycle(self) -> tuple[Link, ...]:
        """Return the missed write and how it was visible, else the cheapest cycle."""
        return self.broken or super().cycle()

    def _derive(self) -> bool:
        new = False
        for r, k, i, op in self.reads:
            for j in self.facts.writers.get(k, ()):
                if j in (i, r):
                    continue
                older = i == INITIAL or self.before(i, j)
                because = () if i == INITIAL else self.path(i, j) if older else ()
                shown = self._shown(j, r, op)
                if shown and older:
                    premise = None if i == INITIAL else (i, j, k)
                    rule = 0 if i == INITIAL else 2
                    self.broken = (Link(r, j, "rw", k, rule, because, premise), *shown)
                    return False
                if self.plain:
                    continue
                if shown and not self.before(j, i):
                    new |= self._put(Link(j, i, "ww", k, 3, shown, (r, i, k)))
                overwrites = self.rule == PARALLEL and r in self.facts.writers[k]
                if overwrites and older and not self.before(r, j):
                    new |= self._put(Link(r, j, "ww", k, 1, because))
        return new

    def _shown(self, j: int, r: int, op: int) -> tuple[Link, ...]:
        """Return how j was visible to a read by operation `op` of r; empty when it was not."""
        if self.rule == VIEW:
            seen = (k for reader, k, i, at in self.reads if (reader, i) == (r, j) and at <= op)
            return tuple(Link(j, r, "wr", k) for k in list(seen)[:1])
        if self.rule == PARALLEL:
            return self.path(j, r) if self.leads(j, r) else ()
        if self.rule in (ATOMIC, CAUSAL):
            return self._depends(j, r, direct=self.rule == ATOMIC)
        return ()

    def _depends(self, j: int, r: int, *, direct: bool) -> tuple[Link, ...]:
        """Return a shortest way from j to r over what was read, and sessions."""
        came: dict[int, Link] = {}
        queue = deque([j])
        while queue and r not in came:
            u = queue.popleft()
            for link in self.facts.fixed:
                if link.before == u and link.kind in ("wr", "so") and link.after not in came:
                    came[link.after] = link
                    queue.append(link.after)
            if direct:
                break
        if r not in came:
            return ()
        path = [came[r]]
        while path[-1].before != j:
            path.append(came[path[-1].before])
        return tuple(path[::-1])
