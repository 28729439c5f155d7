"""The search: breadth first by levels, each level expanded in batches by the kernels."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from statewalk.checker.contract.search import DEADLOCK, Finding, Progress, SearchOptions, StoppedBy
from statewalk.checker.engines.layout import Layout
from statewalk.checker.machine.places import Place
from statewalk.checker.machine.watch import CutShort, memory_in_use
from statewalk.checker.native import checkpoints
from statewalk.checker.native.checkpoints import Totals, Writer
from statewalk.checker.native.findings import Stage
from statewalk.checker.native.kernels.arrays import FIRST_ERROR, NO_LINK, Array, Rows, nonzero
from statewalk.checker.native.learn.learned import widest_variable
from statewalk.checker.native.learn.learning import Learner, Roots, Stopped
from statewalk.checker.native.orbits import Orbits
from statewalk.checker.native.states import Level, Seen, Shape, unpack
from statewalk.checker.native.steps import StepChecks
from statewalk.checker.native.workers import Worker, once
from statewalk.dsl.errors import EngineError
from statewalk.dsl.model import Model

_CANDIDATES = 1 << 16  # aimed at per batch; buffers grow beyond it
_TELL_EVERY = 0.5  # seconds between reports within a level
_MOST_REPEATS = 8  # of the same misses in a row, although they were learned
_MAX_ROWS = 1 << 15
_MIN_ROWS = 64
_NEVER = np.iinfo(np.int64).max


@dataclass
class Search:
    """The state of one search."""

    model: Model
    options: SearchOptions
    roots: Roots
    layout: Layout
    learner: Learner
    shape: Shape
    seen: Seen
    workers: list[Worker]
    helper: Worker
    ordinal_bits: int
    level: Level = field(init=False)
    links: list[Array] = field(default_factory=list)
    initial: int = 0
    queue: int = 0
    fired: Array = field(init=False)
    fresh: Array = field(init=False)
    walks: Array = field(init=False)
    cut: Counter[str] = field(default_factory=Counter)
    found: dict[str, Finding] = field(default_factory=dict)
    error: bool = False
    batch_rows: int = 1 << 10
    started: float = field(default_factory=time.monotonic)
    told: float = field(default_factory=time.monotonic)
    pool: ThreadPoolExecutor | None = None
    steps: StepChecks | None = None
    orbits: Orbits | None = None
    writer: Writer | None = None
    earlier: float = 0.0  # seconds spent before the search was resumed
    keep_loops: bool = False  # also candidates that lead to where they start
    running: Place | None = None  # where the spec was, if it had to be ended

    def __post_init__(self) -> None:
        """Start the counters."""
        self.fired = np.zeros(len(self.model.actions), np.int64)
        self.fresh = np.zeros(len(self.model.actions), np.int64)
        self.walks = np.zeros(len(self.roots.all), np.int64)

    @property
    def generated(self) -> int:
        """See the engine contract, rule 2."""
        return len(self.model.initial_states) + int(self.fired.sum())

    @property
    def distinct(self) -> int:
        """States kept in complete levels."""
        return sum(map(len, self.links))

    @property
    def seconds(self) -> float:
        """Time since the search began."""
        return self.earlier + time.monotonic() - self.started

    # -- running kernels -------------------------------------------------------------------------

    def in_threads(self, tasks: list[Callable[[], object]]) -> None:
        """Run tasks side by side and wait for all."""
        if self.pool is not None and len(tasks) > 1:
            for done in [self.pool.submit(task) for task in tasks]:
                done.result()
        else:
            for task in tasks:
                task()

    def complete(
        self, workers: list[Worker], run: Callable[[Worker], object], level: Level
    ) -> None:
        """Let workers finish their ranges; what is missing is learned in between."""
        busy = workers
        before, repeats = np.zeros(0), 0
        while busy:
            self.in_threads([lambda worker=worker: run(worker) for worker in busy])  # type: ignore[misc]
            misses = np.concatenate([worker.take_misses() for worker in busy])
            if len(misses):
                repeats = repeats + 1 if np.array_equal(misses, before) else 0
                if repeats == _MOST_REPEATS:
                    raise EngineError("SW312", "A level is not learned after many attempts.")
                before = misses
                self.learn(misses, level)
            busy = [worker for worker in workers if worker.busy]

    def learn(self, misses: Array, level: Level) -> None:
        """Learn what was missed."""
        for position, *miss in once(misses):
            self.learner.learn(miss, lambda at=position: level.rows.values[at].tolist())  # type: ignore[misc]

    # -- one level -------------------------------------------------------------------------------

    def expand(self, stage: Stage) -> StoppedBy | None:
        """Expand the level; new states wait in the segments. A reason, if stopped in the middle."""
        first = 0
        while first < self.level.n:
            workers, self.queue = [], self.level.n - first
            rows = min(self.batch_rows, _MAX_ROWS)
            for worker in self.workers:
                end = min(self.level.n, first + rows)
                if first < end:
                    worker.begin(first, end, self.roots.first_action)
                    workers.append(worker)
                first = end
            try:
                self.expand_batch(workers, stage)
            except Stopped as stop:
                return stop.reason
            except CutShort:
                for worker in workers:
                    stage.failed(worker.batch.counters)
                raise
            self.tell(self.level.n - first + self.seen.n_new)
            if stopped := self.urgent():
                self.queue = self.level.n - first
                return stopped
        return None

    def expand_batch(self, workers: list[Worker], stage: Stage) -> None:
        """Expand the ranges of some workers and insert what comes out."""
        learned, roots = self.learner.learned, self.roots
        loops = int(self.keep_loops or self.steps is not None)
        shift = self.seen.shift
        fixed = (roots.first_action, roots.end_action, self.ordinal_bits, shift, loops)
        self.complete(
            workers,
            lambda w: w.expand(self.level.rows, learned.tries(), learned.outcomes(), fixed),
            self.level,
        )
        if self.orbits is not None:
            self.orbits.replace_all(self, workers)
        for worker in workers:
            worker.sort()
            stage.failed(worker.batch.counters)
            self.fired += worker.batch.fired[roots.first_action : roots.end_action]
            self.walks += worker.batch.walks
            worker.batch.fired[:] = 0
            worker.batch.walks[:] = 0
            self.look_for_deadlocks(worker, stage)
            if self.steps is not None:
                self.steps.check(worker, stage)
        self.insert(workers)
        self.adapt(workers)

    def widen(self) -> None:
        """Let new rows hold every slot and every value id there is by now."""
        self.shape.width = max(self.shape.width, len(self.layout.slots))
        if self.learner.learned.widest > 1 << 16:
            self.shape.dtype = np.dtype(np.uint32)

    def insert(self, workers: list[Worker]) -> None:
        """Put the workers' candidates into the seen table, each partition in canonical order."""
        outcomes = self.learner.learned.outcomes()
        self.widen()
        n = len(self.workers)
        counts = [np.zeros_like(self.fresh) for _ in range(n)]

        def own(thread: int) -> None:
            for partition in self.seen.partitions[thread::n]:
                for worker in workers:
                    partition.take(
                        self.level.rows, outcomes, worker.batch, counts[thread], self.ordinal_bits
                    )

        self.in_threads([lambda t=t: own(t) for t in range(n)])  # type: ignore[misc]
        self.fresh += sum(counts)

    def adapt(self, workers: list[Worker]) -> None:
        """Choose the size of the next batches from what the last ones gave."""
        rows = sum(worker.end - worker.first for worker in workers)
        candidates = sum(worker.n_candidates for worker in workers)
        aimed = int(0.9 * _CANDIDATES * rows / max(1, candidates))
        self.batch_rows = max(_MIN_ROWS, min(aimed, 4 * self.batch_rows))

    def look_for_deadlocks(self, worker: Worker, stage: Stage) -> None:
        """Note the states of a worker's range without a step that are not terminal."""
        if not (self.model.check_deadlock and self.options.wants(DEADLOCK)):
            return
        n = worker.end - worker.first
        stuck = worker.first + np.flatnonzero(worker.batch.moves[:n] == 0)
        if len(stuck) and self.model.terminal:
            stuck = self.not_terminal(stuck, stage)
        if len(stuck):
            stage.deadlock(int(stuck[0]))

    def not_terminal(self, stuck: Array, stage: Stage) -> Array:
        """Those of some positions at which no terminal predicate holds."""
        roots, first = self.roots, int(stuck[0])
        end = int(stuck[-1]) + 1
        rows = self.level.rows
        low = rows.low[first:end]
        part = Level(
            Rows(rows.values[first:end], rows.fp[first:end], low, rows.quiet[first:end]),
            self.level.link[first:end],
        )
        numbers = np.arange(roots.end_action, roots.end_terminal)
        pairs = np.stack([np.repeat(stuck - first, len(numbers)), np.tile(numbers, len(stuck))], 1)
        helper, learned = self.helper, self.learner.learned
        helper.begin(0, part.n, roots.end_action)
        helper.pairs, helper.finished = np.ascontiguousarray(pairs), True
        holds = np.full(part.n, _NEVER)
        events = np.full(len(numbers), _NEVER)
        groups = self.groups(roots.end_action, roots.end_terminal)
        self.complete(
            [helper],
            lambda w: w.check(
                part.rows, learned.tries(), groups, (roots.end_action, roots.end_terminal),
                events, holds, 0,
            ),
            part,
        )  # fmt: skip
        if helper.batch.counters[FIRST_ERROR] != NO_LINK:
            stage.terminal_failed(first + int(helper.batch.counters[FIRST_ERROR]))
        result: Array = stuck[holds[stuck - first] == _NEVER]
        return result

    def check(self, level: Level, stage: Stage, constraints: bool = True) -> Array:
        """Check the states of a level; which of them the constraints, if wanted, keep."""
        watched, roots = self.roots.watched, self.roots
        constraints = constraints and len(watched) > roots.n_properties
        cut_by = np.full(level.n if constraints else 0, _NEVER)
        if not watched or not level.n:
            return np.ones(level.n, np.bool_)
        groups = self.groups(0, roots.first_action)
        if not constraints:
            groups[2, groups[0] >= roots.n_properties] = 0
        events = [np.full(len(watched), _NEVER) for _ in self.workers]
        learned = self.learner.learned
        share = -(-level.n // len(self.workers))
        workers = []
        for number, worker in enumerate(self.workers):
            if number * share < level.n:
                worker.begin(number * share, min(level.n, (number + 1) * share), 0)
                workers.append(worker)
        at = {id(worker): events[number] for number, worker in enumerate(workers)}
        try:
            self.complete(
                workers,
                lambda w: w.check(
                    level.rows, learned.tries(), groups, (0, roots.first_action),
                    at[id(w)], cut_by, roots.n_properties,
                ),
                level,
            )  # fmt: skip
        finally:  # what is known counts, also when a property had to be ended
            for worker in workers:
                stage.check_failed(level, int(worker.batch.counters[FIRST_ERROR]))
                self.walks += worker.batch.walks
                worker.batch.walks[:] = 0
            first = np.minimum.reduce(events)
            for group in np.flatnonzero(first[: roots.n_properties] != _NEVER).tolist():
                stage.event(watched[group], level, int(first[group]))
        if not len(cut_by):
            return np.ones(level.n, np.bool_)
        for group, times in zip(
            *np.unique(cut_by[cut_by != _NEVER], return_counts=True), strict=True
        ):
            self.cut[watched[int(group)].name] += int(times)
        result: Array = cut_by == _NEVER
        return result

    def groups(self, first: int, end: int) -> Array:
        """Per root: its group, the group's end, whether wanted, whether it may be skipped later."""
        result = np.zeros((4, len(self.roots.all)), np.int64)
        stop = end
        for number in range(end - 1, first - 1, -1):
            root = self.roots.all[number]
            if number + 1 < end and self.roots.all[number + 1].group != root.group:
                stop = number + 1
            name = self.roots.watched[root.group].name if root.kind != "terminal" else ""
            result[:, number] = (root.group, stop, name not in self.found, root.kind != "terminal")
        return result

    def advance(self, stage: Stage) -> None:
        """Turn the new states into the level to expand next; check them, and drop those cut."""
        fp, low = self.level.rows.fp, self.level.rows.low
        del self.level  # its rows are not needed any more, and the next level's are large
        level = self.seen.next_level(self.in_threads)
        try:
            keep = self.check(level, stage)
            if self.steps is not None:
                self.steps.close(stage)
            stage.close(fp, low)
        except CutShort:
            stage.close(fp, low)  # what was found until then
            raise
        if not keep.all():
            for partition, fps, lows in self.seen.split(level, ~keep):
                partition.forget(fps, lows)
            for link in level.link[~keep].tolist() if self.links else ():
                self.fresh[unpack(link, self.ordinal_bits)[1]] -= 1
            level = level.kept(keep)
        if self.orbits is not None:
            self.orbits.measure(level.rows, self.learner.learned.outcomes())
        self.level = level
        self.queue = level.n
        if level.n:
            self.links.append(level.link)
            self.save_level()

    # -- checkpoints -----------------------------------------------------------------------------

    def save_level(self) -> None:
        """Note the last level, where checkpoints are wanted."""
        if self.writer is not None:
            self.writer.level(len(self.links) - 1, self.level)

    def save(self, final: bool) -> Totals | None:
        """Commit a checkpoint if it is time, or if this is the end; the counters as they are."""
        if self.writer is None:
            return None
        totals = checkpoints.totals_of(self)
        if final or self.writer.due(self.level):
            self.writer.save(self, totals)
        return totals

    # -- stopping --------------------------------------------------------------------------------

    def urgent(self) -> StoppedBy | None:
        """Reasons to stop in the middle of a stage."""
        if self.options.interrupted():
            return "interrupt"
        if self.options.timeout is not None and self.seconds > self.options.timeout:
            return "time"
        if self.options.max_memory is not None and memory_in_use() > self.options.max_memory:
            return "memory"
        return None

    def stop(self, violated: bool) -> StoppedBy | None:
        """Reasons to stop between stages."""
        options = self.options
        if self.error:
            return "error"
        if violated and options.ends_with(self.found.values()):
            return "violation"
        if options.max_states is not None and self.distinct >= options.max_states:
            return "states"
        if options.max_depth is not None and len(self.links) >= options.max_depth:
            return "depth"
        return self.urgent()

    def tell(self, queue: int, at_once: bool = False) -> None:
        """Report progress, if wanted and if it is time; at the end of a level at once."""
        now = time.monotonic()
        if self.options.on_progress and (at_once or now - self.told >= _TELL_EVERY):
            self.told = now
            self.options.on_progress(self.progress(queue))

    def progress(self, queue: int) -> Progress:
        """What to say of the search now."""
        return Progress(
            len(self.links),
            self.generated,
            self.distinct + self.seen.n_new,
            queue,
            self.seconds,
            memory_in_use(),
            nonzero(self.fresh),
            tuple(map(len, self.links)),
            widest_variable(self.layout),
            *checkpoints.told(self.writer),
            nonzero(self.fired),
            tuple(self.found.values()),
        )
