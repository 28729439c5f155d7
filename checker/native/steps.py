"""Properties and constraints of steps: a successor is seen with the state it comes from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from statewalk.checker.native.findings import Stage
from statewalk.checker.native.kernels import expand as kernels
from statewalk.checker.native.kernels.arrays import (
    DONE,
    FIRST_ERROR,
    MISSES_FULL,
    NO_LINK,
    POSITION_SHIFT,
    Array,
    Batch,
)
from statewalk.checker.native.state import NativeSearch
from statewalk.checker.native.states import Level, Partition
from statewalk.checker.native.workers import Worker, once


def picked(batch: Batch, partition: int, chosen: Array) -> Batch:
    """Return some candidates of a partition, as a batch of their own."""
    fp, low, link, outcome = (
        np.ascontiguousarray(
            array[partition : partition + 1, : len(chosen)][:, chosen[: array.shape[1]]]
        )
        for array in batch[:4]
    )
    used = np.array([int(chosen.sum())])
    return batch._replace(fp=fp, low=low, link=link, outcome=outcome, used=used)


def leave(batch: Batch, partition: int, kept: Array) -> None:
    """Take out of a partition all candidates but some."""
    n = int(kept.sum())
    for array in batch[:4]:
        if array.shape[1]:
            array[partition, :n] = array[partition, : len(kept)][kept]
    batch.used[partition] = n


@dataclass
class StepChecks:
    """Checks the candidates of workers; ``outside`` keeps the states behind refused steps."""

    search: NativeSearch

    def __post_init__(self) -> None:
        """Start with nothing refused."""
        self.outside = Partition(0, 1, self.search.shape)

    def check(self, worker: Worker, stage: Stage) -> None:
        """Check a worker's candidates, and take out those that a step constraint refuses."""
        roots = self.search.roots
        first_event = np.full(len(roots.steps), NO_LINK)
        refused = np.zeros(len(roots.steps), np.int64)
        worker.batch.counters[FIRST_ERROR] = NO_LINK
        for partition in np.flatnonzero(worker.batch.used).tolist():
            verdict = self._check_partition(worker, partition, first_event, refused)
            self._take_out(worker.batch, partition, verdict == 1)
        for number, prop in enumerate(roots.steps):
            if number >= roots.n_step_properties:
                self.search.cut[prop.name] += int(refused[number])
            elif first_event[number] != NO_LINK:
                stage.step(prop.name, int(first_event[number]))
        stage.step_failed(int(worker.batch.counters[FIRST_ERROR]))

    def _check_partition(
        self, worker: Worker, partition: int, first_event: Array, refused: Array
    ) -> Array:
        search, roots = self.search, self.search.roots
        learned = search.learner.learned
        n = int(worker.batch.used[partition])
        verdict = np.zeros(n, np.uint8)
        pick = np.arange(n)
        while len(pick):
            at = np.zeros(1, np.int64)
            pair = np.zeros(2 * len(search.layout.slots), np.int64)
            answers = np.zeros(len(roots.steps), np.int64)
            status = kernels.check_steps(
                search.level.rows, learned.tries(), learned.outcomes(), worker.batch,
                worker.scratch, partition, pick, at, pair, answers, roots.end_terminal,
                roots.n_step_properties, first_event, refused, verdict,
            )  # fmt: skip
            if status not in (DONE, MISSES_FULL):
                worker.grow_scratch()
            misses = worker.take_misses(again=False)
            self._learn(misses, worker.batch, partition)
            pick = np.concatenate([misses[:, 0], pick[int(at[0]) :]])
        return verdict

    def _learn(self, misses: Array, batch: Batch, partition: int) -> None:
        for candidate, *miss in once(misses):
            parent = int(batch.link[partition, candidate]) >> POSITION_SHIFT
            outcome = int(batch.outcome[partition, candidate])
            before = self.search.level.rows.values[parent].tolist()
            after = self.search.learner.learned.apply(before, outcome)
            self.search.learner.learn(miss, lambda row=after: row, lambda row=before: row)  # type: ignore[misc]

    def _take_out(self, batch: Batch, partition: int, keep: Array) -> None:
        """Move refused candidates of a partition aside."""
        if keep.all():
            return
        search = self.search
        aside = picked(batch, partition, ~keep)
        leave(batch, partition, keep)
        ignored = np.zeros_like(search.fresh)
        outcomes = search.learner.learned.outcomes()
        search.widen()
        self.outside.take(search.level.rows, outcomes, aside, ignored, search.ordinal_bits)

    def refused(self) -> Level:
        """Return the states that only refused steps lead to, once; call before the next level
        is cut.
        """
        search, n = self.search, self.outside.n
        level = Level(search.shape.rows(n), np.empty(n, np.int64))
        self.outside.release(level.rows, level.link, 0)
        self.outside = Partition(0, 1, search.shape)
        return level.kept(~search.seen.has(level.rows.fp, level.rows.low))
