"""The driver: learns, plans a job per level, commits what the tasks wrote.

Early levels, while they are small, run natively in the driver; then the frontier and the visited
fingerprints are spilled into buckets, and each further level is one job with one shuffle.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from checker.engine import DEADLOCK, Exploration, SearchOptions, StoppedBy
from checker.native.arrays import EDGE, NO_LINK, Array
from checker.native.findings import Stage, _Candidate
from checker.native.running import _check_initial, _result, start
from checker.native.search import Search
from checker.spark import tasks
from checker.spark.levels import FileLevel
from checker.spark.session import cluster_session, local_session
from checker.spark.tasks import Found, Plan
from dsl.errors import EngineError
from dsl.model import Model

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMPACT_EVERY = 6  # levels between merges of the visited runs
_MAX_ATTEMPTS = 10_000


@dataclass(frozen=True)
class Settings:
    """How to use Spark. ``session`` wins over ``master``; without either, this machine is used.

    ``buckets`` is a power of two, ``tasks`` at most that. ``native_until`` states in a level the
    driver searches by itself. ``folder`` is the run directory, which driver and executors must
    share; temporary when None.
    """

    master: str | None = None
    session: Any = None
    buckets: int = 64
    tasks: int | None = None
    native_until: int = 50_000
    folder: str | None = None


@dataclass
class SparkSearch:
    """A search that has spilled its frontier into buckets."""

    search: Search
    settings: Settings
    context: Any
    folder: str
    n_tasks: int
    level: FileLevel
    runs: list[list[str]]
    shuffled: int = 0
    records: int = 0
    largest: float = 0.0
    jobs: int = 0
    history: list[FileLevel] = field(default_factory=list)

    # -- one level ---------------------------------------------------------------------------------

    def plan(self, attempt: int, depth: int) -> Plan:
        """What the tasks of an attempt at the next level know."""
        search, roots = self.search, self.search.roots
        search.widen()
        learned = search.learner.learned
        return Plan(
            folder=self.folder,
            level=depth,
            attempt=attempt,
            buckets=self.settings.buckets,
            tasks=self.n_tasks,
            offsets=self.level.offsets,
            names=self.level.names,
            runs=tuple(map(tuple, self.runs)),
            compact=len(self.runs[0]) >= _COMPACT_EVERY,
            tries=learned.tries(),
            outcomes=learned.outcomes(),
            width=search.shape.width,
            wide_ids=search.shape.dtype == np.dtype(np.uint32),
            words=search.shape.words,
            n_roots=len(roots.all),
            first_action=roots.first_action,
            end_action=roots.end_action,
            end_terminal=roots.end_terminal,
            ordinal_bits=search.ordinal_bits,
            deadlock=search.model.check_deadlock and search.options.wants(DEADLOCK),
            groups=search.groups(0, roots.first_action),
            terminal_groups=search.groups(roots.end_action, roots.end_terminal),
            n_watched=len(roots.watched),
            n_properties=roots.n_properties,
        )

    def step(self, stage: Stage) -> StoppedBy | None:
        """Expand the level into the next one, as often as something is missing; then commit it."""
        depth = len(self.search.links) - 1
        for attempt in range(_MAX_ATTEMPTS):
            plan = self.plan(attempt, depth)
            found = self.run(plan)
            misses = [miss for report in found for miss in report.misses]
            if not misses:
                self.commit(plan, found, stage)
                return None
            self.learn(misses)
            if stopped := self.search.urgent():
                return stopped
        raise EngineError("SW312", "A level is not learned after many attempts.")

    def run(self, plan: Plan) -> list[Found]:
        """One job: expand, shuffle, merge."""
        shared = self.context.broadcast(plan)
        self.jobs += 1
        try:
            expanded = self.context.parallelize(range(self.n_tasks), self.n_tasks)
            arrived = expanded.mapPartitionsWithIndex(_expander(shared))
            moved = arrived.partitionBy(self.n_tasks, int)
            result: list[Found] = moved.mapPartitionsWithIndex(_merger(shared)).collect()
        finally:
            shared.unpersist()
        return result

    def learn(self, misses: list[tuple[int, int, int, int, list[int]]]) -> None:
        """Learn what tasks missed, each situation once."""
        seen = set()
        for root, kind, operand, value, row in misses:
            key = (root, *row) if kind == EDGE else (kind, operand, value)
            if key not in seen:
                seen.add(key)
                self.search.learner.learn((root, kind, operand, value), lambda row=row: row)  # type: ignore[misc]

    def commit(self, plan: Plan, found: list[Found], stage: Stage) -> None:
        """Take the tasks' reports for the truth of the next level."""
        search, buckets = self.search, plan.buckets
        sizes, names = [0] * buckets, [""] * buckets
        for report in found:
            self._count(report)
            stage.assertion = min(stage.assertion, report.assertion)
            if report.error < 0:
                raise EngineError("SW311", "An action has too many outcomes in one state.")
            stage.error = min(stage.error, report.error)
            if report.stuck != NO_LINK:
                stage.deadlock(report.stuck)
            if report.terminal_error != NO_LINK:
                stage.terminal_failed(report.terminal_error)
            for bucket, size in report.sizes.items():
                sizes[bucket] = size
                names[bucket] = tasks.bucket_name(plan.level + 1, plan.attempt, bucket)
            for group, (fp, link) in report.events.items():
                self._event(stage, group, fp, link)
            if report.state_error is not None:
                fp, link = report.state_error
                candidate = _Candidate((fp, 0), "error", link)
                if stage.state_error is None or candidate.key < stage.state_error.key:
                    stage.state_error = candidate
            for group, times in report.cut.items():
                search.cut[search.roots.watched[group].name] += times
        for bucket in range(buckets):
            if plan.compact:
                self.runs[bucket] = [tasks.run_name(plan.level + 1, plan.attempt, bucket)]
            elif sizes[bucket]:
                self.runs[bucket].append(names[bucket])
        before = self.level
        self.level = FileLevel(self.folder, tuple(names), tuple(sizes))
        stage.close(before.column("fp"), np.zeros(0, np.uint64))  # type: ignore[arg-type]
        if self.level.n:
            self.history.append(self.level)
            search.links.append(self.level.column("link"))  # type: ignore[arg-type]
            own = [sum(sizes[b] for b in plan.buckets_of(t)) for t in range(self.n_tasks)]
            if self.level.n > 10_000:
                self.largest = max(self.largest, max(own) * self.n_tasks / self.level.n)
        search.queue = self.level.n

    def _count(self, report: Found) -> None:
        search = self.search
        for total, part in (
            (search.fired, report.fired),
            (search.fresh, report.fresh),
            (search.walks, report.walks),
        ):
            if part is not None:
                np.add(total, part, out=total)
        self.shuffled += report.shuffled
        self.records += report.records

    def _event(self, stage: Stage, group: int, fp: int, link: int) -> None:
        prop = self.search.roots.watched[group]
        candidate = _Candidate((fp, 0), prop.kind, link)
        known = stage.events.get(prop.name)
        if known is None or candidate.key < known.key:
            stage.events[prop.name] = candidate


def _expander(shared: Any) -> Callable[[int, Any], Iterator[Any]]:
    def expand(task: int, _: Any) -> Iterator[Any]:
        return tasks.expand_task(shared.value, task)

    return expand


def _merger(shared: Any) -> Callable[[int, Any], Iterator[Any]]:
    def merge(task: int, arrived: Any) -> Iterator[Any]:
        return tasks.merge_task(shared.value, task, arrived)

    return merge


# -- spilling --------------------------------------------------------------------------------------


def spill(
    search: Search, settings: Settings, context: Any, folder: str, n_tasks: int
) -> SparkSearch:
    """Move the frontier and the visited fingerprints of a native search into files."""
    buckets = settings.buckets
    shift = np.uint64(64 - (buckets.bit_length() - 1)) if buckets > 1 else None
    depth = len(search.links) - 1
    rows, link = search.level.rows, search.level.link
    which = (
        (rows.fp >> shift).astype(np.int64)
        if shift is not None
        else np.zeros(len(rows.fp), np.int64)
    )
    seen = _visited(search)
    seen_in = (
        (seen >> shift).astype(np.int64) if shift is not None else np.zeros(len(seen), np.int64)
    )
    bounds = np.searchsorted(which, np.arange(buckets + 1))
    seen_bounds = np.searchsorted(seen_in, np.arange(buckets + 1))
    names, sizes, runs = [], [], []
    for bucket in range(buckets):
        part = slice(int(bounds[bucket]), int(bounds[bucket + 1]))
        name = tasks.bucket_name(depth, 0, bucket) if part.stop > part.start else ""
        names.append(name)
        sizes.append(part.stop - part.start)
        if name:
            for column, array in zip(
                tasks.COLUMNS, (rows.values, rows.fp, rows.quiet, link), strict=True
            ):
                tasks.save(Path(folder, f"{name}.{column}.npy"), np.ascontiguousarray(array[part]))
        run = tasks.run_name(depth, 0, bucket)
        own = seen[int(seen_bounds[bucket]) : int(seen_bounds[bucket + 1])]
        tasks.save(Path(folder, f"{run}.fp.npy"), own)
        runs.append([run])
    level = FileLevel(folder, tuple(names), tuple(sizes))
    del search.level
    search.seen.partitions.clear()
    return SparkSearch(search, settings, context, folder, n_tasks, level, runs, history=[level])


def _visited(search: Search) -> Array:
    """All fingerprints seen so far, sorted."""
    found = [p.table[p.table != 0] for p in search.seen.partitions]
    result: Array = np.sort(np.concatenate(found))
    return result


# -- the whole -------------------------------------------------------------------------------------


def explore_with(model: Model, options: SearchOptions, settings: Settings) -> Exploration:
    """Breadth-first search by levels; see `checker.engine` for the contract."""
    search = start(model, replace(options, threads=1))
    made = settings.folder is None
    folder = settings.folder or tempfile.mkdtemp(prefix="statewalk-levels-")
    os.makedirs(folder, exist_ok=True)
    spark: SparkSearch | None = None
    try:
        stopped, spark = _run(search, settings, folder, options.threads)
        exploration = _result(search, stopped)
    finally:
        if made:
            shutil.rmtree(folder, ignore_errors=True)
    statistics = {
        k: v
        for k, v in exploration.statistics.items()
        if k not in ("seen_bytes", "bytes_per_state")
    }
    if spark is not None:
        distinct = max(1, exploration.counts.distinct)
        statistics |= {
            "jobs": spark.jobs,
            "shuffled_bytes": spark.shuffled,
            "shuffled_bytes_per_state": spark.shuffled / distinct,
            "records": spark.records,
            "balance": spark.largest,
        }
    return replace(exploration, engine="spark", statistics=statistics)


def _run(
    search: Search, settings: Settings, folder: str, threads: int
) -> tuple[StoppedBy | None, SparkSearch | None]:
    violated = _check_initial(search)
    while search.level.n and search.level.n < settings.native_until:
        if stopped := search.stop(violated):
            return stopped, None
        stage = Stage(search)
        stopped = search.expand(stage)
        search.advance(stage)
        violated = stage.violated
        search.tell(search.queue, at_once=True)
        if stopped:
            return stopped, None
    if not search.level.n:
        return None, None
    if stopped := search.stop(violated):
        return stopped, None
    context = _context(settings, threads)
    n_tasks = min(settings.buckets, settings.tasks or max(1, int(context.defaultParallelism)))
    spark = spill(search, settings, context, folder, n_tasks)
    while spark.level.n:
        if stopped := search.stop(violated):
            return stopped, spark
        stage = Stage(search)
        stopped = spark.step(stage)
        violated = stage.violated
        if stopped:
            return stopped, spark
        manifest(spark)
        search.tell(search.queue, at_once=True)
    return None, spark


def manifest(spark: SparkSearch) -> None:
    """Note the committed level: written whole, then renamed."""
    about = {
        "level": len(spark.search.links) - 1,
        "names": spark.level.names,
        "sizes": spark.level.sizes,
        "runs": spark.runs,
    }
    file = Path(spark.folder, "manifest.json")
    part = file.with_suffix(".part")
    part.write_text(json.dumps(about), encoding="utf-8")
    os.replace(part, file)


def _context(settings: Settings, threads: int) -> Any:
    if settings.session is not None:
        return settings.session.sparkContext
    if settings.master is not None and not settings.master.startswith("local"):
        return cluster_session(settings.master).sparkContext
    cores = os.cpu_count() or 1
    return local_session(max(1, threads if threads > 1 else cores)).sparkContext
