"""The second half of a level, on executors: merge what arrives for a task, check it, write it.

What was visited before is dropped, the rest is the next level: its properties are checked, and
constraints take out what is not to be expanded. Where the attempt before left states, those are
merged too, and everything is judged anew; what was found to hold is not looked at again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from statewalk.checker.native.kernels.arrays import (
    FIRST_ERROR,
    NO_LINK,
    POSITION_SHIFT,
    Array,
    Outcomes,
    Rows,
    Tries,
)
from statewalk.checker.native.kernels.orbit_arrays import OrbitTables
from statewalk.checker.native.kernels.runs import mark
from statewalk.checker.native.manifests import Damaged
from statewalk.checker.native.orbits import permutations
from statewalk.checker.native.workers import Worker
from statewalk.checker.spark.tasks.blobs import Arrived, Blob, Filed, States, columns_of, rows_of
from statewalk.checker.spark.tasks.expanding import BATCH, NEVER
from statewalk.checker.spark.tasks.feed import Learned
from statewalk.checker.spark.tasks.files import Part, Stored, opened, write
from statewalk.checker.spark.tasks.plan import Examples, Expanded, Left, Merged, Plan
from statewalk.checker.spark.tasks.run_kernels import merge


def merge_task(
    plan: Plan, learned: Learned, task: int, arrived: Iterable[tuple[str, Any]]
) -> Iterator[Expanded | Merged]:
    """Yield the reports of both halves of a task."""
    sent: dict[str, list[Blob | Filed]] = {"states": [], "aside": []}
    for kind, content in arrived:
        if kind == "expanded":
            yield content
        else:
            sent[kind].append(content)
    try:
        blobs = {kind: [_blob(item) for item in items] for kind, items in sent.items()}
        yield Merger(plan, *learned, task).run(blobs)
    except Damaged as damage:
        yield Merged(task, damaged=str(damage))


def _blob(item: Blob | Filed) -> Blob:
    return item.blob() if isinstance(item, Filed) else item


_FEW = 8  # times as many states there have to be for others to be few
Run = tuple[Array, Array]  # fingerprints, and their second words


class Merger:
    """One task's work."""

    def __init__(
        self, plan: Plan, tries: Tries, outcomes: Outcomes, orbits: OrbitTables | None, task: int
    ) -> None:
        self.plan, self.tries, self.outcomes, self.task = plan, tries, outcomes, task
        self.orbits = orbits
        self.report = Merged(task)
        self.report.fresh = np.zeros(plan.end_action - plan.first_action, np.int64)
        self.report.walks = np.zeros(plan.n_roots, np.int64)
        self.left = plan.before[task] if plan.before else Left()
        self.tell = Examples(self.report.misses).tell

    def run(self, blobs: dict[str, list[Blob]]) -> Merged:
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
        states = self._merged([old, cut], self._unseen(blobs.pop("states"), runs))
        behind = self._unseen(blobs.pop("aside"), runs)
        aside = _without(self._merged([outside], behind), states)
        keep = self._check(states)
        self._check(aside, constraints=False)
        if old.fp is states.fp and keep.all() and not len(aside.fp):
            report.part = self.left.part  # the properties not decided before are told of
        else:
            self._write(states, keep, aside)
        self._measure(states if keep.all() else states.pick(keep))
        kept = states.link if keep.all() else states.link[keep]
        actions = (kept >> plan.ordinal_bits) & ((1 << (POSITION_SHIFT - plan.ordinal_bits)) - 1)
        assert report.fresh is not None
        report.fresh += np.bincount(actions, minlength=len(report.fresh))
        return report

    # -- what is there ---------------------------------------------------------------------------

    def _own(self, run: tuple[Part, ...]) -> Run:
        """Return the fingerprints of a run that are this task's."""
        division, found = self.plan.division, []
        for part, _ in division.touched(run, self.task):
            ids = opened(self.plan.folder, part.ids)
            own = division.share(ids["fp"], self.task)
            found.append((ids["fp"][own], ids["low"][own]))
        if len(found) == 1:
            return found[0]
        return _joined(found)

    def _compacted(self, runs: list[Run]) -> Part | None:
        """Some runs of this task as one."""
        plan, task = self.plan, self.task
        fps, lows = _joined(runs)
        if not len(fps):
            return None
        if plan.wide:
            order = np.lexsort((lows, fps))
            fps, lows = fps[order], lows[order]
        else:
            fps.sort(kind="stable")  # merges sorted runs
        columns = {"fp": fps, "low": lows}
        stored = write(plan.folder, plan.name("seen", task), columns, plan.durable)
        return plan.division.part(task, len(fps), stored)

    def _before(self) -> tuple[States, States, States]:
        """(new states, those cut, those behind refused steps) of the attempt before."""
        plan, left = self.plan, self.left
        old = cut = outside = _room(plan, 0)
        if left.part is not None and left.part.rows is not None:
            ids, rows = (opened(plan.folder, f) for f in (left.part.ids, left.part.rows))
            old = _states(plan, ids, rows)
        if left.aside is not None:
            columns = opened(plan.folder, left.aside)
            both = _states(plan, columns, columns)
            outside, cut = both.pick(columns["outside"]), both.pick(~columns["outside"])
        return old, cut, outside

    def _unseen(self, blobs: list[Blob], runs: list[Run]) -> States:
        """Return each state that arrived once, by its least link, without those that were visited.

        Part by part: what is looked at together then stays in the processor's cache. Room that
        turns out not to be needed is never touched, and costs nothing.
        """
        plan, n = self.plan, 0
        found = _room(plan, sum(len(blob.codes) for blob in blobs))
        blobs.sort(key=lambda blob: blob.part)
        while blobs:
            here = [blob for blob in blobs if blob.part == blobs[0].part]
            del blobs[: len(here)]
            arrived = Arrived(here, plan.packing, plan.base, plan.ordinal_bits, self.outcomes)
            order = _order(arrived.fp, arrived.low, arrived.link, arrived.runs)
            fps = arrived.fp[order]
            lows = arrived.low[order] if plan.wide else arrived.low
            known = np.zeros(len(fps), np.bool_)
            for run, run_low in runs:
                first = int(np.searchsorted(run, fps[0]))
                near = slice(first, int(np.searchsorted(run, fps[-1], side="right")))
                mark(fps, lows, run[near], run_low[near], known)
            new = order[~known]
            arrived.pick(new, found.pick(slice(n, n + len(new))))
            n += len(new)
        return found.pick(slice(n))

    def _merged(self, earlier: list[States], new: States) -> States:
        """Return new states, and those of the attempt before: each once, by its least link."""
        groups = [group for group in (*earlier, new) if len(group.fp)]
        if len(groups) < 2:
            return groups[0] if groups else new
        first, last = groups[0], groups[-1]
        if len(groups) == 2 and not self.plan.wide and _FEW * len(last.fp) < len(first.fp):
            return _inserted(first, last)
        all_of = States(*map(np.concatenate, zip(*groups, strict=True)))
        ends = np.cumsum([len(group.fp) for group in groups]).tolist()
        return all_of.pick(_order(all_of.fp, all_of.low, all_of.link, list(pairwise([0, *ends]))))

    # -- checking --------------------------------------------------------------------------------

    def _check(self, states: States, constraints: bool = True) -> Array:
        """Check states; which of them the constraints, if wanted, keep."""
        plan, report = self.plan, self.report
        constraints = constraints and plan.n_watched > plan.n_properties
        keep = np.ones(len(states.fp), np.bool_)
        if not plan.n_watched:
            return keep
        groups = plan.groups
        if not constraints:
            groups = groups.copy()
            groups[2, groups[0] >= plan.n_properties] = 0
        worker = Worker(1, plan.n_roots, 1, plan.wide)
        for first in range(0, len(keep), BATCH):
            batch = states.pick(slice(first, first + BATCH))
            due = _due(batch.quiet, plan.first_action)
            if due.all():
                keep[first + self._check_batch(worker, batch, groups, constraints)] = False
            elif due.any():
                part, at = batch.pick(due), np.flatnonzero(due)
                cut = self._check_batch(worker, part, groups, constraints)
                batch.quiet[at] = part.quiet
                keep[first + at[cut]] = False
        assert report.walks is not None
        report.walks += worker.batch.walks
        return keep

    def _check_batch(
        self, worker: Worker, states: States, groups: Array, constraints: bool
    ) -> Array:
        """Check states in which something is due; the positions of those that are cut."""
        plan, report = self.plan, self.report
        values = plan.packing.unpack(states.packed, plan.shape().dtype)
        rows = Rows(values, states.fp, states.low, states.quiet)
        events = np.full(plan.n_watched, NEVER)
        cut_by = np.full(len(values) if constraints else 0, NEVER)
        worker.begin(0, len(values), 0)
        while worker.busy:
            worker.check(
                rows, self.tries, groups, (0, plan.first_action), events, cut_by,
                plan.n_properties,
            )  # fmt: skip
            for position, *miss in worker.take_misses(again=False).tolist():
                self.tell(miss, values[position].tolist())
        self._events(states, events, int(worker.batch.counters[FIRST_ERROR]))
        cut = np.flatnonzero(cut_by != NEVER)
        groups_cut, times = np.unique(cut_by[cut], return_counts=True)
        for group, count in zip(groups_cut.tolist(), times.tolist(), strict=True):
            report.cut[group] = report.cut.get(group, 0) + count
        return cut

    def _events(self, states: States, events: Array, failed: int) -> None:
        """Note the least state per property, and the least in which a predicate raised."""
        report = self.report

        def found(at: int) -> tuple[tuple[int, int], int]:
            low = int(states.low[at]) if len(states.low) else 0
            return (int(states.fp[at]), low), int(states.link[at])

        if failed != NO_LINK:
            report.state_error = min(filter(None, (report.state_error, found(failed))))
        for group in np.flatnonzero(events[: self.plan.n_properties] != NEVER).tolist():
            here = found(int(events[group]))
            report.events[group] = min(report.events.get(group, here), here)

    def _measure(self, states: States) -> None:
        """Note how many permutations fix the states that are kept."""
        if self.orbits is None:
            return
        plan, found = self.plan, self.report.orbits
        for first in range(0, len(states.fp), BATCH):
            batch = states.pick(slice(first, first + BATCH))
            values = plan.packing.unpack(batch.packed, plan.shape().dtype)
            rows = Rows(values, batch.fp, batch.low, batch.quiet)
            for size, n in permutations(self.orbits, plan.width, rows, self.outcomes).items():
                found[size] = found.get(size, 0) + n

    # -- writing ---------------------------------------------------------------------------------

    def _write(self, states: States, keep: Array, aside: States) -> None:
        """Write the task's part of the next level, and what a further attempt would need."""
        plan, task = self.plan, self.task
        level = plan.level + 1
        kept = states if keep.all() else states.pick(keep)
        if len(kept.fp):
            ids = {"fp": kept.fp, "low": kept.low, "link": kept.link}
            rows = columns_of(kept.packed, kept.quiet, plan.packing)
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
        columns = {
            **columns_of(states.packed, states.quiet, self.plan.packing),
            "fp": states.fp,
            "low": states.low,
            "link": states.link,
            "outside": outside,
        }
        return write(self.plan.folder, self.plan.name("aside", self.task), columns, False)


# -- columns -------------------------------------------------------------------------------------


def _room(plan: Plan, n: int) -> States:
    """Return states that are not filled in."""
    packed = np.empty((n, plan.packing.n_bytes), np.uint8)
    quiet = np.empty((n, plan.words), np.uint64)
    low = np.empty(n * plan.wide, np.uint64)
    return States(packed, np.empty(n, np.uint64), low, quiet, np.empty(n, np.int64))


def _states(plan: Plan, ids: Mapping[str, Array], rows: Mapping[str, Array]) -> States:
    """Return states of an attempt before, as they would arrive now."""
    found = rows_of(rows)
    packed = found.repacked(plan.packing)
    return States(packed, ids["fp"], ids["low"], found.quiet, ids["link"])


def _inserted(states: States, few: States) -> States:
    """Return states and a few more; of those in both the one with the lesser link."""
    at = np.searchsorted(states.fp, few.fp)
    known = states.fp[np.minimum(at, len(states.fp) - 1)] == few.fp
    better = np.flatnonzero(known)
    better = better[few.link[better] < states.link[at[better]]]
    for column, others in zip(states, few, strict=True):
        if len(column):
            column[at[better]] = others[better]
    columns = zip(states, few.pick(~known), strict=True)
    return States(*(np.insert(c, at[~known], o, 0) if len(c) else c for c, o in columns))


def _due(quiet: Array, n_checks: int) -> Array:
    """Return which states have a predicate, one of the first roots, that must be looked at."""
    result = np.zeros(len(quiet), np.bool_)
    for word in range(-(-n_checks // 64)):
        wanted = (1 << min(n_checks - 64 * word, 64)) - 1
        result |= (quiet[:, word] & np.uint64(wanted)) != 0
    return result


def _joined(runs: list[Run]) -> Run:
    """Runs one after the other."""
    none = np.zeros(0, np.uint64)
    fps, lows = map(np.concatenate, zip((none, none), *runs, strict=True))
    return fps, lows


def _without(states: States, others: States) -> States:
    """Return states but for some others."""
    known = np.zeros(len(states.fp), np.bool_)
    mark(states.fp, states.low, others.fp, others.low, known)
    return states.pick(~known) if known.any() else states


def _order(fps: Array, lows: Array, links: Array, runs: list[tuple[int, int]]) -> Array:
    """Return the positions of states that are runs one after the other, merged."""
    lists = [np.arange(first, end) for first, end in runs]
    while len(lists) > 1:
        pairs = [lists[at : at + 2] for at in range(0, len(lists), 2)]
        lists = []
        for pair in pairs:
            if len(pair) == 1:
                lists.append(pair[0])
                continue
            first, second = pair
            merged = np.empty(len(first) + len(second), np.int64)
            n = merge(fps, lows, links, first, len(first), second, len(second), merged)
            lists.append(merged[:n])
    return lists[0]
