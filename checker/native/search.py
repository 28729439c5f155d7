"""The search: breadth first by levels, each level expanded in batches by the kernels."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np

from statewalk.checker.contract.search import Progress
from statewalk.checker.contract.stops import StoppedBy
from statewalk.checker.machine.watch import CutShort, memory_in_use
from statewalk.checker.native import checkpoints
from statewalk.checker.native.checkpoints import Totals, Writer
from statewalk.checker.native.checks import Check, check_states, look_for_deadlocks
from statewalk.checker.native.fields import Fields
from statewalk.checker.native.findings import Stage
from statewalk.checker.native.kernels.arrays import POSITION_SHIFT, Array, nonzero
from statewalk.checker.native.learn.learned import widest_variable
from statewalk.checker.native.learn.learning import Stopped
from statewalk.checker.native.orbits import Orbits
from statewalk.checker.native.state import NativeSearch
from statewalk.checker.native.states import Partition, unpack
from statewalk.checker.native.steps import StepChecks
from statewalk.checker.native.workers import Worker

_CANDIDATES = 1 << 15  # aimed at per batch; buffers grow beyond it
_TELL_EVERY = 0.5  # seconds between reports within a level
_MAX_ROWS = 1 << 15
_MIN_ROWS = 64
_ROOM = 2  # for so many new states for each of a level,
_MANY = 1 << 12  # where it has so many


class Sink(Protocol):
    """Is told the transitions of a search as they are found, and where its levels end.

    ``loops`` says whether it wants transitions that change nothing.
    """

    @property
    def loops(self) -> bool: ...

    def batch(self, workers: list[Worker]) -> None:
        """A batch was expanded and inserted; its transitions are the workers' candidates."""
        ...

    def level(self, before: Array) -> None:
        """The search has a new level; ``before`` are the fingerprints of the one expanded."""
        ...


class Elsewhere(Protocol):
    """Takes over a search whose levels are too large for this process."""

    @property
    def n(self) -> int:
        """States of the level to expand; 0 while it is here."""
        ...

    def takes_over(self, expanded: int) -> bool:
        """Return whether what is left of the level is expanded there; called before each level and,
        while it is here, after each batch.
        """
        ...

    def expand(self, loop: Loop, stage: Stage) -> StoppedBy | None:
        """Expand the level. A reason, if stopped in the middle."""
        ...

    def advance(self, loop: Loop, stage: Stage) -> bool:
        """Turn what was found into the level to expand next; false if that is the same still."""
        ...

    @property
    def ended(self) -> StoppedBy | None:
        """Return what kept the search from advancing."""
        ...

    @property
    def on_disk(self) -> tuple[int, int] | None:
        """The depth from which on it is on the disk of this machine, and the bytes there."""
        ...

    def save(self) -> bool:
        """Commit the level, where the search can be resumed; false if that is left to a writer."""
        ...


@dataclass
class Loop:
    """The loop of a search: its state, and the work besides expanding."""

    search: NativeSearch
    check: Check = check_states
    steps: StepChecks | None = None
    orbits: Orbits | None = None
    writer: Writer | None = None
    sink: Sink | None = None
    elsewhere: Elsewhere | None = None
    fields: Fields | None = None
    batch_rows: int = 1 << 10
    told: float = field(default_factory=time.monotonic)

    @property
    def n(self) -> int:
        """States of the level to expand."""
        return self.search.level.n or (self.elsewhere.n if self.elsewhere is not None else 0)

    # -- one level -------------------------------------------------------------------------------

    def expand(self, stage: Stage) -> StoppedBy | None:
        """Expand the level; new states wait in the segments. A reason, if stopped in the middle."""
        if self.elsewhere is not None and self.elsewhere.takes_over(0):
            return self.elsewhere.expand(self, stage)
        return self.expand_here(stage)

    def expand_here(self, stage: Stage, rest: int = 0) -> StoppedBy | None:
        """Expand the states that are here, ``rest`` more of the level being elsewhere."""
        search, first = self.search, 0
        n = search.level.n
        for partition in search.seen.partitions if n >= _MANY else ():
            partition.reserve(_ROOM * n // len(search.seen.partitions))
        while first < n:
            workers, search.queue = [], n - first + rest
            rows = min(self.batch_rows, _MAX_ROWS)
            for worker in search.workers.all:
                end = min(n, first + rows)
                if first < end:
                    worker.begin(first, end, search.roots.first_action)
                    workers.append(worker)
                first = end
            try:
                self.expand_batch(workers, stage)
            except Stopped as stop:
                return stop.reason
            except CutShort:
                for worker in workers:
                    stage.failed(*worker.failed())
                raise
            self.tell(n - first + rest + search.seen.n_new)
            if self.is_here and self.elsewhere is not None and self.elsewhere.takes_over(first):
                return self.elsewhere.expand(self, stage)
            if stopped := search.urgent():
                search.queue = n - first + rest
                return stopped
        return None

    @property
    def is_here(self) -> bool:
        """Return whether the level to expand is not elsewhere."""
        return self.elsewhere is None or not self.elsewhere.n

    def expand_batch(self, workers: list[Worker], stage: Stage) -> None:
        """Expand the ranges of some workers and insert what comes out."""
        search = self.search
        learned, roots = search.learner.learned, search.roots
        loops = int(self.steps is not None or (self.sink is not None and self.sink.loops))
        fixed = (
            roots.first_action, roots.end_action, search.ordinal_bits, search.seen.shift, loops
        )  # fmt: skip
        search.workers.complete(
            workers,
            lambda w: w.expand(search.level.rows, learned.tries(), learned.outcomes(), fixed),
            search.level,
        )
        if self.orbits is not None:
            self.orbits.replace_all(search, workers)
        for worker in workers:
            worker.sort()
            stage.failed(*worker.failed())
            search.fired += worker.batch.fired[roots.first_action : roots.end_action]
            search.walks += worker.batch.walks
            worker.batch.fired[:] = 0
            worker.batch.walks[:] = 0
            look_for_deadlocks(search, worker, stage)
            if self.steps is not None:
                self.steps.check(worker, stage)
        self.insert(workers, stage.base)
        if self.sink is not None:
            self.sink.batch(workers)
        self.adapt(workers)

    def insert(self, workers: list[Worker], base: int = 0) -> None:
        """Put the workers' candidates into the seen table, each partition in canonical order.

        ``base`` is the position of the first of the states that are here.
        """
        search = self.search
        outcomes = search.learner.learned.outcomes()
        search.widen()
        partitions = search.seen.partitions
        counts = np.zeros((len(partitions), len(search.fresh)), np.int64)

        def own(partition: Partition) -> None:
            before = partition.n
            for worker in workers:
                partition.take(
                    search.level.rows, outcomes, worker.batch, counts[partition.number],
                    search.ordinal_bits,
                )  # fmt: skip
            if base:
                partition.segment.link[before : partition.n] += base << POSITION_SHIFT

        search.workers.in_threads([partial(own, partition) for partition in partitions])
        if self.is_here:  # elsewhere it is known later which are new
            search.fresh += counts.sum(axis=0)

    def adapt(self, workers: list[Worker]) -> None:
        """Choose the size of the next batches from what the last ones gave."""
        rows = sum(worker.end - worker.first for worker in workers)
        candidates = sum(worker.n_candidates for worker in workers)
        aimed = int(0.9 * _CANDIDATES * rows / max(1, candidates))
        self.batch_rows = max(_MIN_ROWS, min(aimed, 4 * self.batch_rows))

    def advance(self, stage: Stage) -> StoppedBy | None:
        """Turn the new states into the level to expand next; check them, and drop those cut. A
        reason, if stopped in the middle.
        """
        if self.elsewhere is not None and self.elsewhere.n:
            self.search.queue = self.elsewhere.n if self.elsewhere.advance(self, stage) else 0
            return self.elsewhere.ended
        search = self.search
        fp, low = search.level.rows.fp, search.level.rows.low
        del search.level  # its rows are not needed any more, and the next level's are large
        level = search.seen.next_level(search.workers.in_threads)
        try:
            keep = self.check(search, level, stage, True)
            if self.steps is not None and (refused := self.steps.refused()).n:
                self.check(search, refused, stage, False)
            stage.close(fp, low)
        except CutShort:
            stage.close(fp, low)  # what was found until then
            raise
        if not keep.all():
            cut = level.rows.low[~keep] if search.shape.wide else level.rows.low
            search.seen.forget(level.rows.fp[~keep], cut)
            for link in level.link[~keep].tolist() if search.links else ():
                search.fresh[unpack(link, search.ordinal_bits)[1]] -= 1
            level = level.kept(keep)
        search.level = level
        self.admitted(fp)
        return None

    def begin(self) -> bool:
        """Stage 0: check the initial states; whether one of them violates something."""
        search, stage = self.search, Stage(self.search)
        level = search.level
        try:
            keep = self.check(search, level, stage, True)
        except CutShort:
            stage.close(level.rows.fp, level.rows.low)
            raise
        stage.close(level.rows.fp, level.rows.low)
        search.level = level.kept(keep) if not keep.all() else level
        search.initial = search.level.n
        self.admitted(level.rows.fp[:0])
        search.seen.enter(search.level.rows.fp, search.level.rows.low)
        return stage.violated

    def admitted(self, before: Array) -> None:
        """Note the level, which was just found; ``before`` as in `Sink.level`."""
        search, level = self.search, self.search.level
        if self.orbits is not None:
            outcomes = search.learner.learned.outcomes()
            search.represented += self.orbits.measure(level.rows, outcomes)
        if self.fields is not None:
            self.fields.note(level.rows)
        search.queue = level.n
        if search.learner.programs is not None:
            search.learner.programs.found(search.distinct + level.n)
        if level.n:
            search.complete(level.link)
            if self.writer is not None:
                self.writer.level(len(search.links) - 1, level, search.links[-1])
        if self.sink is not None:
            self.sink.level(before)
        if level.n and search.links[-1] is not level.link:  # they are kept there
            level.link = np.broadcast_to(np.int64(-1), level.n)

    def save(self, final: bool) -> Totals | None:
        """Commit a checkpoint if it is time, or if this is the end; the counters as they are."""
        if self.elsewhere is not None and self.elsewhere.save():
            return None
        if self.writer is not None:
            totals = checkpoints.totals_of(self.search)
            if final or self.writer.due(self.search.level):
                self.writer.save(self.search, totals)
            return totals
        return None

    # -- stopping --------------------------------------------------------------------------------

    def stop(self, violated: bool) -> StoppedBy | None:
        """Return reasons to stop between stages."""
        search = self.search
        ended = search.options.ended(
            search.found.values(), search.counts, error=search.error, violated=violated
        )
        return ended or search.urgent()

    def tell(self, queue: int, at_once: bool = False) -> None:
        """Report progress, if wanted and if it is time; at the end of a level at once."""
        now, on_progress = time.monotonic(), self.search.options.on_progress
        if on_progress and (at_once or now - self.told >= _TELL_EVERY):
            self.told = now
            on_progress(self.progress(queue))

    def progress(self, queue: int) -> Progress:
        """Return what to say of the search now."""
        search = self.search
        return Progress(
            len(search.links),
            search.generated,
            search.distinct + search.seen.n_new,
            queue,
            search.seconds,
            memory_in_use(),
            nonzero(search.fresh),
            tuple(search.sizes),
            widest_variable(search.layout),
            *checkpoints.told(self.writer),
            nonzero(search.fired),
            tuple(search.found.values()),
            self.elsewhere.on_disk if self.elsewhere is not None else None,
        )


def transitions_of(worker: Worker) -> tuple[Array, Array, Array]:
    """Return a worker's candidates: links, fingerprints of the targets, outcomes."""
    batch = worker.batch
    used = [(partition, int(batch.used[partition])) for partition in range(len(batch.used))]
    link, fp, outcome = (
        np.concatenate([array[partition, :n] for partition, n in used])
        for array in (batch.link, batch.fp, batch.outcome)
    )
    return link, fp, outcome
