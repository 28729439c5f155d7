"""What executors do: expand buckets of a level, and merge what comes out of them.

Tasks are pure functions of committed files and of what is broadcast: the same content whatever
attempt, written under a temporary name and renamed. So retries, speculation and lost executors are
harmless.

A state's bucket is the high bits of its fingerprint. Its position in the level counts over the
buckets in order, and each bucket is sorted by fingerprint; so positions are in the order of
fingerprints, and links (see `checker.native.arrays`) compare as the engine contract wants.
"""

from __future__ import annotations

import gc
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from checker.native.arrays import (
    FIRST_ASSERTION,
    FIRST_ERROR,
    NO_LINK,
    POSITION_SHIFT,
    Array,
    Outcomes,
    Rows,
    Tries,
)
from checker.native.states import Partition, Shape
from checker.native.workers import Worker

_NEVER = np.iinfo(np.int64).max
_BATCH = 1 << 13
_EXAMPLES = 8  # rows reported per miss: what lies behind it differs between them
COLUMNS = ("values", "fp", "quiet", "link")


@dataclass(frozen=True)
class Plan:
    """What every task of an attempt at a level knows. Positions start at ``offsets`` per bucket."""

    folder: str
    level: int
    attempt: int
    buckets: int
    tasks: int
    offsets: tuple[int, ...]
    names: tuple[str, ...]
    runs: tuple[tuple[str, ...], ...]
    compact: bool
    tries: Tries
    outcomes: Outcomes
    width: int
    wide_ids: bool
    words: int
    n_roots: int
    first_action: int
    end_action: int
    end_terminal: int
    ordinal_bits: int
    deadlock: bool
    groups: Array
    terminal_groups: Array
    n_watched: int
    n_properties: int

    @property
    def shift(self) -> int:
        """How far to shift a fingerprint to get its bucket."""
        return 64 - (self.buckets.bit_length() - 1)

    def task_of(self, bucket: int) -> int:
        """The task that a bucket belongs to."""
        return bucket * self.tasks // self.buckets

    def buckets_of(self, task: int) -> list[int]:
        """The buckets of a task."""
        return [b for b in range(self.buckets) if self.task_of(b) == task]

    def shape(self) -> Shape:
        """The shape of new rows."""
        return Shape(
            self.width, np.dtype(np.uint32 if self.wide_ids else np.uint16), self.words, False
        )


@dataclass
class Found:
    """What a task reports to the driver. Misses are (root, kind, operand, value, row)."""

    misses: list[tuple[int, int, int, int, list[int]]] = field(default_factory=list)
    fired: Array | None = None
    fresh: Array | None = None
    walks: Array | None = None
    assertion: int = NO_LINK
    error: int = NO_LINK
    stuck: int = NO_LINK
    terminal_error: int = NO_LINK
    sizes: dict[int, int] = field(default_factory=dict)
    events: dict[int, tuple[int, int]] = field(default_factory=dict)
    state_error: tuple[int, int] | None = None
    cut: dict[int, int] = field(default_factory=dict)
    records: int = 0
    shuffled: int = 0


@lru_cache(maxsize=1)
def warm_up() -> None:
    """Once per worker process: keep the collector from walking over all that never goes away."""
    gc.collect()
    gc.freeze()


# -- files -----------------------------------------------------------------------------------------


def save(file: Path, array: Array) -> None:
    """Write an array under a temporary name, then rename it."""
    import os

    part = file.with_name(f".{file.name}.{os.getpid()}")
    with open(part, "wb") as stream:
        np.save(stream, array)
    os.replace(part, file)


def column(folder: str, name: str, which: str, *, mapped: bool = True) -> Array:
    """A column of a bucket's file set."""
    found: Array = np.load(Path(folder, f"{name}.{which}.npy"), mmap_mode="r" if mapped else None)
    return found


# -- expanding -------------------------------------------------------------------------------------


def expand_task(plan: Plan, task: int) -> Iterator[tuple[int, Any]]:
    """(task of destination, blob) for every successor of the task's buckets, and one report."""
    warm_up()
    report = Found(fired=np.zeros(plan.end_action - plan.first_action, np.int64))
    report.walks = np.zeros(plan.n_roots, np.int64)
    shape = plan.shape()
    partitions = [Partition(number, plan.buckets, shape) for number in range(plan.buckets)]
    worker = Worker(plan.buckets, plan.n_roots, 1 << 10, False)
    for bucket in plan.buckets_of(task):
        _expand_bucket(plan, bucket, worker, partitions, report)
    if report.misses:
        yield task, ("misses", Found(misses=report.misses))
        return
    for partition in partitions:
        if partition.n:
            rows, link = shape.rows(partition.n), np.empty(partition.n, np.int64)
            count = partition.n
            partition.release(rows, link, 0)
            report.records += count
            blob = _packed(rows.values, rows.fp, rows.quiet, link)
            report.shuffled += len(blob)
            yield plan.task_of(partition.number), ("states", partition.number, blob)
    yield task, ("report", report)


def _expand_bucket(
    plan: Plan, bucket: int, worker: Worker, partitions: list[Partition], report: Found
) -> None:
    name = plan.names[bucket]
    if not name:
        return
    values, fp = column(plan.folder, name, "values"), column(plan.folder, name, "fp")
    quiet = np.array(column(plan.folder, name, "quiet"))
    if values.shape[1] < plan.width or values.dtype != plan.shape().dtype:
        wider = np.zeros((len(values), plan.width), plan.shape().dtype)
        wider[:, : values.shape[1]] = values
        values = wider
    rows = Rows(np.ascontiguousarray(values), np.array(fp), np.zeros(0, np.uint64), quiet)
    base = plan.offsets[bucket] << POSITION_SHIFT
    fixed = (plan.first_action, plan.end_action, plan.ordinal_bits, plan.shift, 0)
    scratch = np.zeros(plan.end_action - plan.first_action, np.int64)
    for first in range(0, len(fp), _BATCH):
        end = min(len(fp), first + _BATCH)
        worker.begin(first, end, plan.first_action)
        _finish(worker, lambda: worker.expand(rows, plan.tries, plan.outcomes, fixed), rows, report)
        if report.misses:
            continue  # only what else is missing matters now
        worker.sort()
        batch = worker.batch
        assert report.fired is not None
        assert report.walks is not None
        report.fired += batch.fired[plan.first_action : plan.end_action]
        report.walks += batch.walks
        batch.fired[:] = 0
        batch.walks[:] = 0
        for at, attribute in ((FIRST_ASSERTION, "assertion"), (FIRST_ERROR, "error")):
            if batch.counters[at] != NO_LINK:
                link = int(batch.counters[at]) + base
                setattr(report, attribute, min(getattr(report, attribute), link))
        if plan.deadlock:
            _deadlocks(plan, bucket, worker, rows, report)
        for partition in partitions:
            # Links of the batch count positions from the bucket's start, those kept from the
            # level's.
            before = partition.n
            partition.take(rows, plan.outcomes, batch, scratch, plan.ordinal_bits)
            partition.segment.link[before : partition.n] += base


def _finish(worker: Worker, run: Any, rows: Rows, report: Found) -> None:
    """Run to the end of the range; what is missing is reported, not tried again."""
    found: dict[tuple[int, ...], int] = {}
    while worker.busy:
        run()
        for position, *miss in worker.take_misses().tolist():
            examples = found.get(tuple(miss), 0)
            if examples < _EXAMPLES:
                found[tuple(miss)] = examples + 1
                root, kind, operand, value = miss
                report.misses.append((root, kind, operand, value, rows.values[position].tolist()))
        worker.forget_pairs()


def _deadlocks(plan: Plan, bucket: int, worker: Worker, rows: Rows, report: Found) -> None:
    n = worker.end - worker.first
    stuck = worker.first + np.flatnonzero(worker.batch.moves[:n] == 0)
    if len(stuck) and plan.end_terminal > plan.end_action:
        stuck = _not_terminal(plan, bucket, stuck, rows, report)
    if len(stuck):
        report.stuck = min(report.stuck, plan.offsets[bucket] + int(stuck[0]))


def _not_terminal(plan: Plan, bucket: int, stuck: Array, rows: Rows, report: Found) -> Array:
    part = Rows(rows.values[stuck], rows.fp[stuck], rows.low, rows.quiet[stuck])
    helper = Worker(1, plan.n_roots, 1, False)
    numbers = np.arange(plan.end_action, plan.end_terminal)
    pairs = np.stack(
        [np.repeat(np.arange(len(stuck)), len(numbers)), np.tile(numbers, len(stuck))], 1
    )
    helper.begin(0, len(stuck), plan.end_action)
    helper.pairs, helper.finished = np.ascontiguousarray(pairs), True
    holds, events = np.full(len(stuck), _NEVER), np.full(len(numbers), _NEVER)
    span = (plan.end_action, plan.end_terminal)
    _finish(
        helper,
        lambda: helper.check(part, plan.tries, plan.terminal_groups, span, events, holds, 0),
        part,
        report,
    )
    if helper.batch.counters[FIRST_ERROR] != NO_LINK:
        at = plan.offsets[bucket] + int(stuck[int(helper.batch.counters[FIRST_ERROR])])
        report.terminal_error = min(report.terminal_error, at)
    result: Array = stuck[holds == _NEVER]
    return result


def _packed(*arrays: Array) -> bytes:
    stream = io.BytesIO()
    for array in arrays:
        np.save(stream, np.ascontiguousarray(array))
    return stream.getvalue()


def _unpacked(blob: bytes) -> list[Array]:
    stream = io.BytesIO(blob)
    return [np.load(stream) for _ in COLUMNS]


# -- merging ---------------------------------------------------------------------------------------


def merge_task(plan: Plan, task: int, arrived: Iterable[tuple[int, Any]]) -> Iterator[Found]:
    """Merge what arrived for the task's buckets, check it, and write the next level's files."""
    warm_up()
    blobs: dict[int, list[bytes]] = {}
    missing = False
    for _, (kind, *rest) in arrived:
        if kind == "states":
            blobs.setdefault(rest[0], []).append(rest[1])
        else:
            missing = missing or kind == "misses"
            yield rest[0]
    if missing:
        return
    report = Found(fresh=np.zeros(plan.end_action - plan.first_action, np.int64))
    report.walks = np.zeros(plan.n_roots, np.int64)
    for bucket in plan.buckets_of(task):
        _merge_bucket(plan, bucket, blobs.get(bucket, []), report)
    yield Found(misses=report.misses) if report.misses else report


def _merge_bucket(plan: Plan, bucket: int, blobs: list[bytes], report: Found) -> None:
    visited = [column(plan.folder, run, "fp") for run in plan.runs[bucket]]
    if not blobs:
        if plan.compact:
            save_run(plan, bucket, visited)
        return
    parts = [_unpacked(blob) for blob in blobs]
    values, fp, quiet, link = (np.concatenate([p[at] for p in parts]) for at in range(len(COLUMNS)))
    order = np.lexsort((link, fp))
    first = np.ones(len(order), np.bool_)
    first[1:] = fp[order][1:] != fp[order][:-1]
    order = order[first]
    known = np.zeros(len(order), np.bool_)
    ordered = fp[order]
    for run in visited:
        at = np.searchsorted(run, ordered)
        at[at == len(run)] = 0
        known |= (run[at] == ordered) if len(run) else False
    order = order[~known]
    rows = Rows(
        np.ascontiguousarray(values[order]), fp[order], np.zeros(0, np.uint64),
        np.ascontiguousarray(quiet[order]),
    )  # fmt: skip
    link = link[order]
    keep = _check(plan, bucket, rows, link, report)
    _write(plan, bucket, rows, link, keep)
    fresh = (link[keep] >> plan.ordinal_bits) & ((1 << (POSITION_SHIFT - plan.ordinal_bits)) - 1)
    assert report.fresh is not None
    report.fresh += np.bincount(fresh, minlength=len(report.fresh))
    report.sizes[bucket] = int(keep.sum())
    if plan.compact:
        save_run(plan, bucket, [*visited, rows.fp[keep]])


def save_run(plan: Plan, bucket: int, runs: list[Array]) -> None:
    """Write the visited fingerprints of a bucket as one sorted run."""
    joined = np.concatenate([np.asarray(r) for r in runs]) if runs else np.zeros(0, np.uint64)
    joined.sort()
    save(Path(plan.folder, f"{run_name(plan.level + 1, plan.attempt, bucket)}.fp.npy"), joined)


def run_name(level: int, attempt: int, bucket: int) -> str:
    """The name of a compacted run of visited fingerprints."""
    return f"seen-{level:04}-{attempt:02}-{bucket:03}"


def bucket_name(level: int, attempt: int, bucket: int) -> str:
    """The name of the file set of a bucket of a level."""
    return f"level-{level:04}-{attempt:02}-{bucket:03}"


def _write(plan: Plan, bucket: int, rows: Rows, link: Array, keep: Array) -> None:
    name = bucket_name(plan.level + 1, plan.attempt, bucket)
    for which, array in zip(COLUMNS, (rows.values, rows.fp, rows.quiet, link), strict=True):
        save(Path(plan.folder, f"{name}.{which}.npy"), array[keep])


def _check(plan: Plan, bucket: int, rows: Rows, link: Array, report: Found) -> Array:
    """Check new states; which of them the constraints keep."""
    n = len(link)
    constrained = plan.n_watched > plan.n_properties
    cut_by = np.full(n if constrained else 0, _NEVER)
    if not plan.n_watched or not n:
        return np.ones(n, np.bool_)
    events = np.full(plan.n_watched, _NEVER)
    worker = Worker(1, plan.n_roots, 1, False)
    worker.begin(0, n, 0)
    span = (0, plan.first_action)
    _finish(
        worker,
        lambda: worker.check(
            rows, plan.tries, plan.groups, span, events, cut_by, plan.n_properties
        ),
        rows,
        report,
    )
    assert report.walks is not None
    report.walks += worker.batch.walks
    failed = int(worker.batch.counters[FIRST_ERROR])
    if failed != NO_LINK:
        found = (int(rows.fp[failed]), int(link[failed]))
        report.state_error = min(filter(None, (report.state_error, found)))
    for group in np.flatnonzero(events[: plan.n_properties] != _NEVER).tolist():
        at = int(events[group])
        found = (int(rows.fp[at]), int(link[at]))
        report.events[group] = min(report.events.get(group, found), found)
    if not constrained:
        return np.ones(n, np.bool_)
    for group, times in zip(*np.unique(cut_by[cut_by != _NEVER], return_counts=True), strict=True):
        report.cut[int(group)] = report.cut.get(int(group), 0) + int(times)
    result: Array = cut_by == _NEVER
    return result
