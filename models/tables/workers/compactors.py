"""Compactors of a Paimon table.

With `COMPACTION=level` one takes the files of a level, all it knows is the latest snapshot. With
sorted runs it may see the bucket as its job does (`VIEW`): as it was when that opened, with the
files of level 0 that it was told of since (MergeTreeWriter.notifyNewFiles) and with what it made of
them itself, whether or not that was committed. What others made of them it is not told.
"""

from statewalk import action, any_of, require
from statewalk.models.tables.lsm import File, compact, latest, level_of, live, live_in, store
from statewalk.models.tables.paimon_settings import (
    ALL_BUCKETS,
    COMPACTION,
    COMPACTIONS,
    COMPACTORS,
    GRAIN,
    LOCK_PER,
    MAX_LEVEL,
    TOPOLOGY,
    VIEW,
    WRITERS,
)
from statewalk.models.tables.universal import Unit, View, latest_view, merge, units
from statewalk.models.tables.workers.commit import Worker
from statewalk.models.tables.workers.operation import history


class Compactor(Worker):
    def begin(self, bucket: int) -> None:
        require(self.op.stage == "idle" and history.compactions < COMPACTIONS)
        require(TOPOLOGY == "topo2" or bucket % COMPACTORS == self.index)
        history.compactions += 1
        self.op.kind = "compact"
        self.op.bucket = bucket
        self.op.stage = "data"

    if COMPACTION == "level":

        @action(fair="weak")
        def start_compaction(
            self, bucket: int = any_of(ALL_BUCKETS), level: int = any_of(range(MAX_LEVEL))
        ) -> None:
            require(any(store.files[file].level == level for file in live_in(latest(), bucket)))
            self.begin(bucket)
            self.op.level = level
            if GRAIN == "fused":
                self.merge()

        @action(fair="weak")
        def merge(self) -> None:
            """Read the latest version, and write the rows of the level to a file of the next."""
            require(self.op.stage == "data")
            op = self.op
            op.read = latest()
            found = compact(op.read, op.bucket, op.level)
            op.sources = found.sources
            op.vectors = found.vectors
            self.written(File(op.bucket, op.level + 1, found.rows))

    if COMPACTION == "universal":

        @action(fair="weak")
        def compact_runs(self, bucket: int = any_of(ALL_BUCKETS)) -> None:
            """Take some of the newest sorted runs (MergeTreeCompactManager.triggerCompaction)."""
            self.begin(bucket)
            op = self.op
            op.read = latest()
            view = self.look(bucket)
            taken = any_of(units(view))
            op.sources = taken.files
            op.levels = tuple(view.levels[file] for file in taken.files)
            op.level = taken.level
            if GRAIN == "fused":
                self.merge()

        @action(fair="weak")
        def merge(self) -> None:
            """Write the rows of what was taken, or only raise its level."""
            require(self.op.stage == "data")
            op = self.op
            view = self.seen()
            made = merge(view, Unit(op.sources, op.level), live(op.read))
            op.raised = made.raised
            op.vectors = None if made.marks == view.marks else made.marks
            self.written(File(op.bucket, op.level, made.rows))
            self.remember(made.marks)

    if VIEW == "latest":

        def look(self, bucket: int) -> View:
            return latest_view(bucket)

        def seen(self) -> View:
            """The bucket as it was when the operation started."""
            return latest_view(self.op.bucket, self.op.read)

        def remember(self, marks: frozenset[tuple[int, int]]) -> None:
            pass

    if VIEW != "latest":
        view: View = View()  # of the bucket
        refusals: int = 0  # of its operations
        told: int | None = None  # the version up to which it was told of new files; None: not open

        @action(fair="weak")
        def open(self) -> None:
            require(self.told is None)
            self.told = latest()
            self.view = latest_view(0)

        def look(self, bucket: int) -> View:
            """Take in what was appended since."""
            require(self.told is not None)
            version = latest()
            new = [f for f in live_in(version, bucket) if live(version)[f] > (self.told or 0)]
            for file in new:
                if level_of(version, file) == 0:
                    self.view.levels[file] = 0
            self.told = version
            return self.view

        def seen(self) -> View:
            return self.view

        def remember(self, marks: frozenset[tuple[int, int]]) -> None:
            """The job's own levels change when the files are written (Levels.update)."""
            op = self.op
            levels = {f: level for f, level in self.view.levels.items() if f not in op.sources}
            if op.raised or op.file in store.files:
                levels[op.raised or op.file] = op.level
            self.view = View(levels, marks)

        def refused(self) -> None:
            self.refusals += 1
            if VIEW == "cached":
                self.told = None
                self.view = View()


def lock_key(number: int) -> int:
    """A compactor's: that of the writer it runs beside, where locks are per instance."""
    return number if LOCK_PER == "instance" else WRITERS + number


compactors = [Compactor(lock_key=lock_key(i)) for i in range(COMPACTORS)]
