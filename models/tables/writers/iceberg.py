"""Apache Iceberg: the constants, snapshots and files, the writers, and what they validate."""

from typing import Literal

from statewalk import Auxiliary, Constant, Record, Role, State, action, any_of, require
from statewalk.models.tables.effort import aborted, retried

# -- the protocol ----------------------------------------------------------------------------------
FORMAT: Constant[Literal[2, 3]] = 2  # 3: one deletion vector for each file, so two of them conflict
# How updates and deletes are written (write.update.mode, write.delete.mode):
# copy_on_write (OverwriteFiles) writes files with a change anew; merge_on_read (RowDelta) writes
# marks of rows, and new rows into files of their own.
UPDATE_MODE: Constant[Literal["copy_on_write", "merge_on_read"]] = "merge_on_read"
DELETE_MODE: Constant[Literal["copy_on_write", "merge_on_read"]] = "merge_on_read"
ISOLATION: Constant[Literal["serializable", "snapshot"]] = "serializable"
# What is validated against what was committed since the scan, in the words of the API.
FILES_EXIST: Constant[bool] = True  # validateDataFilesExist: the files whose rows are marked
DELETES_UPDATE: Constant[bool] = True  # validateNoConflictingDeleteFiles, of an UPDATE
DELETES_DELETE: Constant[bool] = True  # the same, of a DELETE; Spark 3.5 to 4.1: off
DELETES_OVERWRITE: Constant[bool] = True  # validateNoConflictingDeletes: marks in what it drops
DATA_FILES: Constant[bool] = True  # validateNoConflictingDataFiles; only if serializable
DELETES_REWRITE: Constant[bool] = True  # BaseRewriteFiles: marks in what a compaction replaces
REMOVED_EXIST: Constant[bool] = True  # failMissingDeletePaths: what it removes must be there
# -- the deployment --------------------------------------------------------------------------------
WRITERS: Constant[int] = 2
COMPARE_AND_SWAP: Constant[bool] = True  # of the catalog's pointer to the table's metadata
# -- the workload ----------------------------------------------------------------------------------
KEYS: Constant[int] = 1  # rows have a key, the table knows no primary key
VALUES: Constant[int] = 2
OPS: Constant[int] = 3
COMPACTIONS: Constant[int] = 0
KINDS: Constant[Literal["all", "insert_update", "insert_delete"]] = "all"
PREDICATE: Constant[Literal["key", "all_rows"]] = "key"  # of updates and deletes

Kind = Literal["insert", "update", "delete", "rewrite"]
Mark = tuple[int, int]  # one entry of a delete file: data file, position
Row = tuple[int, int]  # key, value
CHANGES = {"all": ("update", "delete"), "insert_update": ("update",), "insert_delete": ("delete",)}


# -- records ---------------------------------------------------------------------------------------
class Snapshot(Record):
    """A version of the table, and what it did to the one before."""

    data: frozenset[int] = frozenset()
    marks: frozenset[Mark] = frozenset()
    added: frozenset[int] = frozenset()
    removed: frozenset[int] = frozenset()
    marked: frozenset[Mark] = frozenset()


class Change(Record):
    kind: Kind
    key: int | None  # None: all rows
    value: int | None = None


class Operation(Record):
    change: Change
    scanned: int  # the version it started from
    file: int = 0  # the data file written
    removes: frozenset[int] = frozenset()
    marks: frozenset[Mark] = frozenset()
    keys: frozenset[int] = frozenset()  # of the rows that it found
    base: int = 0


class Committed(Record):
    version: int
    change: Change
    keys: frozenset[int]


# -- the catalog and the store ---------------------------------------------------------------------
class Table(State):
    snapshots: dict[int, Snapshot] = {0: Snapshot()}
    files: dict[int, tuple[Row, ...]] = {}
    files_made: int = 0


class History(State):
    committed: Auxiliary[list[Committed]] = []
    started: int = 0
    compactions: int = 0


table = Table()
history = History()


def current() -> int:
    return max(table.snapshots)


def rows(version: int) -> list[tuple[Mark, Row]]:
    """The rows that a version shows, with where they are."""
    snapshot = table.snapshots[version]
    return [
        ((file, at), row)
        for file in snapshot.data
        for at, row in enumerate(table.files[file])
        if (file, at) not in snapshot.marks
    ]


# -- writers ---------------------------------------------------------------------------------------
class Writer(Role):
    stage: Literal["ready", "write", "validate", "commit"] = "ready"
    op: Operation | None = None

    @action(fair="weak")
    def insert(self, key: int = any_of(range(KEYS)), value: int = any_of(range(VALUES))) -> None:
        """The key is neither there nor being inserted: that bounds the workload."""
        require(all(row[0] != key for _, row in rows(current())) and not being_inserted(key))
        self.start(Change("insert", key, value))

    @action(fair="weak")
    def change(self, kind: Literal["update", "delete"]) -> None:
        require(kind in CHANGES[KINDS] and rows(current()))
        key = (
            None if PREDICATE == "all_rows" else any_of(sorted({r[0] for _, r in rows(current())}))
        )
        self.start(Change(kind, key, any_of(range(VALUES)) if kind == "update" else None))

    def start(self, change: Change) -> None:
        require(self.stage == "ready" and history.started < OPS)
        history.started += 1
        self.op = Operation(change, current())
        self.stage = "write"

    @action(fair="weak")
    def compact(self) -> None:
        """Rewrite all data files as one, without the rows that are marked."""
        require(self.stage == "ready" and history.compactions < COMPACTIONS)
        require(table.snapshots[current()].data)
        history.compactions += 1
        self.op = Operation(Change("rewrite", None), current())
        self.stage = "write"

    @action(fair="weak")
    def write(self) -> None:
        """Scan the snapshot it started from, and write data and marks."""
        require(self.stage == "write")
        op = self.its_op()
        change = op.change
        found = [
            (mark, row)
            for mark, row in rows(op.scanned)
            if change.kind != "insert" and change.key in (None, row[0])
        ]
        op.keys = frozenset(row[0] for _, row in found)
        new = [row for _, row in found] if change.kind == "rewrite" else changed(found, change)
        if change.kind == "rewrite":
            op.removes = table.snapshots[op.scanned].data
        elif mode_of(change) == "merge_on_read":
            op.marks = frozenset(mark for mark, _ in found)
        else:
            op.removes = frozenset(mark[0] for mark, _ in found)
            touched = {mark for mark, _ in found}
            beside = rows(op.scanned)
            new += [row for m, row in beside if m[0] in op.removes and m not in touched]
        if new:
            table.files_made += 1
            op.file = table.files_made
            table.files[op.file] = tuple(sorted(new))
        self.stage = "validate"

    @action(fair="weak")
    def validate(self) -> None:
        """Refresh, validate what was done since the scan, and build the metadata; or give up."""
        require(self.stage == "validate")
        op = self.its_op()
        since = [table.snapshots[v] for v in range(op.scanned + 1, current() + 1)]
        if is_refused(op, since):
            aborted()
            self.end()
        else:
            op.base = current()
            self.stage = "commit"

    @action(fair="weak")
    def commit(self) -> None:
        """Swap the catalog's pointer; who comes second refreshes and validates again."""
        require(self.stage == "commit")
        op = self.its_op()
        if COMPARE_AND_SWAP and op.base != current():
            retried()
            self.stage = "validate"
            return
        last = table.snapshots[op.base]
        added = frozenset({op.file}) if op.file else frozenset()
        data = (last.data - op.removes) | added
        marks = frozenset(mark for mark in last.marks | op.marks if mark[0] in data)
        removed = op.removes & last.data
        table.snapshots[op.base + 1] = Snapshot(data, marks, added, removed, op.marks)
        history.committed.append(Committed(op.base + 1, op.change, op.keys))
        self.end()

    def end(self) -> None:
        self.stage = "ready"
        self.op = None

    def its_op(self) -> Operation:
        assert self.op is not None
        return self.op


writers = [Writer() for _ in range(WRITERS)]


def mode_of(change: Change) -> str:
    return DELETE_MODE if change.kind == "delete" else UPDATE_MODE


def being_inserted(key: int) -> bool:
    changes = [w.op.change for w in writers if w.op is not None]
    return any(change.kind == "insert" and change.key == key for change in changes)


def changed(found: list[tuple[Mark, Row]], change: Change) -> list[Row]:
    """The rows that an operation writes."""
    if change.kind == "insert":
        return [(change.key or 0, change.value or 0)]
    return [(row[0], change.value or 0) for _, row in found if change.kind == "update"]


# -- validation ------------------------------------------------------------------------------------
def is_refused(op: Operation, since: list[Snapshot]) -> bool:
    """Return whether what was committed since the scan forbids an operation to commit."""
    kind = op.change.kind
    if kind == "insert":
        return False
    if REMOVED_EXIST and not op.removes <= table.snapshots[current()].data:
        return True
    if kind == "rewrite":
        return DELETES_REWRITE and marked_in(op.removes, since)
    if DATA_FILES and ISOLATION == "serializable" and matching_added(op.change, since):
        return True
    if mode_of(op.change) == "copy_on_write":
        return DELETES_OVERWRITE and marked_in(op.removes, since)
    files = frozenset(mark[0] for mark in op.marks)
    if FILES_EXIST and any(files & snapshot.removed for snapshot in since):
        return True
    if FORMAT == 3 and marked_in(files, since):
        return True
    checked = DELETES_UPDATE if kind == "update" else DELETES_DELETE
    return checked and any(snapshot.marked for snapshot in since)


def marked_in(files: frozenset[int], since: list[Snapshot]) -> bool:
    """Return whether rows of some files were marked."""
    return any(mark[0] in files for snapshot in since for mark in snapshot.marked)


def matching_added(change: Change, since: list[Snapshot]) -> bool:
    """Return whether files were added in which an operation would have found rows."""
    added = [row for snapshot in since for file in snapshot.added for row in table.files[file]]
    return any(change.key in (None, row[0]) for row in added)
