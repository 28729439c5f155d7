"""The first half of a level, on executors: expand a task's states, send successors on their way.

Tasks are pure functions of committed files and of what the driver sends: the same content whatever
attempt, written under a temporary name and renamed. So retries, speculation and lost executors are
harmless.

Successors are kept once per task, each with its least link, and sent in the order of their
fingerprints to the tasks that own them. A pair of state and action that nobody has learned yet is
a miss: the driver is told some examples, and a file keeps all of them for the next attempt, which
takes up these pairs only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from statewalk.checker.native.kernels import expand as kernels
from statewalk.checker.native.kernels.arrays import (
    DONE,
    FIRST_ASSERTION,
    FIRST_ERROR,
    MISSES_FULL,
    NO_LINK,
    POSITION_SHIFT,
    Array,
    Outcomes,
    Rows,
    Tries,
)
from statewalk.checker.native.kernels.orbit_arrays import OrbitTables
from statewalk.checker.native.manifests import Damaged
from statewalk.checker.native.orbits import replace
from statewalk.checker.native.states import Partition
from statewalk.checker.native.steps import leave, picked
from statewalk.checker.native.workers import Worker
from statewalk.checker.spark.tasks.blobs import Blob, Filed, Sender, coded, rows_of
from statewalk.checker.spark.tasks.feed import Learned, borrow, give_back
from statewalk.checker.spark.tasks.files import opened, verified, write
from statewalk.checker.spark.tasks.plan import Examples, Expanded, Here, Plan, same_sources

NEVER = np.iinfo(np.int64).max
BATCH = 1 << 13  # states
_HELD = 3 << 28  # bytes of the successors that a task holds before they are sent
_EACH = 2  # successors of a state that there is room for; it grows where there are more
_PARTITION_BITS = 4  # a partition is small enough to be sorted in the processor's cache
_TERMINAL = -1  # in the place of an action: whether the state may end here is not known

Item = tuple[int, tuple[str, Any]]


@dataclass
class Missed:
    """Pairs that are left to the next attempt: (position, action or `_TERMINAL`, moved before)."""

    parts: list[Array] = field(default_factory=list)

    def add(self, positions: Array, roots: Array, moved: Array) -> None:
        """Note pairs."""
        if len(positions):
            self.parts.append(np.stack([positions, roots, moved], 1).astype(np.int64))


def expand_task(plan: Plan, learned: Learned, task: int) -> Iterator[Item]:
    """(task of destination, (kind, content)): successors, and one report to the task itself.

    Raises:  RunError[SW334] where the driver runs other code
    """
    same_sources(plan.sources)
    try:
        expander = Expander(plan, *learned, task)
        yield from expander.run()
        yield task, ("expanded", expander.report)
    except Damaged as damage:
        yield task, ("expanded", Expanded(task, damaged=str(damage)))


class Expander:
    """One task's work."""

    def __init__(
        self, plan: Plan, tries: Tries, outcomes: Outcomes, orbits: OrbitTables | None, task: int
    ) -> None:
        self.plan, self.tries, self.outcomes, self.orbits = plan, tries, outcomes, orbits
        self.report = Expanded(task)
        self.tell = Examples(self.report.misses).tell
        n_actions = plan.end_action - plan.first_action
        self.report.fired = np.zeros(n_actions, np.int64)
        self.report.walks = np.zeros(plan.n_roots, np.int64)
        bits = max(_PARTITION_BITS, (plan.division.tasks - 1).bit_length())
        self.shift = 64 - bits
        self.most = _HELD // (plan.shape().bytes + 8 * (1 + plan.wide))  # and a cell of the table
        self.room = borrow(bits, plan.n_roots, plan.shape())
        self.worker, self.kept = self.room.worker, self.room.partitions
        self.aside = Partition(0, 1, plan.shape())  # behind steps that a constraint refuses
        self.steps: StepChecker | None = None
        if plan.n_steps:
            self.steps = StepChecker(
                plan, self.report, self.worker, tries, outcomes, self.aside, self.tell
            )
        self.missed = Missed()
        self._scratch = np.zeros(n_actions, np.int64)

    def run(self) -> Iterator[Item]:
        """Expand everything; successors come as they fill up the room for them."""
        plan, task, most = self.plan, self.report.task, 0
        pairs = self._pairs(task)
        for part, offset in plan.division.touched(plan.parts, task):
            assert part.rows is not None
            look = verified if plan.durable and pairs is None else opened
            ids, rows = look(plan.folder, part.ids), look(plan.folder, part.rows)
            own = plan.division.share(ids["fp"], task)
            if pairs is None:
                self._reserve(own.stop - own.start)
            for first in range(own.start, own.stop, BATCH):
                end = min(own.stop, first + BATCH)
                chosen = None
                if pairs is not None:
                    low, high = np.searchsorted(pairs[:, 0], [offset + first, offset + end])
                    chosen = pairs[low:high]
                    if not len(chosen):
                        continue
                batch = slice(first, end)
                self.expand_batch(Here(_rows(plan, rows, ids, batch), offset + first), chosen)
                held = sum(p.n for p in self.kept)
                most = max(most, held)
                if held > self.most:
                    yield from self._send()
        yield from self._send()
        give_back(self.room, most if pairs is None else self.most)
        if self.missed.parts:
            left = np.concatenate(self.missed.parts)
            left = left[np.lexsort((left[:, 1], left[:, 0]))]
            self.report.missed = write(
                plan.folder, plan.name("missed", task), {"pairs": left}, durable=False
            )

    def _reserve(self, n: int) -> None:
        """Have room for the successors of so many states, which costs nothing until they come."""
        room = 64 + min(self.most, _EACH * n) // len(self.kept)
        for partition in self.kept:
            partition.prepare(room)

    def _pairs(self, task: int) -> Array | None:
        """Return the pairs to take up, in order; None in the first attempt, which takes up all."""
        if not self.plan.before:
            return None
        missed = self.plan.before[task].missed
        if missed is None:
            return np.zeros((0, 3), np.int64)
        return opened(self.plan.folder, missed)["pairs"]

    # -- a batch ---------------------------------------------------------------------------------

    def expand_batch(self, here: Here, chosen: Array | None) -> None:
        """Expand a batch: all pairs, or the chosen ones."""
        plan, worker, report = self.plan, self.worker, self.report
        n = len(here.rows.fp)
        worker.begin(0, n, plan.first_action)
        worker.batch.moving[:] = plan.moving
        moved = np.zeros(n, np.bool_)
        asked = np.ones(n, np.bool_)
        if chosen is not None:
            at = chosen[:, 0] - here.offset
            asked[:] = False
            asked[at] = True
            moved[at] = chosen[:, 2] > 0
            actions = chosen[:, 1] != _TERMINAL
            worker.pairs = np.ascontiguousarray(np.stack([at[actions], chosen[actions, 1]], 1))
            worker.finished = True
        fixed = (plan.first_action, plan.end_action, plan.ordinal_bits, self.shift,
                 int(self.steps is not None))  # fmt: skip
        missed = self.finish(
            worker,
            lambda: worker.expand(here.rows, self.tries, self.outcomes, fixed),
            here.rows,
        )
        if self.orbits is not None:
            replace(self.orbits, plan.width, worker, here.rows, self.outcomes, self.shift)
        worker.sort()
        moved |= worker.batch.moves[:n] > 0
        base = here.offset << POSITION_SHIFT
        if self.steps is not None:
            missed = np.concatenate([missed, self.steps.check(here)])
        self._count(base)
        if plan.deadlock:
            open_rows = np.zeros(n, np.bool_)
            open_rows[missed[:, 0]] = True
            self._deadlocks(here, np.flatnonzero(asked & ~moved & ~open_rows))
        self.missed.add(missed[:, 0] + here.offset, missed[:, 1], moved[missed[:, 0]])
        assert report.fired is not None
        for partition in self.kept:
            # Links of the batch count positions from its start, those kept from the level's.
            before = partition.n
            partition.take(here.rows, self.outcomes, worker.batch, self._scratch, plan.ordinal_bits)
            partition.segment.link[before : partition.n] += base

    def _count(self, base: int) -> None:
        """Take over a batch's counters."""
        plan, report, batch = self.plan, self.report, self.worker.batch
        assert report.fired is not None
        assert report.walks is not None
        report.fired += batch.fired[plan.first_action : plan.end_action]
        report.walks += batch.walks
        batch.fired[:] = 0
        batch.walks[:] = 0
        for at, attribute in ((FIRST_ASSERTION, "assertion"), (FIRST_ERROR, "error")):
            link = int(batch.counters[at])
            if link != NO_LINK:
                link = link + base if link >= 0 else link
                setattr(report, attribute, min(getattr(report, attribute), link))

    def finish(self, worker: Worker, run: Any, rows: Rows) -> Array:
        """Run to the end of the range; the (position, root) pairs that were missed."""
        missed = [np.zeros((0, 2), np.int64)]
        while worker.busy:
            run()
            misses = worker.take_misses(again=False)
            missed.append(misses[:, :2])
            for position, *miss in misses.tolist():
                self.tell(miss, rows.values[position].tolist())
        return np.concatenate(missed)

    # -- deadlocks -------------------------------------------------------------------------------

    def _deadlocks(self, here: Here, stuck: Array) -> None:
        """Note the least of some positions at which no terminal predicate holds."""
        plan = self.plan
        if len(stuck) and plan.end_terminal > plan.end_action:
            stuck = self._not_terminal(here, stuck)
        if len(stuck):
            self.report.stuck = min(self.report.stuck, here.offset + int(stuck[0]))

    def _not_terminal(self, here: Here, stuck: Array) -> Array:
        plan, rows = self.plan, here.rows
        low = rows.low[stuck] if plan.wide else rows.low
        part = Rows(rows.values[stuck], rows.fp[stuck], low, rows.quiet[stuck])
        helper = Worker(1, plan.n_roots, 1, plan.wide)
        numbers = np.arange(plan.end_action, plan.end_terminal)
        pairs = np.stack(
            [np.repeat(np.arange(len(stuck)), len(numbers)), np.tile(numbers, len(stuck))], 1
        )
        helper.begin(0, len(stuck), plan.end_action)
        helper.pairs, helper.finished = np.ascontiguousarray(pairs), True
        holds, events = np.full(len(stuck), NEVER), np.full(len(numbers), NEVER)
        span = (plan.end_action, plan.end_terminal)
        missed = self.finish(
            helper,
            lambda: helper.check(part, self.tries, plan.terminal_groups, span, events, holds, 0),
            part,
        )
        unknown = np.unique(missed[:, 0])
        self.missed.add(
            here.offset + stuck[unknown],
            np.full(len(unknown), _TERMINAL),
            np.zeros(len(unknown), np.int64),
        )
        if helper.batch.counters[FIRST_ERROR] != NO_LINK:
            at = here.offset + int(stuck[int(helper.batch.counters[FIRST_ERROR])])
            self.report.terminal_error = min(self.report.terminal_error, at)
        sure = holds == NEVER
        sure[unknown] = False
        result: Array = stuck[sure]
        return result

    # -- sending ---------------------------------------------------------------------------------

    def _send(self) -> Iterator[Item]:
        """Send what is held, cut at the borders of the tasks."""
        for kind, partitions in (("states", self.kept), ("aside", [self.aside])):
            for partition in partitions:
                if not partition.n:
                    continue
                for target, blob in self._blobs(partition):
                    self.report.sent += blob.nbytes
                    yield target, (kind, self._on_its_way(blob))

    def _on_its_way(self, blob: Blob) -> Blob | Filed:
        """Return what is sent: states, or the name of the file that they were written to."""
        plan, files = self.plan, self.report.files
        if not plan.by_file:
            return blob
        files.append(f"{plan.name('sent', self.report.task)}-{len(files):05}")
        return blob.put(plan.folder, files[-1])

    def _blobs(self, partition: Partition) -> Iterator[tuple[int, Blob]]:
        """Yield the states of a partition, which is empty afterwards, by task of destination."""
        plan, segment, n = self.plan, partition.segment, partition.n
        fps, lows = segment.fp[:n], segment.low[:n]
        order = partition.order()
        sent = (fps, lows)[: 1 + plan.wide] if plan.orbits else ()
        cuts = np.searchsorted(fps, plan.division.cuts(), sorter=order).tolist()
        sender = Sender(
            partition.number, plan.packing, plan.ordinal_bits, segment.values, segment.link,
            coded(segment.quiet[:n]), sent,
        )  # fmt: skip
        for target, (start, stop) in enumerate(pairwise([0, *cuts, n])):
            if stop > start:
                yield target, sender.blob(order[start:stop])
        partition.table[:] = 0
        partition.entries = partition.n = 0
        self.report.records += n


def _rows(plan: Plan, found: dict[str, Array], ids: dict[str, Array], own: slice) -> Rows:
    """Return some of the states of a file, as wide as rows are by now."""
    packed = rows_of(found, own)
    if plan.forget:
        packed.quiet[:] = np.uint64((1 << 64) - 1)
    values = packed.values(plan.width, plan.shape().dtype)
    return Rows(values, ids["fp"][own], ids["low"][own], packed.quiet)


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
    """Return a row after an outcome whose updates are all known."""
    first, total = int(outcomes.start[outcome]), int(outcomes.total[outcome])
    result = list(row)
    for at in range(first, first + total):
        slot, new = int(outcomes.slot[at]), int(outcomes.value[at])
        result.extend([0] * (slot + 1 - len(result)))
        if new < 0:
            start = int(outcomes.operation_base[-1 - new])
            new = int(outcomes.operation_result[start + result[slot]]) - 1
        result[slot] = new
    return result
