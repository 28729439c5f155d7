"""Properties and constraints of steps, on executors: as `checker.native.steps` has them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from statewalk.checker.native.kernels import expand as kernels
from statewalk.checker.native.kernels.arrays import (
    DONE,
    FIRST_ERROR,
    MISSES_FULL,
    NO_LINK,
    POSITION_SHIFT,
    Array,
    Outcomes,
    Tries,
)
from statewalk.checker.native.states import Partition
from statewalk.checker.native.steps import leave, picked
from statewalk.checker.native.workers import Worker
from statewalk.checker.spark.tasks.plan import Expanded, Here, Plan

KEPT, UNKNOWN = 1, 0


class StepChecker:
    """Checks the successors of a task's batches, each with the state it comes from.

    Those that a constraint refuses go ``aside``; misses are told with the rows after and before.
    """

    def __init__(
        self, plan: Plan, report: Expanded, worker: Worker, tries: Tries, outcomes: Outcomes,
        aside: Partition, tell: Callable[[list[int], list[int], list[int]], None],
    ) -> None:  # fmt: skip
        self.plan, self.report, self.worker = plan, report, worker
        self.tries, self.outcomes, self.aside, self.tell = tries, outcomes, aside, tell
        report.refused = np.zeros(plan.n_steps, np.int64)
        self._first_event: Array = np.full(plan.n_steps, NO_LINK)
        self._refused: Array = np.zeros(plan.n_steps, np.int64)

    def check(self, here: Here) -> Array:
        """Check a batch; leave in it what goes on. The (position, root) pairs that were missed.

        A pair of which a step cannot be judged yet is taken out whole: the next attempt has it.
        """
        batch, report = self.worker.batch, self.report
        failed = int(batch.counters[FIRST_ERROR])
        batch.counters[FIRST_ERROR] = NO_LINK
        missed = np.zeros((0, 2), np.int64)
        verdicts = self.verdicts(here)
        unknown = [
            batch.link[p, : len(v)][v == UNKNOWN] >> self.plan.ordinal_bits
            for p, v in verdicts.items()
        ]
        pairs = np.unique(np.concatenate([np.zeros(0, np.int64), *unknown]))
        if len(pairs):
            missed = self._drop(pairs)
            batch.counters[FIRST_ERROR] = NO_LINK
            verdicts = self.verdicts(here)
        base = here.offset << POSITION_SHIFT
        for partition, verdict in verdicts.items():
            self._sort_out(here, partition, verdict == KEPT, base)
        assert report.refused is not None
        report.refused += self._refused
        for number in np.flatnonzero(self._first_event != NO_LINK).tolist():
            link = int(self._first_event[number]) + base
            report.steps[number] = min(report.steps.get(number, NO_LINK), link)
        raised = int(batch.counters[FIRST_ERROR])
        if raised != NO_LINK:
            report.step_error = min(report.step_error, raised + base)
        batch.counters[FIRST_ERROR] = failed
        return missed

    def verdicts(self, here: Here) -> dict[int, Array]:
        """Per partition of the batch: `KEPT`, `UNKNOWN` or refused, for each candidate."""
        self._first_event[:] = NO_LINK
        self._refused[:] = 0
        batch = self.worker.batch
        return {p: self._verdict(here, p) for p in np.flatnonzero(batch.used).tolist()}

    def _verdict(self, here: Here, partition: int) -> Array:
        plan, worker, rows = self.plan, self.worker, here.rows
        n = int(worker.batch.used[partition])
        verdict = np.zeros(n, np.uint8)
        pick = np.arange(n)
        while len(pick):
            at = np.zeros(1, np.int64)
            pair = np.zeros(2 * plan.width, np.int64)
            answers = np.zeros(plan.n_steps, np.int64)
            status = kernels.check_steps(
                rows, self.tries, self.outcomes, worker.batch, worker.scratch, partition,
                pick, at, pair, answers, plan.end_terminal, plan.n_step_properties,
                self._first_event, self._refused, verdict,
            )  # fmt: skip
            if status not in (DONE, MISSES_FULL):
                worker.grow_scratch()
            for candidate, *miss in worker.take_misses(again=False).tolist():
                parent = int(worker.batch.link[partition, candidate]) >> POSITION_SHIFT
                before = rows.values[parent].tolist()
                outcome = int(worker.batch.outcome[partition, candidate])
                self.tell(miss, changed(before, outcome, self.outcomes), before)
            pick = pick[int(at[0]) :]
        return verdict

    def _drop(self, pairs: Array) -> Array:
        """Take all steps of some pairs out of the batch; the pairs as (position, root)."""
        plan, batch = self.plan, self.worker.batch
        action_bits = POSITION_SHIFT - plan.ordinal_bits
        actions = (pairs & ((1 << action_bits) - 1)) + plan.first_action
        for partition in np.flatnonzero(batch.used).tolist():
            n = int(batch.used[partition])
            own = batch.link[partition, :n] >> plan.ordinal_bits
            gone = np.isin(own, pairs)
            roots = (own[gone] & ((1 << action_bits) - 1)) + plan.first_action
            np.subtract.at(batch.fired, roots, 1)
            leave(batch, partition, ~gone)
        return np.stack([pairs >> action_bits, actions], 1)

    def _sort_out(self, here: Here, partition: int, kept: Array, base: int) -> None:
        """Put refused candidates aside, and drop steps that lead back to where they start."""
        plan, rows = self.plan, here.rows
        batch, n = self.worker.batch, len(kept)
        if not kept.all():
            refused = picked(batch, partition, ~kept)
            aside, before = self.aside, self.aside.n
            ignored = np.zeros(plan.end_action - plan.first_action, np.int64)
            aside.take(rows, self.outcomes, refused, ignored, plan.ordinal_bits)
            aside.segment.link[before : aside.n] += base
        parents = batch.link[partition, :n] >> POSITION_SHIFT
        moved = batch.fp[partition, :n] != rows.fp[parents]
        if plan.wide:
            moved |= batch.low[partition, :n] != rows.low[parents]
        leave(batch, partition, kept & moved)


def changed(row: list[int], outcome: int, outcomes: Outcomes) -> list[int]:
    """A row after an outcome whose updates are all known."""
    first, total = int(outcomes.start[outcome]), int(outcomes.total[outcome])
    result = list(row)
    for write in range(first, first + total):
        slot, new = int(outcomes.slot[write]), int(outcomes.value[write])
        result.extend([0] * (slot + 1 - len(result)))
        if new < 0:
            start = int(outcomes.operation_base[-1 - new])
            new = int(outcomes.operation_result[start + result[slot]]) - 1
        result[slot] = new
    return result
