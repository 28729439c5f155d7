"""Checking the states of a level: invariants, witnesses, constraints, and where a spec may end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from statewalk.checker.contract.search import DEADLOCK
from statewalk.checker.native.findings import Stage
from statewalk.checker.native.kernels.arrays import FIRST_ERROR, NO_LINK, Array, Rows
from statewalk.checker.native.state import NativeSearch
from statewalk.checker.native.states import Level
from statewalk.checker.native.workers import Worker

NEVER = np.iinfo(np.int64).max

# Checks a level, with constraints or without; which of its states are kept.
Check = Callable[[NativeSearch, Level, Stage, bool], Array]


def check_states(search: NativeSearch, level: Level, stage: Stage, constraints: bool) -> Array:
    """Check the states of a level; which of them the constraints, if wanted, keep."""
    watched, roots = search.roots.watched, search.roots
    constraints = constraints and len(watched) > roots.n_properties
    cut_by = np.full(level.n if constraints else 0, NEVER)
    if not watched or not level.n:
        return np.broadcast_to(np.True_, level.n)
    groups = search.groups(0, roots.first_action)
    if not constraints:
        groups[2, groups[0] >= roots.n_properties] = 0
    first = np.full(len(watched), NEVER)
    try:
        run_checks(search, level, stage, groups, first, cut_by, roots.n_properties)
    finally:  # what is known counts, also when a property had to be ended
        for group in np.flatnonzero(first[: roots.n_properties] != NEVER).tolist():
            at = int(first[group])
            stage.event(watched[group], level.key(at), int(level.link[at]))
    if not len(cut_by):
        return np.broadcast_to(np.True_, level.n)
    for group, times in zip(*np.unique(cut_by[cut_by != NEVER], return_counts=True), strict=True):
        search.cut[watched[int(group)].name] += int(times)
    result: Array = cut_by == NEVER
    return result


def run_checks(
    search: NativeSearch,
    level: Level,
    stage: Stage,
    groups: Array,
    first: Array,
    cut_by: Array,
    n: int,
) -> None:
    """Run the wanted groups over a level, its states shared out among the workers.

    ``first`` gets the first state with an event, per group; ``cut_by`` the least group from the
    n-th on that is false, per state.
    """
    learned = search.learner.learned
    share = -(-level.n // len(search.workers.all))
    workers = []
    for number, worker in enumerate(search.workers.all):
        if number * share < level.n:
            end = min(level.n, (number + 1) * share)
            worker.begin(number * share, end, 0, steps=False)
            workers.append(worker)
    events = {id(worker): np.full(len(first), NEVER) for worker in workers}
    ends = (0, search.roots.first_action)
    try:
        search.workers.complete(
            workers,
            lambda w: w.check(level.rows, learned.tries(), groups, ends, events[id(w)], cut_by, n),
            level,
        )
    finally:
        for worker in workers:
            failed = int(worker.batch.counters[FIRST_ERROR])
            if failed != NO_LINK:
                stage.check_failed(level.key(failed), int(level.link[failed]))
            search.walks += worker.batch.walks
            worker.batch.walks[:] = 0
            np.minimum(first, events[id(worker)], out=first)


def look_for_deadlocks(search: NativeSearch, worker: Worker, stage: Stage) -> None:
    """Note the states of a worker's range without a step that are not terminal."""
    if not (search.model.check_deadlock and search.options.wants(DEADLOCK)):
        return
    n = worker.end - worker.first
    stuck = worker.first + np.flatnonzero(worker.batch.moves[:n] == 0)
    if len(stuck) and search.model.terminal:
        stuck = _not_terminal(search, stuck, stage)
    if len(stuck):
        stage.deadlock(int(stuck[0]))


def _not_terminal(search: NativeSearch, stuck: Array, stage: Stage) -> Array:
    """Return those of some positions at which no terminal predicate holds."""
    roots, first = search.roots, int(stuck[0])
    end = int(stuck[-1]) + 1
    rows = search.level.rows
    low = rows.low[first:end]
    part = Level(
        Rows(rows.values[first:end], rows.fp[first:end], low, rows.quiet[first:end]),
        search.level.link[first:end],
    )
    numbers = np.arange(roots.end_action, roots.end_terminal)
    pairs = np.stack([np.repeat(stuck - first, len(numbers)), np.tile(numbers, len(stuck))], 1)
    helper, learned = search.workers.helper, search.learner.learned
    helper.begin(0, part.n, roots.end_action)
    helper.pairs, helper.finished = np.ascontiguousarray(pairs), True
    holds = np.full(part.n, NEVER)
    events = np.full(len(numbers), NEVER)
    ends = (roots.end_action, roots.end_terminal)
    groups = search.groups(*ends)
    search.workers.complete(
        [helper],
        lambda w: w.check(part.rows, learned.tries(), groups, ends, events, holds, 0),
        part,
    )
    if helper.batch.counters[FIRST_ERROR] != NO_LINK:
        stage.terminal_failed(first + int(helper.batch.counters[FIRST_ERROR]))
    result: Array = stuck[holds[stuck - first] == NEVER]
    return result
