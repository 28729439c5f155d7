"""Stages of a search that is spread over tasks: plan a job, learn what it missed, take it over."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from statewalk.checker.contract.search import DEADLOCK
from statewalk.checker.contract.stops import StoppedBy
from statewalk.checker.disk.runs import first_to_merge
from statewalk.checker.native.findings import Stage
from statewalk.checker.native.kernels.arrays import EDGE, POSITION_SHIFT, Array, Rows
from statewalk.checker.native.manifests import damaged
from statewalk.checker.native.orbits import LOOKED_AT, Orbits, orbits_of
from statewalk.checker.native.state import NativeSearch
from statewalk.checker.native.states import Level, Partition
from statewalk.checker.native.workers import Worker
from statewalk.checker.spark.driver.commits import Committer, FileLevel, Parts
from statewalk.checker.spark.driver.jobs import Cluster, Figures, Stopped, level_here, waiting
from statewalk.checker.spark.tasks.blobs import Packing, packing_of, rows_of
from statewalk.checker.spark.tasks.feed import Feed, Learned, Version, forget
from statewalk.checker.spark.tasks.files import Part, Stored, opened
from statewalk.checker.spark.tasks.plan import Division, Expanded, Left, Merged, Miss, Plan, sources
from statewalk.dsl.errors import EngineError

MOST_STATES = 1 << (63 - POSITION_SHIFT)  # of a level: links have no bits for more positions
_MAX_ATTEMPTS = 10_000
_SMALL = 25_000  # states per task, below which a level is given to fewer tasks
_BALANCED = 100  # states per task, below which nothing is said of how even the shares are
_SAMPLE = 8192  # states looked at before the others, while there is something to learn
_AGAIN = 40  # times as many states may a level have of which only some pairs are looked at again
_PAIR_BYTES = 24
_NONE: Array = np.zeros(0, np.uint64)


@dataclass
class Spread:
    """The part of a search that lives in files, and what its next level has given so far."""

    search: NativeSearch
    cluster: Cluster
    level: FileLevel
    runs: list[tuple[Part, ...]]
    early: Stored
    levels: list[tuple[Part, ...]]
    figures: Figures = field(default_factory=Figures)
    feed: Feed = field(init=False)
    expanded: list[Expanded] = field(default_factory=list)
    merged: dict[int, Merged] = field(default_factory=dict)
    new_runs: dict[int, Part] = field(default_factory=dict)
    complete: bool = False
    compact: int = 0
    tasks: int = 1
    shuffled_before: int = 0
    learning: bool = True  # something was learned for the level before
    forget: bool = False  # the level's rows were written by another driver
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    known: tuple[int, int] = (-1, -1)  # evaluations and memo entries that were sent
    orbits: Orbits | None = field(init=False)

    def __post_init__(self) -> None:
        """Begin to send what is learned."""
        jobs = self.cluster.jobs
        self.feed = Feed(self.cluster.token, jobs.send, jobs.drop)
        self.shuffled_before = jobs.shuffled()
        self.orbits = orbits_of(self.search)

    # -- one level ---------------------------------------------------------------------------------

    def expand(self) -> StoppedBy | None:
        """Run the level, as often as something is missing. A reason, if stopped in between."""
        search = self.search
        self.expanded, self.merged, self.new_runs = [], {}, {}
        self.complete = False
        started = time.monotonic()
        self.tasks = self._tasks()
        self.compact = first_to_merge([sum(p.n for p in run) for run in self.runs])
        if self.orbits is not None:
            self.orbits.look(len(search.links) - 1, self._first())
        left: tuple[Left, ...] = ()
        again: frozenset[int] = frozenset()
        reasons: list[StoppedBy] = []

        def stop() -> bool:
            reasons.extend(filter(None, [search.urgent()]))
            return bool(reasons)

        known, before = self._evaluations(), self.figures.jobs
        if self.learning:
            look_ahead(search, self._rows(self.level.parts[0], slice(_SAMPLE)))
        for attempt in range(_MAX_ATTEMPTS):
            plan = self.plan(attempt, left, again)
            try:
                if self._is_small(left):
                    reports = level_here(replace(plan, by_file=False), self._learned())
                else:
                    run = partial(self.cluster.jobs.level, plan, self.version())
                    self.figures.jobs += 1
                    reports = waiting(self.pool, self.cluster.jobs, run, stop)
            except Stopped:
                return reasons[0]
            misses, left, again = self._take(reports)
            if not misses:
                self.complete = True
                self.learning = self._evaluations() > known
                jobs = self.figures.jobs - before
                self.figures.levels.append((self.level.n, jobs, time.monotonic() - started))
                return None
            learn(search, misses)
            if stopped := search.urgent():
                return stopped
        raise EngineError("SW312", "A level could not be learned after many attempts.")

    def _is_small(self, left: tuple[Left, ...]) -> bool:
        """Return whether an attempt at the level is less work here than as a job.

        Attempts but the first look at some pairs, and put what comes of them to what there is.
        """
        n, bound = self.level.n, self.cluster.settings.native_until
        if not left:
            return n < bound
        size = sum(part.missed.size for part in left if part.missed is not None)
        return n < _AGAIN * bound and size < _PAIR_BYTES * bound

    def _evaluations(self) -> int:
        return int(self.search.learner.evaluations.sum())

    def _first(self) -> Array:
        """Return the value ids of the states with the least fingerprints."""
        parts = self.level.parts[:LOOKED_AT]
        found = [self._rows(part, slice(LOOKED_AT)).values for part in parts]
        return np.concatenate(found)[:LOOKED_AT]

    def _rows(self, part: Part, which: slice) -> Rows:
        """Return some states of a part of the level."""
        self.search.widen()
        shape = self.search.shape
        assert part.rows is not None
        ids, found = (opened(self.cluster.folder, stored) for stored in (part.ids, part.rows))
        rows = rows_of(found, which)
        values, quiet = rows.values(shape.width, shape.dtype), rows.quiet
        if self.forget:
            quiet[:] = np.uint64((1 << 64) - 1)
        return Rows(values, ids["fp"][which], ids["low"][which], quiet)

    def version(self) -> Version:
        """Return what is learned by now, on its way to the executors."""
        learner = self.search.learner
        known = (self._evaluations(), learner.filled)
        if known != self.known:
            self.feed.update(self._learned())
            self.known = known
        return self.feed.version

    def _learned(self) -> Learned:
        learned = self.search.learner.learned
        learned.contribute_all()  # tasks add up fingerprints
        orbits = None if self.orbits is None else self.orbits.tables()
        return Learned(learned.tries(), learned.outcomes(), orbits)

    def _tasks(self) -> int:
        """Return how many tasks this level is given."""
        most = self.cluster.most_tasks
        if self.cluster.settings.tasks is not None:
            return most
        return max(1, min(most, self.level.n // _SMALL))

    def plan(self, attempt: int, left: tuple[Left, ...], again: frozenset[int]) -> Plan:
        """Return what the tasks of an attempt know."""
        search, roots = self.search, self.search.roots
        search.widen()
        return Plan(
            sources=sources(),
            folder=self.cluster.folder,
            token=self.cluster.token,
            durable=self.cluster.durable,
            level=len(search.links) - 1,
            attempt=attempt,
            division=Division(self.cluster.settings.buckets, self.tasks),
            parts=self.level.parts,
            runs=tuple(self.runs),
            compact=self.compact,
            before=left,
            again=again,
            forget=self.forget,
            base=_words(search),
            orbits=self.orbits is not None,
            packing=packing(search),
            by_file=self.cluster.jobs.are_here(),
            width=search.shape.width,
            ids=search.shape.dtype.str,
            words=search.shape.words,
            n_roots=len(roots.all),
            first_action=roots.first_action,
            end_action=roots.end_action,
            end_terminal=roots.end_terminal,
            n_steps=len(roots.steps),
            n_step_properties=roots.n_step_properties,
            ordinal_bits=search.ordinal_bits,
            deadlock=search.model.check_deadlock and search.options.wants(DEADLOCK),
            moving=roots.moving(),
            groups=search.groups(0, roots.first_action),
            terminal_groups=search.groups(roots.end_action, roots.end_terminal),
            n_watched=len(roots.watched),
            n_properties=roots.n_properties,
        )

    def _take(
        self, reports: list[Expanded | Merged]
    ) -> tuple[list[Miss], tuple[Left, ...], frozenset[int]]:
        """Keep an attempt's reports; what it missed, what it left, whose checks missed.

        Raises:  RunError[SW343] for a file that a task found damaged
        """
        if found := sorted({r.damaged for r in reports if r.damaged}):
            raise damaged(found)
        missed: dict[int, Stored] = {}
        for report in reports:
            if isinstance(report, Expanded):
                self.expanded.append(report)
                self.figures.add(report, self.cluster.folder)
                if report.missed is not None:
                    missed[report.task] = report.missed
            elif report.changed:
                self.merged[report.task] = report
                if report.run is not None:
                    self.new_runs[report.task] = report.run
        if not len(self.merged) == self.tasks == len({r.task for r in self.expanded}):
            raise EngineError("SW313", "Spark lost the report of a task.")
        misses = [miss for report in reports for miss in report.misses]
        left = tuple(
            Left(self.merged[t].part, self.merged[t].aside, missed.get(t))
            for t in range(self.tasks)
        )
        return misses, left, frozenset(t for t, m in self.merged.items() if m.misses)

    # -- taking it over ----------------------------------------------------------------------------

    def advance(self, stage: Stage) -> None:
        """Take the tasks' reports, which are complete, for the truth of the next level."""
        self._take_expanded(stage)
        self._take_merged(stage)
        self.forget = False
        before, search = self.level, self.search
        parts = tuple(m.part for _, m in sorted(self.merged.items()) if m.part is not None)
        if self.new_runs:
            self.runs[self.compact :] = [tuple(p for _, p in sorted(self.new_runs.items()))]
        stage.close(before.column("fp"), before.column("low") if search.shape.wide else _NONE)
        self.level = FileLevel(self.cluster.folder, parts)
        if self.level.n > MOST_STATES:
            raise EngineError("SW315", f"A level has more than {MOST_STATES:,} states.")
        if self.level.n:
            self.runs.append(tuple(_only_ids(part) for part in parts))
            self.levels[-1] = tuple(_only_ids(part) for part in self.levels[-1])
            self.levels.append(parts)
            search.complete(self.level.column("link"))
            if self.tasks > 1 and self.level.n >= _BALANCED * self.tasks:
                largest = max(part.n for part in parts) * self.tasks / self.level.n
                self.figures.largest = max(self.figures.largest, largest)

    def _take_expanded(self, stage: Stage) -> None:
        search, roots = self.search, self.search.roots
        for report in self.expanded:
            assert report.fired is not None
            assert report.walks is not None
            search.fired += report.fired
            search.walks += report.walks
            stage.failed(report.assertion, report.error)
            stage.step_failed(report.step_error)
            stage.deadlock(report.stuck)
            stage.terminal_failed(report.terminal_error)
            for number, link in report.steps.items():
                if number < roots.n_step_properties:
                    stage.step(roots.steps[number].name, link)
            if report.refused is not None:
                for number in range(roots.n_step_properties, len(roots.steps)):
                    search.cut[roots.steps[number].name] += int(report.refused[number])

    def _take_merged(self, stage: Stage) -> None:
        search = self.search
        for report in self.merged.values():
            assert report.fresh is not None
            assert report.walks is not None
            search.fresh += report.fresh
            search.walks += report.walks
            for group, (key, link) in report.events.items():
                stage.event(search.roots.watched[group], key, link)
            if report.state_error is not None:
                stage.check_failed(*report.state_error)
            if self.orbits is not None:
                search.represented += self.orbits.sizes(report.orbits)
            for group, times in report.cut.items():
                search.cut[search.roots.watched[group].name] += times

    def statistics(self, distinct: int) -> dict[str, object]:
        """Figures of the search."""
        shuffled = self.cluster.jobs.shuffled() - self.shuffled_before
        return {**self.figures.told(shuffled, distinct), "learned_bytes": self.feed.sent}

    def close(self) -> None:
        """Take away what was sent to executors."""
        self.pool.shutdown(wait=False)
        self.feed.close()
        forget()

    # -- committing --------------------------------------------------------------------------------

    def commit(self, committer: Committer) -> None:
        """Make the level final: from here another process can go on."""
        buckets = self.cluster.settings.buckets
        parts = Parts(buckets, self.early, tuple(self.levels), tuple(self.runs))
        committer.write(self.search, parts)


def take_over(
    search: NativeSearch, cluster: Cluster, levels: list[tuple[Part, ...]],
    runs: list[tuple[Part, ...]], early: Stored,
) -> Spread:  # fmt: skip
    """Take files for the truth of a search from here on; the last level is expanded next."""
    level = FileLevel(cluster.folder, levels[-1])
    search.seen.partitions.clear()
    search.level = search.level.kept(np.zeros(search.level.n, np.bool_))
    search.queue = level.n
    return Spread(search, cluster, level, runs, early, levels)


def _words(search: NativeSearch) -> Array:
    """Return the part of fingerprints that all states have in common."""
    base = search.layout.base
    words = [base >> 64, base & ((1 << 64) - 1)] if search.shape.wide else [base]
    return np.array(words, np.uint64)


def packing(search: NativeSearch) -> Packing:
    """Return how rows are packed: every slot and every value id there is by now fits."""
    search.widen()
    slots, width = search.layout.slots, search.shape.width
    bits = [(len(slot.values) - 1).bit_length() for slot in slots]
    return packing_of(bits + [0] * (width - len(bits)))


def _only_ids(part: Part) -> Part:
    return replace(part, rows=None)


_NEVER = np.iinfo(np.int64).max


def learn(search: NativeSearch, misses: Iterable[Miss]) -> None:
    """Learn misses, each situation once."""
    roots = search.roots
    pairs: dict[str, dict[tuple[int, tuple[int, ...]], None]] = {"check": {}, "act": {}, "end": {}}
    seen = set()
    for root, kind, operand, value, row, before in misses:
        if kind == EDGE and before is None:
            span = "check" if root < roots.first_action else "act"
            pairs["end" if root >= roots.end_action else span][root, tuple(row)] = None
            continue
        key = (root, tuple(row), tuple(before or ())) if kind == EDGE else (kind, operand, value)
        if key not in seen:
            seen.add(key)
            earlier = None if before is None else partial(_itself, before)
            search.learner.learn((root, kind, operand, value), partial(_itself, row), earlier)
    for span, found in pairs.items():
        if found:
            _walk(search, span, list(found))


def look_ahead(search: NativeSearch, rows: Rows) -> None:
    """Learn what some states of a level ask for: most of what all of them will ask for.

    They are expanded and their successors checked, natively; what comes out is not kept.
    """
    search.widen()
    n_roots, learned = len(search.roots.all), search.learner.learned
    worker = Worker(2, n_roots, 1 << 12, learned.wide)
    worker.begin(0, len(rows.fp), search.roots.first_action)
    level = Level(rows, np.zeros(len(rows.fp), np.int64))
    search.workers.complete([worker], _runner(search, "act", rows), level)
    worker.sort()
    search.widen()
    ignored = np.zeros_like(search.fresh)
    for number in range(2):
        partition = Partition(number, 2, search.shape)
        partition.take(rows, learned.outcomes(), worker.batch, ignored, search.ordinal_bits)
        if partition.n and search.roots.watched:
            new, link = search.shape.rows(partition.n), np.empty(partition.n, np.int64)
            partition.release(new, link, 0)
            checker = Worker(1, n_roots, 1, learned.wide)
            checker.begin(0, len(link), 0)
            search.workers.complete([checker], _runner(search, "check", new), Level(new, link))


def _itself(row: list[int]) -> list[int]:
    return row


def _walk(search: NativeSearch, span: str, found: list[tuple[int, tuple[int, ...]]]) -> None:
    """Walk (root, row) pairs until nothing is missing in them."""
    search.widen()
    n, shape = len(found), search.shape
    longest = max(len(row) for _, row in found)
    values = np.zeros((n, max(longest, shape.width)), shape.dtype)
    for at, (_, row) in enumerate(found):
        values[at, : len(row)] = row
    rows = shape.rows(n)._replace(values=values)
    rows.fp[:] = rows.low[:] = 0
    rows.quiet[:] = np.uint64((1 << 64) - 1)
    worker = Worker(2, len(search.roots.all), 1 << 10, search.shape.wide)
    worker.begin(0, n, 0)
    worker.pairs = np.array([(at, root) for at, (root, _) in enumerate(found)], np.int64)
    worker.finished = True
    level = Level(rows, np.zeros(n, np.int64))
    search.workers.complete([worker], _runner(search, span, rows), level)


def _runner(search: NativeSearch, span: str, rows: Rows) -> Callable[[Worker], object]:
    """Return how a worker walks the pairs."""
    roots, learned = search.roots, search.learner.learned
    if span == "act":
        fixed = (roots.first_action, roots.end_action, search.ordinal_bits, 63, 1)
        return lambda w: w.expand(rows, learned.tries(), learned.outcomes(), fixed)
    first, end = (0, roots.first_action)
    if span == "end":
        first, end = roots.end_action, roots.end_terminal
    groups = search.groups(first, end)
    events: Array = np.full(max(1, len(roots.watched), end - first), _NEVER)
    cut_by: Array = np.full(len(rows.fp), _NEVER)
    bound = roots.n_properties if span == "check" else 0
    return lambda w: w.check(rows, learned.tries(), groups, (first, end), events, cut_by, bound)
