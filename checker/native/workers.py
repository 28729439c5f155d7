"""A worker: runs kernels over a range of a level, and keeps what it could not finish.

Workers run in threads; what the kernels miss is learned between their runs, in one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from statewalk.checker.native import memory
from statewalk.checker.native.kernels import expand as kernels
from statewalk.checker.native.kernels.arrays import (
    CANDIDATES_FULL,
    DONE,
    FIRST_ASSERTION,
    FIRST_ERROR,
    MISSES_FULL,
    N_CANDIDATES,
    N_MISSES,
    NO_LINK,
    PROGRAM_MISS,
    Array,
    Batch,
    Outcomes,
    Rows,
    Tries,
    make_scratch,
)
from statewalk.checker.native.learn.learning import Learner
from statewalk.checker.native.states import Level
from statewalk.dsl.errors import EngineError

_MISSES = 1 << 14
_MOST_REPEATS = 8  # of the same misses in a row, although they were learned
_NO_PAIRS = np.zeros((0, 2), np.int64)


class Worker:
    """One thread's buffers and the task at hand: the rows from ``first`` to ``end``."""

    def __init__(
        self, n_partitions: int, n_roots: int, capacity: int, wide: bool,
        moving: Array | None = None,
    ) -> None:  # fmt: skip
        self._wide, self.numbered = wide, False
        self._n_partitions = n_partitions
        self.batch = Batch(
            *self._candidates(capacity),
            np.zeros(n_partitions, np.int64),
            np.zeros((max(_MISSES, 2), 5), np.int64),
            np.zeros(4, np.int64),
            np.zeros(n_roots, np.int64),
            np.zeros(n_roots, np.int64),
            np.zeros(1, np.uint8),
            np.ones(n_roots, np.uint8) if moving is None else moving,
        )
        self.scratch = make_scratch(256)
        self.at = np.zeros(2, np.int64)
        self.pairs = _NO_PAIRS
        self.finished = True
        self.retried = False

    def _candidates(self, capacity: int) -> tuple[Array, Array, Array, Array, Array]:
        # Of each partition only the beginning is used: in huge pages all of it would take memory.
        shape, none = (self._n_partitions, capacity), (self._n_partitions, 0)
        return (
            memory.array(shape, np.uint64, huge=0),
            memory.array(shape if self._wide else none, np.uint64, huge=0),
            memory.array(shape, np.int64, huge=0),
            memory.array(shape, np.int32, huge=0),
            memory.array(shape if self.numbered else none, np.int32, huge=0),
        )

    def number_states(self) -> None:
        """Have room for the numbers that candidates' states have in their partitions."""
        self.numbered = True
        self.batch = Batch(*self._candidates(self.batch.fp.shape[1]), *self.batch[5:])

    def begin(self, first: int, end: int, root: int, steps: bool = True) -> None:
        """Take up a new range, to take ``steps`` from or only to look at; candidates of the last
        one are dropped.
        """
        self.first, self.end = first, end
        self.at[:] = first, root
        self.pairs = _NO_PAIRS
        self.finished = self.retried = False
        self.batch.used[:] = 0
        self.batch.counters[:] = 0
        self.batch.counters[FIRST_ASSERTION] = self.batch.counters[FIRST_ERROR] = NO_LINK
        moves = self.batch.moves
        if not steps:
            return
        if len(moves) < end - first:
            self.batch = self.batch._replace(moves=np.zeros(end - first, np.uint8))
        else:
            moves[: end - first] = 0

    @property
    def busy(self) -> bool:
        """Return whether something of the range is left to do."""
        return not self.finished or len(self.pairs) > 0

    def expand(self, rows: Rows, tries: Tries, outcomes: Outcomes, fixed: tuple[int, ...]) -> int:
        """Go on expanding until done, or until something is missing or full.

        ``fixed`` is (first action root, end, ordinal bits, shift, keep loops).
        """
        self._keep_calls(tries)
        return self._go_on(
            lambda at, pairs, n: kernels.expand(
                rows, tries, outcomes, self.batch, self.scratch, self.first, self.end, at, pairs, n,
                *fixed,
            )
        )  # fmt: skip

    def check(self, rows: Rows, tries: Tries, groups: Array, roots: tuple[int, int],
              first_event: Array, cut_by: Array, n_watched: int) -> int:  # fmt: skip
        """Go on checking states until done, or until something is missing or full."""
        self._keep_calls(tries)
        return self._go_on(
            lambda at, pairs, n: kernels.check(
                rows, tries, self.batch, self.scratch, self.end, at, pairs, n, groups, *roots,
                first_event, cut_by, n_watched,
            )
        )  # fmt: skip

    def _go_on(self, run: Callable[[Array, Array, int], int]) -> int:
        """Run a kernel over the pairs that wait, or else over the range; its status."""
        if n := len(self.pairs):
            at = np.zeros(2, np.int64)
            status = int(run(at, self.pairs, n))
            self.pairs = self.pairs[int(at[0]) :]
        else:
            status = int(run(self.at, _NO_PAIRS, -1))
            self.finished = status == DONE
        self._grow(status)
        return status

    def _grow(self, status: int) -> None:
        if status == CANDIDATES_FULL:
            old, n = self.batch, self.batch.fp.shape[1]
            new = self._candidates(2 * n)
            for before, after in zip(old[:5], new, strict=True):
                after[:, : before.shape[1]] = before
            self.batch = Batch(*new, *old[5:])
        elif status not in (DONE, MISSES_FULL):
            self.grow_scratch()

    def grow_scratch(self) -> None:
        """Make more room for one walk."""
        self.scratch = make_scratch(
            2 * len(self.scratch.stack), len(self.scratch.asked), self.scratch.run
        )

    def _keep_calls(self, tries: Tries) -> None:
        """Make room for the results of all calls there are."""
        if len(self.scratch.asked) < len(tries.call_roots):
            self.scratch = make_scratch(
                len(self.scratch.stack), len(tries.call_roots), self.scratch.run
            )

    def take_misses(self, again: bool = True) -> Array:
        """Return what was missing, as (position, root, kind, operand, value); whether to try it
        again.
        """
        n = int(self.batch.counters[N_MISSES])
        self.batch.counters[N_MISSES] = 0
        if not n:
            return self.batch.misses[:0]
        misses = self.batch.misses[:n].copy()
        if again:
            self.pairs = np.concatenate([self.pairs, misses[:, :2]])
        self.retried = True
        return misses

    def sort(self) -> None:
        """Restore the canonical order of the candidates after some were tried again."""
        if not self.retried:
            return
        batch = self.batch
        for partition in np.flatnonzero(batch.used).tolist():
            n = int(batch.used[partition])
            order = np.argsort(batch.link[partition, :n], kind="stable")
            for array in batch[:4]:
                if array.shape[1]:
                    array[partition, :n] = array[partition, order]

    def failed(self) -> tuple[int, int]:
        """Return the least links of steps that raised: an assertion, anything else."""
        counters = self.batch.counters
        return int(counters[FIRST_ASSERTION]), int(counters[FIRST_ERROR])

    @property
    def n_candidates(self) -> int:
        """Candidates of the range so far."""
        return int(self.batch.counters[N_CANDIDATES])


class Workers:
    """The workers of a search, and a helper for what is looked at in between.

    With several threads there are two for each: a thread that is done early takes what is left.
    """

    def __init__(self, threads: int, n_partitions: int, n_roots: int, learner: Learner) -> None:
        wide = learner.learned.wide
        n = 2 * threads if threads > 1 else 1
        moving = learner.roots.moving()
        self.all = [Worker(n_partitions, n_roots, 1 << 12, wide, moving) for _ in range(n)]
        self.helper = Worker(1, n_roots, 1, wide)
        if learner.programs is not None:
            for worker in (*self.all, self.helper):
                worker.scratch = worker.scratch._replace(run=learner.programs.words())
        self.learner = learner
        self.pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def number_states(self) -> None:
        """Have room for the numbers of states in what comes out."""
        for worker in self.all:
            worker.number_states()

    def close(self) -> None:
        """End the threads."""
        if self.pool is not None:
            self.pool.shutdown()

    def in_threads(self, tasks: list[Callable[[], object]]) -> None:
        """Run tasks side by side and wait for all."""
        if self.pool is not None and len(tasks) > 1:
            for done in [self.pool.submit(task) for task in tasks]:
                done.result()
        else:
            for task in tasks:
                task()

    def complete(
        self, workers: list[Worker], run: Callable[[Worker], object], level: Level
    ) -> None:
        """Let workers finish their ranges; what is missing is learned in between."""
        busy = workers
        before, repeats = np.zeros(0), 0
        while busy:
            self.in_threads([partial(run, worker) for worker in busy])
            misses = np.concatenate([worker.take_misses() for worker in busy])
            if len(misses):
                repeats = repeats + 1 if np.array_equal(misses, before) else 0
                if repeats == _MOST_REPEATS:
                    raise EngineError("SW312", "A level could not be learned after many attempts.")
                before = misses
                for position, *miss in once(misses):
                    self.learner.learn(miss, partial(_row, level, position))
            busy = [worker for worker in workers if worker.busy]


def _row(level: Level, position: int) -> list[int]:
    return level.rows.values[position].tolist()  # type: ignore[no-any-return]


def once(misses: Array) -> list[list[int]]:
    """Return the misses of workers without those that ask for the same thing."""
    kinds = misses[:, 2].astype(np.uint64) << np.uint64(62)
    values = np.where(misses[:, 2] == PROGRAM_MISS, misses[:, 0], misses[:, 4])
    operands = (misses[:, 3] & 0x3FFFFFFF).astype(np.uint64) << np.uint64(32)
    keys = kinds ^ operands ^ values.astype(np.uint64)
    _, first = np.unique(keys, return_index=True)
    return misses[np.sort(first)].tolist()  # type: ignore[no-any-return]
