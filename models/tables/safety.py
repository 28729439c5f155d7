"""The safety of every version of a table, from its files and from acknowledged writes.

The properties compare two independent accounts: the snapshots, through the readers of `lsm`, and
the history of operations whose workers believe them published.
"""

from statewalk import always
from statewalk.models.tables.lsm import (
    level_of,
    live,
    merging_reader,
    store,
    vector_reader,
    vectors,
)
from statewalk.models.tables.paimon_settings import (
    ALL_KEYS,
    ASK_FOR_RUNS,
    DELETION_VECTORS,
    UNIVERSAL,
    VERSIONS,
)
from statewalk.models.tables.universal import ranges_overlap
from statewalk.models.tables.workers.operation import history


@always
def sequential_snapshots() -> bool:
    """The versions are 1, 2, ... without gaps."""
    return all(v == 1 or v - 1 in store.snapshots for v in VERSIONS if v in store.snapshots)


@always
def no_snapshot_lost() -> bool:
    """Each version is acknowledged to one worker at most, and holds what that worker published."""
    return all(
        [ack.file for ack in history.acked if ack.version == v] == [store.snapshots[v].identifier]
        for v in VERSIONS
        if v in store.snapshots
    )


@always
def consistent_read() -> bool:
    """Each column of a key reads as the last committed write that changed it left it."""
    return all(
        read(v, key) == expected(v, key)
        for v in VERSIONS
        for key in ALL_KEYS
        if v in store.snapshots
    )


def read(version: int, key: int) -> list[tuple[int | None, int | None]]:
    """The columns of a key as the merging reader has them: the row of the highest number."""
    return [(row.a, row.b) for row in merging_reader(version, key)]


def expected(version: int, key: int) -> list[tuple[int | None, int | None]]:
    """The row of a key, column by column: each is as the last operation that changed it left it."""
    a = b = None
    for ack in history.acked:
        if ack.version <= version and ack.row is not None and ack.row.key == key:
            a = ack.row.a if ack.changed in ("a", "all") else a
            b = ack.row.b if ack.changed in ("b", "all") else b
    return [] if a is None else [(a, b)]


@always
def no_dangling_vector() -> bool:
    """In every version, deletion vectors are of live files."""
    return all(not dangling(v) for v in VERSIONS if v in store.snapshots)


def dangling(version: int) -> bool:
    return any(mark[0] not in live(version) for mark in vectors(version))


@always
def one_valid_row() -> bool:
    """With deletion vectors, a key has one unmarked row above level 0 at most, in every version."""
    return all(
        len(vector_reader(v, key)) <= 1
        for v in VERSIONS
        for key in ALL_KEYS
        if DELETION_VECTORS and v in store.snapshots
    )


@always
def doubled_rows_leave_a_trace() -> bool:
    """A version with two valid rows of a key has a dangling vector as well.

    False where a deletion vector was lost: nothing in the table tells.
    """
    return all(
        len(vector_reader(v, key)) <= 1 or dangling(v)
        for v in VERSIONS
        for key in ALL_KEYS
        if DELETION_VECTORS and v in store.snapshots
    )


@always
def vector_reader_agrees() -> bool:
    """After a compaction that leaves level 0 empty, both readers see the same."""
    return all(
        vector_reader(v, key) == merging_reader(v, key)
        for v in VERSIONS
        for key in ALL_KEYS
        if DELETION_VECTORS and v in store.snapshots and is_compacted(v)
    )


def is_compacted(version: int) -> bool:
    snapshot = store.snapshots[version]
    return snapshot.kind == "compact" and all(level_of(version, f) > 0 for f in snapshot.live)


@always
def pk_in_one_bucket() -> bool:
    """A key that is in some bucket is in no other."""
    return all(
        len(merging_reader(v, k)) <= 1 for v in VERSIONS for k in ALL_KEYS if v in store.snapshots
    )


@always
def committed_once() -> bool:
    """No committable is in two snapshots."""
    return all(
        store.snapshots[v].identifier != store.snapshots[w].identifier
        for v in VERSIONS
        for w in range(1, v)
        if v in store.snapshots and w in store.snapshots
    )


@always
def orphans_unreferenced() -> bool:
    """Every live file belongs to an operation that was acknowledged."""
    return all(
        file in [ack.file for ack in history.acked]
        for v in VERSIONS
        if v in store.snapshots
        for file in live(v)
    )


if UNIVERSAL or ASK_FOR_RUNS:

    @always
    def one_run_per_level() -> bool:
        """Above level 0, files of one level of a bucket have no keys in common, in any version."""
        return all(not ranges_overlap(store.snapshots[v]) for v in VERSIONS if v in store.snapshots)
