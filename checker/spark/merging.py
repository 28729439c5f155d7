"""The second half of a level, on executors: merge what arrives for a task, check it, write it.

What was visited before is dropped, the rest is the next level: its properties are checked, and
constraints take out what is not to be expanded. Where the attempt before left states, those are
merged too, and everything is judged anew; what was found to hold is not looked at again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

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
from checker.native.workers import Worker
from checker.spark.blobs import unpacked
from checker.spark.expanding import EXAMPLES, NEVER
from checker.spark.files import Damaged, Part, Stored, opened, write
from checker.spark.plan import Expanded, Left, Merged, Plan
from checker.spark.step_checks import take_misses


class States(NamedTuple):
    """States in the order of their fingerprints."""

    values: Array
    fp: Array
    quiet: Array
    link: Array

    def pick(self, which: Array) -> States:
        """Some of them, by mask or position."""
        return States(*(array[which] for array in self))


def merge_task(
    plan: Plan, learned: tuple[Tries, Outcomes], task: int, arrived: Iterable[tuple[str, Any]]
) -> Iterator[Expanded | Merged]:
    """The reports of both halves of a task."""
    blobs: dict[str, list[bytes]] = {"states": [], "aside": []}
    for kind, content in arrived:
        if kind == "expanded":
            yield content
        else:
            blobs[kind].append(content)
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

    def run(self, blobs: dict[str, list[bytes]]) -> Merged:
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
        new = self._new(_joined(plan, blobs["states"]), runs)
        states = _least([old, cut, new])
        aside = self._new(_joined(plan, blobs["aside"]), runs)
        aside = _least([outside, aside])
        aside = aside.pick(~_within(aside.fp, states.fp))
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
        stored = write(plan.folder, plan.name("seen", task), {"fp": fps})
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

    def _new(self, states: States, runs: list[Array]) -> States:
        """Each state once, by its least link, without those that were visited."""
        states = _least([states])
        known = np.zeros(len(states.fp), np.bool_)
        for run in runs:
            known |= _within(states.fp, run)
        return states.pick(~known) if known.any() else states

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
            rows = {"values": kept.values, "quiet": kept.quiet}
            self.report.part = plan.division.part(
                task,
                len(kept.fp),
                write(plan.folder, plan.name("level", task, level), ids),
                write(plan.folder, plan.name("rows", task, level), rows),
            )
        if keep.all() and not len(aside.fp):
            return
        cut = states.pick(~keep)
        both = States(*map(np.concatenate, zip(cut, aside, strict=True)))
        outside = np.arange(len(both.fp)) >= len(cut.fp)
        self.report.aside = self._write_aside(both, outside)

    def _write_aside(self, states: States, outside: Array) -> Stored:
        columns = {**states._asdict(), "outside": outside}
        return write(self.plan.folder, self.plan.name("aside", self.task), columns)


# -- columns -------------------------------------------------------------------------------------


def _none(plan: Plan) -> States:
    shape = plan.shape()
    rows = shape.rows(0)
    return States(rows.values, rows.fp, rows.quiet, np.zeros(0, np.int64))


def _states(plan: Plan, columns: dict[str, Array]) -> States:
    """States from a file, as wide as rows are by now."""
    values, dtype = columns["values"], plan.shape().dtype
    if values.shape[1] < plan.width or values.dtype != dtype:
        wider = np.zeros((len(values), plan.width), dtype)
        wider[:, : values.shape[1]] = values
        values = wider
    return States(values, columns["fp"], columns["quiet"], columns["link"])


def _joined(plan: Plan, blobs: list[bytes]) -> States:
    """What arrived, one blob after the other."""
    if not blobs:
        return _none(plan)
    parts = [unpacked(blob) for blob in blobs]
    blobs.clear()
    if len(parts) == 1:
        return States(*parts[0])
    return States(*map(np.concatenate, zip(*parts, strict=True)))


def _least(groups: list[States]) -> States:
    """The states of several groups in order, each once, by its least link."""
    groups = [g for g in groups if len(g.fp)] or groups[:1]
    states = groups[0]
    if len(groups) > 1:
        states = States(*map(np.concatenate, zip(*groups, strict=True)))
    if len(states.fp) < 2 or (states.fp[1:] > states.fp[:-1]).all():
        return states
    order = np.argsort(states.fp, kind="stable")  # merges sorted runs
    fp, link = states.fp[order], states.link[order]
    starts = np.flatnonzero(np.concatenate([[True], fp[1:] != fp[:-1]]))
    if len(starts) < len(fp):
        least = np.minimum.reduceat(link, starts)
        order = order[link == np.repeat(least, np.diff(starts, append=len(fp)))]
    return states.pick(order)


def _within(fps: Array, run: Array) -> Array:
    """Which of some sorted fingerprints are in a sorted run."""
    if not len(run) or not len(fps):
        return np.zeros(len(fps), np.bool_)
    at = np.searchsorted(run, fps)
    at[at == len(run)] = 0
    result: Array = run[at] == fps
    return result
