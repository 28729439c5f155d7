"""The second half of a level, on executors: merge what arrives for a task, check it, write it.

What was visited before is dropped, the rest is the next level: its properties are checked, and
constraints take out what is not to be expanded. Where the attempt before left states, those are
merged too, and everything is judged anew; what was found to hold is not looked at again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from checker.native.arrays import (
    FIRST_ERROR,
    NO_LINK,
    POSITION_SHIFT,
    Array,
    Outcomes,
    Rows,
    Tries,
)
from checker.native.run_kernels import mark, merge
from checker.native.workers import Worker
from checker.spark.blobs import States, narrow, wide
from checker.spark.expanding import EXAMPLES, NEVER
from checker.spark.files import Damaged, Part, Stored, opened, write
from checker.spark.plan import Expanded, Left, Merged, Plan
from checker.spark.step_checks import take_misses


def merge_task(
    plan: Plan, learned: tuple[Tries, Outcomes], task: int, arrived: Iterable[tuple[str, Any]]
) -> Iterator[Expanded | Merged]:
    """The reports of both halves of a task."""
    blobs: dict[str, list[States]] = {"states": [], "aside": []}
    for kind, content in arrived:
        if kind == "expanded":
            yield content
        else:
            blobs[kind].append(States(*content))
    try:
        yield Merger(plan, *learned, task).run(blobs)
    except Damaged as damage:
        yield Merged(task, damaged=str(damage))


class Merger:
    """One task's work."""

    def __init__(self, plan: Plan, tries: Tries, outcomes: Outcomes, task: int) -> None:
        self.plan, self.tries, self.outcomes, self.task = plan, tries, outcomes, task
        self.report = Merged(task)
        self.report.fresh = np.zeros(plan.end_action - plan.first_action, np.int64)
        self.report.walks = np.zeros(plan.n_roots, np.int64)
        self.left = plan.before[task] if plan.before else Left()
        self.examples: dict[tuple[int, ...], int] = {}

    def run(self, blobs: dict[str, list[States]]) -> Merged:
        """Merge, check and write; the report."""
        plan, report = self.plan, self.report
        arrived = blobs["states"] or blobs["aside"]
        if plan.before and not arrived and self.task not in plan.again:
            report.changed = False
            return report
        runs = [self._own(run) for run in plan.runs]
        if len(plan.runs) - plan.compact > 1 and not plan.before:
            report.run = self._compacted(runs[plan.compact :])
        old, cut, outside = self._before()
        states = self._merged([old, cut, *blobs.pop("states")], runs)
        aside = self._merged([outside, *blobs.pop("aside")], [*runs, states.fp])
        keep = self._check(states)
        self._check(aside, constraints=False)
        self._write(states, keep, aside)
        kept = states.link[keep]
        actions = (kept >> plan.ordinal_bits) & ((1 << (POSITION_SHIFT - plan.ordinal_bits)) - 1)
        assert report.fresh is not None
        report.fresh += np.bincount(actions, minlength=len(report.fresh))
        return report

    # -- what is there ---------------------------------------------------------------------------

    def _own(self, run: tuple[Part, ...]) -> Array:
        """The fingerprints of a run that are this task's."""
        division, found = self.plan.division, []
        for part, _ in division.touched(run, self.task):
            fps = opened(self.plan.folder, part.ids)["fp"]
            found.append(fps[division.share(fps, self.task)])
        if len(found) == 1:
            return found[0]
        return np.concatenate(found) if found else np.zeros(0, np.uint64)

    def _compacted(self, runs: list[Array]) -> Part | None:
        """Some runs of this task as one."""
        plan, task = self.plan, self.task
        fps = np.concatenate(runs) if runs else np.zeros(0, np.uint64)
        if not len(fps):
            return None
        fps.sort(kind="stable")  # merges sorted runs
        stored = write(plan.folder, plan.name("seen", task), {"fp": fps}, plan.durable)
        return plan.division.part(task, len(fps), stored)

    def _before(self) -> tuple[States, States, States]:
        """(new states, those cut, those behind refused steps) of the attempt before."""
        plan, left = self.plan, self.left
        old = cut = outside = _none(plan)
        if left.part is not None and left.part.rows is not None:
            ids = opened(plan.folder, left.part.ids)
            old = _states(plan, {**ids, **opened(plan.folder, left.part.rows)})
        if left.aside is not None:
            columns = opened(plan.folder, left.aside)
            both = _states(plan, columns)
            outside, cut = both.pick(columns["outside"]), both.pick(~columns["outside"])
        return old, cut, outside

    def _merged(self, groups: list[States], runs: list[Array]) -> States:
        """Each state once, by its least link, without those that were visited."""
        groups = [group for group in groups if len(group.fp)]
        if not groups:
            return _none(self.plan)
        sizes = [len(group.fp) for group in groups]
        states = _joined(self.plan, groups)
        order = _order(states, sizes)
        fps = states.fp[order]
        known = np.zeros(len(fps), np.bool_)
        for run in runs:
            mark(fps, run, known)
        new = states.pick(order[~known])
        return new._replace(values=self.plan.packing.unpack(new.values, self.plan.shape().dtype))

    # -- checking --------------------------------------------------------------------------------

    def _check(self, states: States, constraints: bool = True) -> Array:
        """Check states; which of them the constraints, if wanted, keep."""
        plan, report, n = self.plan, self.report, len(states.fp)
        constraints = constraints and plan.n_watched > plan.n_properties
        cut_by = np.full(n if constraints else 0, NEVER)
        if not plan.n_watched or not n:
            return np.ones(n, np.bool_)
        groups = plan.groups
        if not constraints:
            groups = groups.copy()
            groups[2, groups[0] >= plan.n_properties] = 0
        rows = Rows(states.values, states.fp, np.zeros(0, np.uint64), states.quiet)
        events = np.full(plan.n_watched, NEVER)
        worker = Worker(1, plan.n_roots, 1, False)
        worker.begin(0, n, 0)
        while worker.busy:
            worker.check(
                rows, self.tries, groups, (0, plan.first_action), events, cut_by,
                plan.n_properties,
            )  # fmt: skip
            for position, *miss in take_misses(worker).tolist():
                self._tell(miss, rows.values[position].tolist())
        assert report.walks is not None
        report.walks += worker.batch.walks
        self._events(states, events, int(worker.batch.counters[FIRST_ERROR]))
        if not constraints:
            return np.ones(n, np.bool_)
        groups_cut, times = np.unique(cut_by[cut_by != NEVER], return_counts=True)
        for group, count in zip(groups_cut.tolist(), times.tolist(), strict=True):
            report.cut[group] = report.cut.get(group, 0) + count
        result: Array = cut_by == NEVER
        return result

    def _tell(self, miss: list[int], row: list[int]) -> None:
        key = tuple(miss)
        known = self.examples.get(key, 0)
        if known < EXAMPLES:
            self.examples[key] = known + 1
            self.report.misses.append((miss[0], miss[1], miss[2], miss[3], row, None))

    def _events(self, states: States, events: Array, failed: int) -> None:
        """Note the least state per property, and the least in which a predicate raised."""
        report = self.report

        def found(at: int) -> tuple[int, int]:
            return int(states.fp[at]), int(states.link[at])

        if failed != NO_LINK:
            report.state_error = min(filter(None, (report.state_error, found(failed))))
        for group in np.flatnonzero(events[: self.plan.n_properties] != NEVER).tolist():
            here = found(int(events[group]))
            report.events[group] = min(report.events.get(group, here), here)

    # -- writing ---------------------------------------------------------------------------------

    def _write(self, states: States, keep: Array, aside: States) -> None:
        """Write the task's part of the next level, and what a further attempt would need."""
        plan, task = self.plan, self.task
        level = plan.level + 1
        kept = states if keep.all() else states.pick(keep)
        if len(kept.fp):
            ids = {"fp": kept.fp, "link": kept.link}
            rows = {"values": narrow(kept.values), "quiet": kept.quiet}
            self.report.part = plan.division.part(
                task,
                len(kept.fp),
                write(plan.folder, plan.name("level", task, level), ids, plan.durable),
                write(plan.folder, plan.name("rows", task, level), rows, plan.durable),
            )
        if keep.all() and not len(aside.fp):
            return
        cut = states.pick(~keep)
        both = States(*map(np.concatenate, zip(cut, aside, strict=True)))
        outside = np.arange(len(both.fp)) >= len(cut.fp)
        self.report.aside = self._write_aside(both, outside)

    def _write_aside(self, states: States, outside: Array) -> Stored:
        columns = {**states._asdict(), "outside": outside}
        return write(self.plan.folder, self.plan.name("aside", self.task), columns, False)


# -- columns -------------------------------------------------------------------------------------


def _none(plan: Plan) -> States:
    shape = plan.shape()
    rows = shape.rows(0)
    return States(rows.values, rows.fp, rows.quiet, np.zeros(0, np.int64))


def _states(plan: Plan, columns: dict[str, Array]) -> States:
    """States from a file, packed as if they had just arrived."""
    values = wide(columns["values"], plan.width, plan.shape().dtype)
    return States(plan.packing.pack(values), columns["fp"], columns["quiet"], columns["link"])


def _joined(plan: Plan, groups: list[States]) -> States:
    """Groups of packed states one after the other."""
    total = sum(len(group.fp) for group in groups)
    rows = plan.shape().rows(total)
    words = np.empty((total, plan.packing.n_words), np.uint64)
    result = States(words, rows.fp, rows.quiet, np.empty(total, np.int64))
    at = 0
    for group in groups:
        here = slice(at, at + len(group.fp))
        for column, part in zip(result, group, strict=True):
            column[here] = part
        at = here.stop
    groups.clear()
    return result


def _order(states: States, sizes: list[int]) -> Array:
    """The positions of states that are runs one after the other, merged."""
    ends = np.cumsum(sizes).tolist()
    lists = [np.arange(end - n, end) for n, end in zip(sizes, ends, strict=True)]
    while len(lists) > 1:
        pairs = [lists[at : at + 2] for at in range(0, len(lists), 2)]
        lists = []
        for pair in pairs:
            if len(pair) == 1:
                lists.append(pair[0])
                continue
            first, second = pair
            merged = np.empty(len(first) + len(second), np.int64)
            n = merge(states.fp, states.link, first, len(first), second, len(second), merged)
            lists.append(merged[:n])
    return lists[0]
