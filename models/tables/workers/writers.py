"""Writers of a Paimon table: what they write, under which numbers, and into which buckets."""

from statewalk import action, any_of, require
from statewalk.models.tables.lsm import File, Row, RowKind, latest, live, merging_reader, store
from statewalk.models.tables.paimon_settings import (
    ALL_BUCKETS,
    ALL_KEYS,
    BUCKET_MODE,
    BUCKETS,
    ENGINE,
    GRAIN,
    INDEX_UPDATE,
    OPS,
    OPS_PER_WRITER,
    SEQUENCE,
    SKEW,
    STOP_RUNS,
    TOPOLOGY,
    VALUES,
    WORKLOAD,
    WRITERS,
)
from statewalk.models.tables.universal import latest_view, runs_of
from statewalk.models.tables.workers.commit import Worker, index
from statewalk.models.tables.workers.operation import Columns


class Writer(Worker):
    started: int = 0  # operations; numbers the rows where SEQUENCE is per_writer
    numbered: int = 0  # the last sequence number, where SEQUENCE is resumed

    def may_start(self, key: int) -> bool:
        """Return whether the bounds, the topology and back-pressure let this writer write a key
        now.
        """
        return (
            self.op.stage == "idle"
            and started() < OPS
            and (OPS_PER_WRITER is None or self.started < OPS_PER_WRITER)
            and (TOPOLOGY == "topo2" or (key % BUCKETS) % WRITERS == self.index)
            and (STOP_RUNS is None or len(runs_of(latest_view(key % BUCKETS))) <= STOP_RUNS)
        )

    @action(fair="weak")
    def insert(self, key: int = any_of(ALL_KEYS)) -> None:
        """The key is neither there nor being inserted: that bounds the workload, not the table."""
        require(WORKLOAD != "put" and self.may_start(key))
        require(not merging_reader(latest(), key) and not being_inserted(key))
        self.start("+I", key, 0, 0)

    @action(fair="weak")
    def put(self, key: int = any_of(ALL_KEYS)) -> None:
        """Write the key without asking whether it is there."""
        require(WORKLOAD == "put" and self.may_start(key))
        self.start("+I", key, 0, 0)

    @action(fair="weak")
    def update(self, key: int = any_of(ALL_KEYS)) -> None:
        """Read the row, change one column, write it back (partial update: that column alone)."""
        require(WORKLOAD in ("update", "increment", "overwrite") and self.may_start(key))
        row = any_of(merging_reader(latest(), key))
        column, value = any_of(changes(row))
        partial = ENGINE == "partial_update"
        a = value if column == "a" else None if partial else row.a
        b = value if column == "b" else None if partial else row.b
        self.op.changed = column
        self.start("+U", key, a, b)

    @action(fair="weak")
    def upsert(self, key: int = any_of(ALL_KEYS)) -> None:
        """Overwrite the row. A new value in column a lets a wrong order be seen."""
        require(WORKLOAD in ("upsert", "overwrite_blind", "overwrite_any") and self.may_start(key))
        row = any_of(merging_reader(latest(), key))
        self.start("+U", key, any_of([v for v in range(VALUES) if v != row.a]), 0)

    if WORKLOAD in ("overwrite", "overwrite_blind", "overwrite_any"):

        @action(fair="weak")
        def overwrite(self, key: int = any_of(ALL_KEYS)) -> None:
            """INSERT OVERWRITE of the row's bucket: by the row with a change, or by a new row."""
            require(self.may_start(key))
            row = any_of(merging_reader(latest(), key))
            blind = WORKLOAD != "overwrite"
            self.op.kind = "overwrite"
            self.op.changed = "all" if blind else "a"
            a = any_of([v for v in range(VALUES) if v != row.a])
            self.start("+U", key, a, 0 if blind else row.b)

    if WORKLOAD == "overwrite_any":

        @action(fair="weak")
        def load(self, key: int = any_of(ALL_KEYS)) -> None:
            """INSERT OVERWRITE of a bucket that is empty."""
            require(self.may_start(key) and not being_inserted(key))
            require(not merging_reader(latest(), key))
            self.op.kind = "overwrite"
            self.start("+I", key, 0, 0)

    @action(fair="weak")
    def delete(self, key: int = any_of(ALL_KEYS)) -> None:
        require(WORKLOAD == "delete" and self.may_start(key))
        require(merging_reader(latest(), key))
        self.start("-D", key, None, None)

    def start(self, kind: RowKind, key: int, a: int | None, b: int | None) -> None:
        """Begin to write a row."""
        op = self.op
        self.started += 1
        op.row = Row(self.number(), kind, key, a, b)
        op.bucket = self.bucket_for(key)
        op.read = 0 if kind == "+I" else latest()
        op.stage = "data"
        if GRAIN == "fused":
            self.write_data()

    @action(fair="weak")
    def write_data(self) -> None:
        require(self.op.stage == "data")
        row = self.op.row
        assert row is not None
        self.written(File(self.op.bucket, 0, (row,)))

    if SEQUENCE == "opened":
        restored: int | None = None  # the highest number there was when it opened

        @action(fair="weak")
        def open(self) -> None:
            """Restore the files of the table (AbstractFileStoreWrite.createWriterContainer)."""
            require(self.restored is None)
            self.restored = highest_number(latest())

        def number(self) -> int:
            """The next number after those of the files restored (MergeTreeWriter)."""
            require(self.restored is not None)
            return (self.restored or 0) + self.started

    if SEQUENCE != "opened":

        def number(self) -> int:
            """The sequence number of an operation that starts."""
            if SEQUENCE == "resumed":
                self.numbered = max(self.numbered, highest_number(latest())) + 1
                return self.numbered
            if SEQUENCE == "per_writer":
                return self.started
            if SEQUENCE == "snapshot_order":
                return 0  # numbers count within a snapshot, and a write has one row
            return started() + (SKEW if SEQUENCE == "timestamp" and self.index == 0 else 0)

    def bucket_for(self, key: int) -> int:
        """The bucket of a key; in dynamic mode, a key without one may go anywhere."""
        if BUCKET_MODE == "fixed":
            return key % BUCKETS
        if INDEX_UPDATE == "serial":
            require(index.holder is None)
            index.holder = self
        return index.buckets[key] if key in index.buckets else any_of(ALL_BUCKETS)


def started() -> int:
    """Operations of all writers: also the counter they share, and the time."""
    return sum(writer.started for writer in writers)


def being_inserted(key: int) -> bool:
    return any(
        w.op.row is not None and w.op.row.kind == "+I" and w.op.row.key == key for w in writers
    )


def highest_number(version: int) -> int:
    rows = [row for file in live(version) for row in store.files[file].rows]
    return max((row.sequence for row in rows), default=0)


def changes(row: Row) -> list[tuple[Columns, int]]:
    """Return what an update may do to a row: a column and its new value."""
    if WORKLOAD == "increment":
        return [("a", (row.a or 0) + 1)]
    in_a: list[tuple[Columns, int]] = [("a", v) for v in range(VALUES) if v != row.a]
    return [*in_a, ("b", 1 if row.b == 0 else 0)]


writers = [Writer(lock_key=i) for i in range(WRITERS)]
