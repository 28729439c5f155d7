"""Apache Paimon: writers, compactors and a committer on one primary-key table.

An operation has two phases. The *write phase* puts a data file, which nobody sees yet. The *commit
phase* publishes it as part of the next snapshot (see `commit`). The table itself, its files and how
they are read and merged, is in `lsm`.

The grain is abstract: a snapshot is one object, manifests and temporary files are left out. Where
``GRAIN`` is ``fused``, an operation starts and writes its data file in one step.
"""

from typing import Literal

from statewalk import (
    Constant,
    action,
    always,
    any_of,
    config,
    eventually,
    exists,
    init,
    require,
    terminal,
    violates,
)
from statewalk.models.tables.commit import (
    BUCKET_MODE,
    COMPACTIONS,
    CONFLICT_CHECK,
    CRASHES,
    LOCK_LEAKS,
    LOCK_PER,
    LOCKED,
    OPS,
    RESTARTS,
    TOPOLOGY,
    Columns,
    Committer,
    Worker,
    history,
    inbox,
    index,
    is_committed,
    lock,
)
from statewalk.models.tables.lsm import (
    ALL_BUCKETS,
    ALL_KEYS,
    BUCKETS,
    DELETION_VECTORS,
    ENGINE,
    KEYS,
    MAX_LEVEL,
    SEQUENCE,
    File,
    Row,
    RowKind,
    compact,
    latest,
    live,
    live_in,
    merging_reader,
    store,
    vectors,
)
from statewalk.models.tables.paimon_rows import ROWS
from statewalk.models.tables.safety import consistent_read

# -- constants; more of them in commit and lsm -----------------------------------------------------
WRITERS: Constant[int] = 2
COMPACTORS: Constant[int] = 0
OPS_PER_WRITER: Constant[int | None] = None
GRAIN: Constant[Literal["fused", "fine"]] = "fused"
WORKLOAD: Constant[
    Literal[
        "update",  # insert, then read the row and change one column
        "increment",  # insert, then read the row and add one to column a
        "upsert",  # insert, then overwrite the row without reading
        "delete",  # insert, then delete
        "put",  # write the same row whether or not the key is there
    ]
] = "update"
VALUES: Constant[int] = 2  # of column a; column b has two
SKEW: Constant[int] = 1  # by how much writer 0's clock is ahead
INDEX_UPDATE: Constant[Literal["serial", "racy"]] = "serial"  # of the key-to-bucket index
START: Constant[Literal["empty", "two_levels"]] = "empty"  # see the initial states
LIVENESS: Constant[bool] = True  # off where it would take longer than the search

assert START == "empty" or WRITERS == 1, "the prepared table was written by one writer"


# -- writers ---------------------------------------------------------------------------------------
class Writer(Worker):
    started: int = 0  # operations; numbers the rows where SEQUENCE is per_writer
    numbered: int = 0  # the last sequence number, where SEQUENCE is resumed

    def may_start(self, key: int) -> bool:
        """Whether the bounds and the topology let this writer write a key now."""
        return (
            self.op.stage == "idle"
            and started() < OPS
            and (OPS_PER_WRITER is None or self.started < OPS_PER_WRITER)
            and (TOPOLOGY == "topo2" or (key % BUCKETS) % WRITERS == self.index)
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
        require(WORKLOAD in ("update", "increment") and self.may_start(key))
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
        require(WORKLOAD == "upsert" and self.may_start(key))
        row = any_of(merging_reader(latest(), key))
        self.start("+U", key, any_of([v for v in range(VALUES) if v != row.a]), 0)

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
    """What an update may do to a row: a column and its new value."""
    if WORKLOAD == "increment":
        return [("a", (row.a or 0) + 1)]
    in_a: list[tuple[Columns, int]] = [("a", v) for v in range(VALUES) if v != row.a]
    return [*in_a, ("b", 1 if row.b == 0 else 0)]


# -- compactors ------------------------------------------------------------------------------------
class Compactor(Worker):
    @action(fair="weak")
    def start_compaction(
        self, bucket: int = any_of(ALL_BUCKETS), level: int = any_of(range(MAX_LEVEL))
    ) -> None:
        require(self.op.stage == "idle" and history.compactions < COMPACTIONS)
        require(TOPOLOGY == "topo2" or bucket % COMPACTORS == self.index)
        require(any(store.files[file].level == level for file in live_in(latest(), bucket)))
        history.compactions += 1
        op = self.op
        op.kind = "compact"
        op.bucket = bucket
        op.level = level
        op.stage = "data"
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


# -- instances and initial state -------------------------------------------------------------------
def lock_key(number: int) -> int:
    """A compactor's: that of the writer it runs beside, where locks are per instance."""
    return number if LOCK_PER == "instance" else WRITERS + number


writers = [Writer(lock_key=i) for i in range(WRITERS)]
compactors = [Compactor(lock_key=lock_key(i)) for i in range(COMPACTORS)]
committer = Committer()


@init
def two_levels() -> None:
    """The table a lost vector needs: two keys at level 1, one marked there, one newer below."""
    if START == "two_levels":
        finish_write(0)
        finish_write(1)
        finish_compaction()
        finish_write(1)
        finish_compaction()
        finish_write(0)


def finish_write(key: int) -> None:
    if merging_reader(latest(), key):
        writers[0].upsert(key)
    else:
        writers[0].insert(key)
    if GRAIN == "fine":
        writers[0].write_data()
    publish(writers[0])


def finish_compaction() -> None:
    compactors[0].start_compaction(0, 0)
    if GRAIN == "fine":
        compactors[0].merge()
    publish(compactors[0])


def publish(worker: Worker) -> None:
    worker.write_metadata()
    if LOCKED:
        worker.prepare()
    worker.commit()


# -- safety of the workers; that of what they publish is in safety ---------------------------------
@always
def no_bad_state() -> bool:
    """Who has written data has a file in the store."""
    return all(w.op.stage in ("idle", "data") or w.op.file in store.files for w in everybody())


if WORKLOAD == "increment":

    @always
    def no_lost_increment() -> bool:
        """Column a counts the increments that were acknowledged."""
        return all(
            row.a == sum(a.row is not None and a.row.key == key for a in history.acked) - 1
            for key in ALL_KEYS
            for row in merging_reader(latest(), key)
        )


# -- witnesses, each where the constants allow it --------------------------------------------------
RACERS = 1 if TOPOLOGY == "flink" else min(WRITERS, OPS) + min(COMPACTORS, COMPACTIONS)
ONE_BY_ONE = BUCKET_MODE == "dynamic" and INDEX_UPDATE == "serial"

if RACERS > 1 and OPS + COMPACTIONS - (KEYS == 1) > 1 and not ONE_BY_ONE:

    @exists
    def somebody_is_late() -> bool:
        """A snapshot is about to be published that is built on an outdated one."""
        return any(w.op.next is not None and w.op.base < latest() for w in everybody())


if DELETION_VECTORS and OPS > 1 and COMPACTIONS > 1:

    @exists
    def a_row_is_marked() -> bool:
        return bool(vectors(latest()))


if CONFLICT_CHECK == "bucket" and WORKLOAD == "update" and WRITERS > 1:

    @exists
    def an_update_is_refused() -> bool:
        """A data file is in the store that nobody will publish."""
        published = [ack.file for ack in history.acked]
        return settled() and any(file not in published for file in range(1, store.files_made + 1))


if RESTARTS > 0:

    @exists
    def something_is_replayed() -> bool:
        return any(is_committed(op.file) for op in inbox.queue)


# -- liveness and the end --------------------------------------------------------------------------
def everybody() -> list[Worker]:
    return [*writers, *compactors, committer]


def settled() -> bool:
    return all(w.op.stage == "idle" for w in everybody()) and not inbox.queue


if LIVENESS:

    @eventually
    @always
    def all_ops_settle() -> bool:
        """Every operation that started is committed or given up in the end."""
        return settled()


if LIVENESS and TOPOLOGY != "topo2" and CRASHES == 0:

    @eventually
    @always
    def all_snapshots_committed() -> bool:
        """Where nobody is in anybody's way, each operation ends up in a snapshot of its own."""
        return latest() == started() + history.compactions


@terminal
def nothing_under_way() -> bool:
    """Or what waits waits for a leaked lock: that is for `all_ops_settle` to report."""
    return settled() or (LOCK_LEAKS and lock.holder is not None)


# -- configurations --------------------------------------------------------------------------------
config("defaults", expect=violates(consistent_read, length=6, states=29))

for name, expect, constants in ROWS:
    config(name, expect=expect, **constants)
