"""A table made of files: writers put data files, and publish snapshots that name them."""

from typing import Literal

from statewalk import (
    Auxiliary,
    Constant,
    Record,
    Role,
    State,
    action,
    always,
    any_of,
    exists,
    require,
    terminal,
)

WRITERS: Constant[int] = 2
KEYS: Constant[int] = 1
OPS: Constant[int] = 3
VALUES: Constant[int] = 2  # of column a; column b has two
# Whether a key belongs to one writer.
OWNED: Constant[bool] = False
# An update reads the row and changes one column. An upsert writes a whole row and reads nothing.
WORKLOAD: Constant[Literal["update", "upsert"]] = "update"
GUARD: Constant[
    Literal[
        "put_if_absent",  # the store refuses to put a snapshot that is there
        "lock",  # who holds the lock looks whether its snapshot is there, and puts it
        "lock_without_a_look",
        "none",
    ]
] = "put_if_absent"
# Of two rows with the same key, a reader takes the one with the higher number. Where from?
NUMBERS: Constant[
    Literal[
        "per_writer",  # each writer counts
        "shared",  # all writers count together, when they begin
        "snapshot",  # the order of snapshots counts
        "resumed",  # a writer goes on from the highest number that it can read
    ]
] = "per_writer"
# Whether who has read a row gives up if its key was written since.
CHECK: Constant[bool] = False
# Whether an upsert, too, notes which version was the latest when it began. Nobody asks.
NOTES_VERSION: Constant[bool] = False


class Row(Record):
    number: int
    key: int
    a: int
    b: int


class Op(Record):
    stage: Literal["idle", "metadata", "prepare", "commit"] = "idle"
    file: int = -1
    read: int = 0  # the version it has read; 0 if it reads nothing
    columns: str = "ab"  # what it changes
    base: int = 0  # the version that its snapshot follows
    snapshot: tuple[int, ...] = ()  # its snapshot: files, the newest last


class Acked(Record):
    version: int
    file: int
    columns: str


class Store(State):
    files: list[Row] = []  # never changed
    snapshots: list[tuple[int, ...]] = []
    lock: int | None = None
    acked: Auxiliary[list[Acked]] = []

    def latest(self) -> int:
        return len(self.snapshots)

    def rows(self, version: int, key: int) -> list[Row]:
        """All rows with a key, the newest file last."""
        files = self.snapshots[version - 1] if version > 0 else ()
        return [self.files[file] for file in files if self.files[file].key == key]

    def read(self, version: int, key: int) -> Row | None:
        """What a reader finds."""
        rows = self.rows(version, key)
        if not rows:
            return None
        return rows[-1] if NUMBERS == "snapshot" else max(rows, key=lambda row: row.number)


class Writer(Role):
    op: Op = Op()
    started: int = 0
    number: int = 0

    def may_begin(self, key: int) -> bool:
        mine = not OWNED or key % WRITERS == self.index
        return self.op.stage == "idle" and mine and sum(w.started for w in writers) < OPS

    @action
    def insert(self, key: int = any_of(range(KEYS))) -> None:
        require(self.may_begin(key) and store.read(store.latest(), key) is None)
        require(
            not any(w.op.stage != "idle" and store.files[w.op.file].key == key for w in writers)
        )
        self.write(key, 0, 0, "ab", read=0)

    @action
    def update(self, key: int = any_of(range(KEYS))) -> None:
        require(self.may_begin(key))
        row = store.read(store.latest(), key)
        require(row is not None)
        a, b = any_of(
            [(a, 0 if WORKLOAD == "upsert" else row.b) for a in range(VALUES) if a != row.a]
            + [(row.a, 1 - row.b)] * (WORKLOAD == "update")
        )
        if WORKLOAD == "upsert":
            self.write(key, a, b, "ab", read=store.latest() if NOTES_VERSION else 0)
        else:
            self.write(key, a, b, "a" if a != row.a else "b", read=store.latest())

    def write(self, key: int, a: int, b: int, columns: str, read: int) -> None:
        """Put a data file. Nobody sees it before a snapshot names it."""
        self.started += 1
        row = Row(self.next_number(), key, a, b)
        store.files.append(row)
        self.op = Op("metadata", len(store.files) - 1, read, columns)

    def next_number(self) -> int:
        if NUMBERS == "snapshot":
            return 0
        if NUMBERS == "shared":
            return sum(w.started for w in writers)
        if NUMBERS == "resumed":
            there = [row.number for key in range(KEYS) for row in store.rows(store.latest(), key)]
            self.number = max([self.number, *there]) + 1
            return self.number
        return self.started

    @action
    def build_snapshot(self) -> None:
        """On the latest one; or give up, if what was read is no longer so."""
        require(self.op.stage == "metadata")
        if CHECK and self.op.read > 0 and self.was_overtaken():
            self.op = Op()
            return
        self.op.base = store.latest()
        files = store.snapshots[-1] if store.snapshots else ()
        self.op.snapshot = (*files, self.op.file)
        self.op.stage = "prepare" if GUARD in ("lock", "lock_without_a_look") else "commit"

    def was_overtaken(self) -> bool:
        key = store.files[self.op.file].key
        return len(store.rows(store.latest(), key)) > len(store.rows(self.op.read, key))

    @action
    def take_lock(self) -> None:
        require(self.op.stage == "prepare" and store.lock is None)
        if GUARD == "lock" and store.latest() > self.op.base:
            self.build_again()
        else:
            store.lock = self.index
            self.op.stage = "commit"

    def build_again(self) -> None:
        self.op.snapshot = ()
        self.op.base = 0
        self.op.stage = "metadata"

    @action
    def commit(self) -> None:
        require(self.op.stage == "commit")
        version = self.op.base + 1
        if version <= store.latest() and GUARD == "put_if_absent":
            self.build_again()
            return
        if version <= store.latest():
            store.snapshots[version - 1] = self.op.snapshot
        else:
            store.snapshots.append(self.op.snapshot)
        store.acked.append(Acked(version, self.op.file, self.op.columns))
        store.lock = None
        self.op = Op()


store = Store()
writers = [Writer() for _ in range(WRITERS)]


@always
def no_snapshot_lost() -> bool:
    """What a writer was told is published is in the snapshot of that version, it alone."""
    return all(acked.file in store.snapshots[acked.version - 1] for acked in store.acked) and len(
        {acked.version for acked in store.acked}
    ) == len(store.acked)


@always
def readers_see_the_last_write() -> bool:
    """In every version, each column is as the last write to it, in order of versions, left it."""
    return all(
        row is None or (row.a, row.b) == (last("a", version, key), last("b", version, key))
        for version in range(1, store.latest() + 1)
        for key in range(KEYS)
        for row in [store.read(version, key)]
    )


def last(column: str, version: int, key: int) -> int:
    rows = [
        store.files[acked.file]
        for acked in store.acked
        if acked.version <= version and column in acked.columns
        if store.files[acked.file].key == key
    ]
    return 0 if not rows else rows[-1].a if column == "a" else rows[-1].b


@exists
def two_at_once() -> bool:
    return sum(writer.op.stage != "idle" for writer in writers) > 1


@terminal
def all_is_written() -> bool:
    return all(w.op.stage == "idle" for w in writers) and sum(w.started for w in writers) == OPS
