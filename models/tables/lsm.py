"""A primary-key table as files: rows, data files, snapshots, deletion vectors, and their readers.

Each bucket of the table is an LSM tree. Writers put rows into files of level 0, compactions merge
them into higher levels (`compact`: of one level, the abstraction; `universal`: as Paimon does).
Files never change: a snapshot lists those that are live and, with deletion vectors, the rows in
them that no longer count.

There are two readers. The *merging reader* takes every live row that no vector marks and lets the
newest win. The *deletion-vector reader* looks at levels above 0 only and merges nothing: vectors
are there to spare it that, so each key must have one unmarked row at most.
"""

from typing import Literal

from statewalk import Record, State, mutant
from statewalk.models.tables.paimon_settings import (
    ALL_BUCKETS,
    ALL_KEYS,
    DELETION_VECTORS,
    ENGINE,
    SEQUENCE,
    TIE,
    UNIVERSAL,
)

RowKind = Literal["+I", "+U", "-D"]
Mark = tuple[int, int]  # one entry of a deletion vector: file, position of the row in it


# -- records ---------------------------------------------------------------------------------------
class Row(Record):
    """``order`` is the snapshot a row counts as written by; None: the one that added its file."""

    sequence: int
    kind: RowKind
    key: int
    a: int | None = None  # None: deleted, or not touched by a partial update
    b: int | None = None
    order: int | None = None


class File(Record):
    bucket: int
    level: int
    rows: tuple[Row, ...]


class Snapshot(Record):
    """One version of the table. ``live`` maps each live file to the version that added it."""

    kind: Literal["append", "compact", "overwrite"]
    bucket: int  # where the change was
    identifier: int  # whose change: the number of the file it added
    live: dict[int, int]
    vectors: frozenset[Mark] = frozenset()
    raised: dict[int, int] = {}  # files that are at another level than they were written for
    checkpoint: int = 0  # of the committable it came from


class Compaction(Record):
    """The input and output of a compaction: the files it replaces, the rows it writes.

    ``vectors`` is the bucket's new set of marks, None where they stay as they are.
    """

    sources: tuple[int, ...]
    rows: tuple[Row, ...]
    vectors: frozenset[Mark] | None = None


# -- the object store ------------------------------------------------------------------------------
class ObjectStore(State):
    """Data files by number, snapshots by version; `metadata` has the files between them."""

    files: dict[int, File] = {}
    snapshots: dict[int, Snapshot] = {}
    files_made: int = 0

    def put(self, file: File) -> int:
        """Store a data file under a new number; without rows there is no file, only the number."""
        self.files_made += 1
        if file.rows or not UNIVERSAL:
            self.files[self.files_made] = file
        return self.files_made


store = ObjectStore()


def latest() -> int:
    """The newest version, found by looking for one after the other; 0 is the empty table."""
    version = 0
    while version + 1 in store.snapshots:
        version += 1
    return version


def live(version: int) -> dict[int, int]:
    """The live files of a version, with the versions that added them."""
    return store.snapshots[version].live if version else {}


def vectors(version: int) -> frozenset[Mark]:
    return store.snapshots[version].vectors if version else frozenset()


def level_of(version: int, file: int) -> int:
    """The level of a live file."""
    raised = store.snapshots[version].raised
    return raised[file] if file in raised else store.files[file].level


def live_in(version: int, bucket: int) -> list[int]:
    """The live files of one bucket, oldest first."""
    added = live(version)
    found = [(added[file], file) for file in added if store.files[file].bucket == bucket]
    return [file for _, file in sorted(found)]


# -- merging ---------------------------------------------------------------------------------------
def unmarked(version: int, files: list[int]) -> list[Row]:
    """The rows of live files that no deletion vector marks, in the order of the files."""
    return rows_of(files, live(version), vectors(version))


def rows_of(files: list[int], added: dict[int, int], marks: frozenset[Mark]) -> list[Row]:
    """The rows that are not marked; each carries the snapshot that it counts as written by."""
    return [
        Row(r.sequence, r.kind, r.key, r.a, r.b, added.get(file, 0) if r.order is None else r.order)
        for file in files
        for position, r in enumerate(store.files[file].rows)
        if (file, position) not in marks
    ]


def age(row: Row) -> tuple[int, int]:
    """Newer rows have greater ages."""
    return (row.order or 0, row.sequence) if SEQUENCE == "snapshot_order" else (0, row.sequence)


def newest_last(rows: list[Row]) -> list[Row]:
    """Sorted so that of two rows the later one wins; `sorted` keeps ties as they were."""
    return sorted(reversed(rows) if TIE == "first" else rows, key=age)


def merged(rows: list[Row], key: int) -> Row | None:
    """The one row that those of a key amount to; a tombstone if it is deleted."""
    result: Row | None = None
    for row in newest_last([row for row in rows if row.key == key]):
        if ENGINE == "partial_update" and result is not None and row.kind == "+U":
            a = result.a if row.a is None else row.a
            b = result.b if row.b is None else row.b
            result = Row(row.sequence, "+U", key, a, b, row.order)
        else:
            result = row
    return result


# -- readers ---------------------------------------------------------------------------------------
def merging_reader(version: int, key: int) -> list[Row]:
    """Return what a key reads as: no row, one, or several where the key is in several buckets."""
    found = [merged(unmarked(version, live_in(version, bucket)), key) for bucket in ALL_BUCKETS]
    return [row for row in found if row is not None and row.kind != "-D"]


def vector_reader(version: int, key: int) -> list[Row]:
    """Return what a key reads as without merging: every unmarked row above level 0."""
    upper = [file for file in live(version) if level_of(version, file) > 0]
    return [row for row in unmarked(version, upper) if row.key == key]


# -- compaction ------------------------------------------------------------------------------------
def compact(version: int, bucket: int, level: int) -> Compaction:
    """Merge the files of one level of a bucket, as of a version."""
    files = live_in(version, bucket)
    sources = [file for file in files if store.files[file].level == level]
    higher = [file for file in files if store.files[file].level > level]
    results = results_of(unmarked(version, sources))
    kept = [as_written(row) for row in results if is_kept(row, higher)]
    if not DELETION_VECTORS:
        return Compaction(tuple(sources), tuple(kept))
    before = marks_in(version, bucket)
    after = without(before | marks_of({row.key for row in results}, higher), sources)
    return Compaction(tuple(sources), tuple(kept), None if after == before else after)


def results_of(rows: list[Row]) -> list[Row]:
    """The one row of each key that has any, tombstones too: they hide what is in higher levels."""
    return [row for row in [merged(rows, key) for key in ALL_KEYS] if row is not None]


def as_written(row: Row) -> Row:
    """A row as a compaction writes it: it counts as written by the same snapshot as before."""
    return row


def is_kept(row: Row, higher: list[int]) -> bool:
    """Return whether a compaction writes a row: all but tombstones with nothing left to hide."""
    if row.kind != "-D":
        return True
    return not DELETION_VECTORS and bool(marks_of({row.key}, higher))


def marks_in(version: int, bucket: int) -> frozenset[Mark]:
    """The deletion vectors of one bucket."""
    return frozenset(m for m in vectors(version) if store.files[m[0]].bucket == bucket)


def marks_of(keys: set[int], files: list[int]) -> frozenset[Mark]:
    """Marks for all rows of some keys in some files."""
    return frozenset(
        (file, position)
        for file in files
        for position, row in enumerate(store.files[file].rows)
        if row.key in keys
    )


def without(marks: frozenset[Mark], files: list[int]) -> frozenset[Mark]:
    """Marks, but for those of files that are replaced."""
    return frozenset(mark for mark in marks if mark[0] not in files)


# -- mutants ---------------------------------------------------------------------------------------
@mutant(as_written)
def own_stamp(row: Row) -> Row:
    """Rows of a compaction count as written by the compaction's snapshot."""
    return Row(row.sequence, row.kind, row.key, row.a, row.b)


@mutant(results_of)
def early_tombstone_drop(rows: list[Row]) -> list[Row]:
    """A compaction of any level forgets what was deleted."""
    results = [merged(rows, key) for key in ALL_KEYS]
    return [row for row in results if row is not None and row.kind != "-D"]


@mutant(without)
def keep_vectors(marks: frozenset[Mark], files: list[int]) -> frozenset[Mark]:
    """Vectors of files that a compaction replaces stay."""
    return marks
