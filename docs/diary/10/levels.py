"""A table made of files in levels: compactions merge them, and mark rows that no longer count."""

from typing import Literal

from statewalk import (
    Constant,
    Record,
    Role,
    State,
    action,
    always,
    any_of,
    draw,
    exists,
    picture,
    require,
    terminal,
)

COMPACTORS: Constant[int] = 1
OPS: Constant[int] = 2
COMPACTIONS: Constant[int] = 3
LEVELS: Constant[int] = 4  # 0 is where writers put their files
DELETES: Constant[bool] = False  # the writer inserts and deletes, else it inserts and updates
VECTORS: Constant[bool] = True  # whether a compaction marks what it makes outdated above
# Whether a compaction gives up if a file that it replaces is gone.
LOOKS_FOR_SOURCES: Constant[bool] = True
# Whether a compaction gives up if one was published since it looked at the table.
CHECK: Constant[bool] = False
# Whether a compaction forgets the marks of the files that it replaces.
CLEANS_VECTORS: Constant[bool] = True
# Whether a compaction keeps deletions while a higher level may hold the row.
KEEPS_DELETIONS: Constant[bool] = True
# Whether all but who inserts note which version was the latest when they began. Nobody asks.
NOTES_VERSION: Constant[bool] = False


class File(Record):
    level: int
    number: int  # of its row; one key, so one row
    value: int | None  # None: the row is deleted
    empty: bool = False


class Snapshot(Record):
    files: frozenset[int] = frozenset()
    marked: frozenset[int] = frozenset()  # files whose row no longer counts
    compactions: int = 0  # that led here


class Op(Record):
    stage: Literal["idle", "metadata", "commit"] = "idle"
    sources: frozenset[int] = frozenset()
    file: int = -1
    marked: frozenset[int] | None = None  # None: it changes no mark
    seen: int = 0  # compactions that were published when it looked
    noted: int = 0
    base: int = 0
    snapshot: Snapshot = Snapshot()


class Store(State):
    files: list[File] = []
    snapshots: list[Snapshot] = [Snapshot()]
    values: list[int | None] = [None]  # history: what the table should say, by version

    def latest(self) -> Snapshot:
        return self.snapshots[-1]

    def read(self, snapshot: Snapshot) -> int | None:
        """What a reader finds who merges all levels."""
        rows = [self.files[f] for f in snapshot.files - snapshot.marked if not self.files[f].empty]
        return max(rows, key=lambda row: row.number).value if rows else None


class Worker(Role):
    op: Op = Op()

    @action
    def build_snapshot(self) -> None:
        """On the latest one; or give up, if what was to be replaced is gone."""
        require(self.op.stage == "metadata")
        now = store.latest()
        overtaken = CHECK and self.op.sources and now.compactions > self.op.seen
        gone = LOOKS_FOR_SOURCES and not self.op.sources <= now.files
        if overtaken or gone:
            self.op = Op()
            return
        self.op.base = len(store.snapshots)
        self.op.snapshot = Snapshot(
            (now.files - self.op.sources) | {self.op.file},
            now.marked if self.op.marked is None else self.op.marked,
            now.compactions + bool(self.op.sources),
        )
        self.op.stage = "commit"

    @action
    def commit(self) -> None:
        require(self.op.stage == "commit")
        if self.op.base < len(store.snapshots):
            self.op.stage = "metadata"
            self.op.base = 0
            self.op.snapshot = Snapshot()
            return
        store.snapshots.append(self.op.snapshot)
        new = store.files[self.op.file].value
        store.values.append(store.values[-1] if self.op.sources else new)
        self.op = Op()


class Writer(Worker):
    started: int = 0

    @action
    def write(self) -> None:
        require(self.op.stage == "idle" and self.started < OPS)
        before = store.read(store.latest())
        self.started += 1
        value = 0 if before is None else None if DELETES else 1 - before
        store.files.append(File(0, self.started, value))
        self.op = Op("metadata", file=len(store.files) - 1, noted=0 if before is None else noted())


class Compactor(Worker):
    @action
    def compact(self, level: int = any_of(range(LEVELS - 1))) -> None:
        """Merge what a level has into one file of the next."""
        now = store.latest()
        require(self.op.stage == "idle" and table.started < COMPACTIONS)
        sources = frozenset(f for f in now.files if store.files[f].level == level)
        require(sources)
        table.started += 1
        above = {f for f in now.files if store.files[f].level > level and not store.files[f].empty}
        rows = [store.files[f] for f in sources - now.marked if not store.files[f].empty]
        marked = None
        if rows:
            row = max(rows, key=lambda row: row.number)
            if row.value is not None or (not VECTORS and needs_deletion(above)):
                store.files.append(File(level + 1, row.number, row.value))
            else:
                store.files.append(File(level + 1, 0, None, empty=True))
            if VECTORS:
                marked = now.marked | above
        else:
            store.files.append(File(level + 1, 0, None, empty=True))
        if VECTORS and CLEANS_VECTORS and (marked or now.marked) & sources:
            marked = (now.marked if marked is None else marked) - sources
        changed = None if marked == now.marked else marked
        self.op = Op("metadata", sources, len(store.files) - 1, changed, now.compactions, noted())


def needs_deletion(above: set[int]) -> bool:
    return KEEPS_DELETIONS and bool(above)


def noted() -> int:
    return len(store.snapshots) if NOTES_VERSION else 0


class Table(State):
    started: int = 0  # compactions


table = Table()
store = Store()
writer = Writer()
compactors = [Compactor() for _ in range(COMPACTORS)]


@always
def no_dangling_vector() -> bool:
    """Where a row is marked, its file is part of the table."""
    return all(snapshot.marked <= snapshot.files for snapshot in store.snapshots)


@always
def one_valid_row() -> bool:
    """With vectors, readers merge nothing above level 0: one row at most may count there."""
    return not VECTORS or all(
        sum(store.files[f].level > 0 and not store.files[f].empty for f in s.files - s.marked) <= 1
        for s in store.snapshots
    )


@always
def readers_see_the_last_write() -> bool:
    return all(
        store.read(snapshot) == value
        for snapshot, value in zip(store.snapshots, store.values, strict=True)
    )


@exists
def something_is_marked() -> bool:
    return bool(store.latest().marked)


@picture
def levels() -> draw.Part:
    """The latest snapshot by levels: each file's row and value; marked files have a strong edge."""
    now = store.latest()
    known = {f for s in (now.files, now.marked) for f in s}
    by_level: dict[int, list[int]] = {}
    for file in sorted(known):
        by_level.setdefault(store.files[file].level, []).append(file)
    return draw.grid(
        *([f"level {n}", *(box_of(now, f) for f in by_level[n])] for n in sorted(by_level))
    )


def box_of(snapshot: Snapshot, number: int) -> draw.Part:
    file = store.files[number]
    text = "no row" if file.empty else f"#{file.number} = {file.value}"
    there = number in snapshot.files
    title = f"file {number}" if there else f"file {number}: gone"
    color = file.number if there else "red"
    return draw.box(text, title=title, color=color, strong=number in snapshot.marked)


@terminal
def at_rest() -> bool:
    return all(w.op.stage == "idle" for w in (writer, *compactors)) and writer.started == OPS
