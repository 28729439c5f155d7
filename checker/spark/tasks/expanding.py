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

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from statewalk.checker.native.kernels.arrays import (
    FIRST_ASSERTION,
    FIRST_ERROR,
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
from statewalk.checker.native.workers import Worker
from statewalk.checker.spark.tasks.blobs import Blob, Filed, Sender, coded, rows_of
from statewalk.checker.spark.tasks.feed import Learned
from statewalk.checker.spark.tasks.files import opened, verified, write
from statewalk.checker.spark.tasks.plan import Examples, Expanded, Here, Plan, same_sources
from statewalk.checker.spark.tasks.room import borrow, give_back
from statewalk.checker.spark.tasks.step_checks import StepChecker

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
        """The pairs to take up, in order; None in the first attempt, which takes up all."""
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
        """What is sent: states, or the name of the file that they were written to."""
        plan, files = self.plan, self.report.files
        if not plan.by_file:
            return blob
        files.append(f"{plan.name('sent', self.report.task)}-{len(files):05}")
        return blob.put(plan.folder, files[-1])

    def _blobs(self, partition: Partition) -> Iterator[tuple[int, Blob]]:
        """The states of a partition, which is empty afterwards, by task of destination."""
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
    """Some of the states of a file, as wide as rows are by now."""
    packed = rows_of(found, own)
    if plan.forget:
        packed.quiet[:] = np.uint64((1 << 64) - 1)
    values = packed.values(plan.width, plan.shape().dtype)
    return Rows(values, ids["fp"][own], ids["low"][own], packed.quiet)
