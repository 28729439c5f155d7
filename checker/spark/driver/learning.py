"""Learning in the driver what tasks missed, from the examples they tell.

The examples are walked natively like a small level of their own: one that an example before it has
explained is not evaluated, and one that leads on to something else unknown is followed there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from statewalk.checker.native.kernels.arrays import EDGE, Array, Rows
from statewalk.checker.native.states import Level, Partition
from statewalk.checker.native.workers import Worker

if TYPE_CHECKING:
    from statewalk.checker.native.state import Search
    from statewalk.checker.spark.tasks.plan import Miss

_NEVER = np.iinfo(np.int64).max


def learn(search: Search, misses: Iterable[Miss]) -> None:
    """Learn misses, each situation once."""
    roots = search.roots
    pairs: dict[str, dict[tuple[int, tuple[int, ...]], None]] = {"check": {}, "act": {}, "end": {}}
    seen = set()
    for root, kind, operand, value, row, before in misses:
        if kind == EDGE and before is None:
            span = "check" if root < roots.first_action else "act"
            pairs["end" if root >= roots.end_action else span][root, tuple(row)] = None
            continue
        key = (root, tuple(row), tuple(before or ())) if kind == EDGE else (kind, operand, value)
        if key not in seen:
            seen.add(key)
            earlier = None if before is None else partial(_itself, before)
            search.learner.learn((root, kind, operand, value), partial(_itself, row), earlier)
    for span, found in pairs.items():
        if found:
            _walk(search, span, list(found))


def look_ahead(search: Search, rows: Rows) -> None:
    """Learn what some states of a level ask for: most of what all of them will ask for.

    They are expanded and their successors checked, natively; what comes out is not kept.
    """
    search.widen()
    n_roots, learned = len(search.roots.all), search.learner.learned
    worker = Worker(2, n_roots, 1 << 12, learned.wide)
    worker.begin(0, len(rows.fp), search.roots.first_action)
    level = Level(rows, np.zeros(len(rows.fp), np.int64))
    search.workers.complete([worker], _runner(search, "act", rows), level)
    worker.sort()
    search.widen()
    ignored = np.zeros_like(search.fresh)
    for number in range(2):
        partition = Partition(number, 2, search.shape)
        partition.take(rows, learned.outcomes(), worker.batch, ignored, search.ordinal_bits)
        if partition.n and search.roots.watched:
            new, link = search.shape.rows(partition.n), np.empty(partition.n, np.int64)
            partition.release(new, link, 0)
            checker = Worker(1, n_roots, 1, learned.wide)
            checker.begin(0, len(link), 0)
            search.workers.complete([checker], _runner(search, "check", new), Level(new, link))


def _itself(row: list[int]) -> list[int]:
    return row


def _walk(search: Search, span: str, found: list[tuple[int, tuple[int, ...]]]) -> None:
    """Walk (root, row) pairs until nothing is missing in them."""
    search.widen()
    n, shape = len(found), search.shape
    longest = max(len(row) for _, row in found)
    values = np.zeros((n, max(longest, shape.width)), shape.dtype)
    for at, (_, row) in enumerate(found):
        values[at, : len(row)] = row
    rows = shape.rows(n)._replace(values=values)
    rows.fp[:] = rows.low[:] = 0
    rows.quiet[:] = np.uint64((1 << 64) - 1)
    worker = Worker(2, len(search.roots.all), 1 << 10, search.shape.wide)
    worker.begin(0, n, 0)
    worker.pairs = np.array([(at, root) for at, (root, _) in enumerate(found)], np.int64)
    worker.finished = True
    level = Level(rows, np.zeros(n, np.int64))
    search.workers.complete([worker], _runner(search, span, rows), level)


def _runner(search: Search, span: str, rows: Rows) -> Callable[[Worker], object]:
    """How a worker walks the pairs."""
    roots, learned = search.roots, search.learner.learned
    if span == "act":
        fixed = (roots.first_action, roots.end_action, search.ordinal_bits, 63, 1)
        return lambda w: w.expand(rows, learned.tries(), learned.outcomes(), fixed)
    first, end = (0, roots.first_action)
    if span == "end":
        first, end = roots.end_action, roots.end_terminal
    groups = search.groups(first, end)
    events: Array = np.full(max(1, len(roots.watched), end - first), _NEVER)
    cut_by: Array = np.full(len(rows.fp), _NEVER)
    bound = roots.n_properties if span == "check" else 0
    return lambda w: w.check(rows, learned.tries(), groups, (first, end), events, cut_by, bound)
