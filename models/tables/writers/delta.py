"""Delta Lake: the constants, the log and the data files, and the writers."""

from typing import Literal

from statewalk import Auxiliary, Constant, Record, Role, State, action, any_of, require
from statewalk.models.tables.effort import aborted, retried

# -- the protocol ----------------------------------------------------------------------------------
PUT_IF_ABSENT: Constant[bool] = True  # the store refuses to overwrite an entry of the log
COORDINATED: Constant[bool] = False  # a lock is taken, and under it the version looked at again
CHECK: Constant[
    Literal[
        "partition",  # with any entry at or after the version read that touches the partition
        "strict_after",  # the same, after the version read
        "files",  # files that I read were removed, or such that I would have read were added
        "files_snapshot",  # only the first: snapshot isolation
    ]
] = "partition"
# -- the deployment --------------------------------------------------------------------------------
PARTITIONED: Constant[bool] = True  # by the key
WRITERS: Constant[int] = 2
# -- the workload ----------------------------------------------------------------------------------
KEYS: Constant[int] = 1
VALUES: Constant[int] = 1
OPS: Constant[int] = 2
CRASHES: Constant[bool] = True  # of writers, before they commit
COMPACTIONS: Constant[int] = 0  # OPTIMIZE: the files of a partition become one

Kind = Literal["insert", "update", "delete", "optimize"]
Name = tuple[int, int | None]  # of a data file: its number, its partition
Phase = Literal["ready", "read", "write", "check", "commit", "failed"]


# -- records ---------------------------------------------------------------------------------------
class DataFile(Record):
    name: Name
    rows: frozenset[tuple[int, int]]


class Entry(Record):
    """Of the log: what a version adds and removes."""

    added: frozenset[Name]
    removed: frozenset[Name]


class Change(Record):
    read: int  # the version it starts from
    kind: Kind
    key: int
    value: int | None = None


class Committed(Record):
    version: int
    change: Change


# -- the table -------------------------------------------------------------------------------------
class Table(State):
    log: dict[int, Entry] = {}
    files: dict[Name, frozenset[tuple[int, int]]] = {}
    lock: "Writer | None" = None


class History(State):
    committed: Auxiliary[dict[int, list[Committed]]] = {key: [] for key in range(KEYS)}
    started: int = 0
    compactions: int = 0


table = Table()
history = History()


def current() -> int:
    return max(table.log, default=0)


def partition_of(key: int) -> int | None:
    return key if PARTITIONED else None


def is_live(name: Name, log: dict[int, Entry]) -> bool:
    return any(
        name in entry.added
        and not any(name in later.removed for v, later in log.items() if v > version)
        for version, entry in log.items()
    )


# -- writers ---------------------------------------------------------------------------------------
class Writer(Role):
    phase: Phase = "ready"
    change: Change | None = None
    log: dict[int, Entry] = {}  # as it was when the transaction started
    targets: frozenset[DataFile] = frozenset()  # what it replaces
    version: int = 0  # that it will commit
    added: frozenset[Name] = frozenset()
    removed: frozenset[Name] = frozenset()

    @action(fair="weak")
    def start(
        self,
        kind: Literal["insert", "update", "delete"],
        key: int = any_of(range(KEYS)),
    ) -> None:
        require(history.started < OPS)
        history.started += 1
        self.change = Change(current(), kind, key)
        if kind != "delete":
            self.change.value = any_of(range(VALUES))
        self.begin()

    if COMPACTIONS > 0:

        @action(fair="weak")
        def optimize(self, key: int = any_of(range(KEYS))) -> None:
            require(history.compactions < COMPACTIONS)
            history.compactions += 1
            self.change = Change(current(), "optimize", key)
            self.begin()

    def begin(self) -> None:
        require(self.phase == "ready")
        self.log = dict(table.log)
        self.version = current() + 1
        self.phase = "read"

    @action(fair="weak")
    def read(self) -> None:
        """Load what to replace: for an insert one file, old or new, else all with the key."""
        require(self.phase == "read")
        change = self.its_change()
        if change.kind == "insert":
            name = any_of(self.names_for(partition_of(change.key)))
            self.targets = frozenset({DataFile(name, table.files.get(name, frozenset()))})
        elif change.kind == "optimize":
            self.targets = frozenset(
                DataFile(name, rows)
                for name, rows in table.files.items()
                if is_live(name, self.log) and name[1] == partition_of(change.key)
            )
        else:
            self.targets = frozenset(
                DataFile(name, rows)
                for name, rows in table.files.items()
                if is_live(name, self.log) and any(row[0] == change.key for row in rows)
            )
        if self.targets:
            self.phase = "write"
        else:
            self.end()  # nothing to do

    def names_for(self, partition: int | None) -> list[Name]:
        """Files an insert may go into: live ones, and a new one, which has no name yet.

        The public specification takes any free name for it, 0 and at first 1 as well, and by the
        time it writes that may be another's file. The coarse checks hide this; the counts need it.
        """
        parts = range(KEYS) if PARTITIONED else (None,)
        names = [(n, part) for n in range(max(1, len(table.files)) + 1) for part in parts]
        return [
            name
            for name in names
            if name[1] == partition
            and (is_live(name, self.log) or (name not in table.files and may_be_new(name)))
        ]

    @action(fair="weak")
    def write(self) -> None:
        """Write each file anew, with the change; an OPTIMIZE writes all of them as one."""
        require(self.phase == "write")
        change = self.its_change()
        self.removed = frozenset(t.name for t in self.targets if t.name in table.files)
        added = []
        parts = [target.rows for target in self.targets]
        if change.kind == "optimize":
            parts = [frozenset(row for rows in parts for row in rows)]
        for rows in parts:
            name = (len(table.files) + 1, partition_of(change.key))
            table.files[name] = changed(rows, change)
            added.append(name)
        self.added = frozenset(added)
        self.phase = "check" if COORDINATED else "commit"

    @action(fair="weak")
    def check_version(self) -> None:
        """Take the lock, if the version is still free; look for a conflict and move on, if not."""
        require(COORDINATED and self.phase == "check" and table.lock is None)
        if self.version > current():
            table.lock = self
            self.phase = "commit"
        else:
            self.check_or_end()

    @action(fair="weak")
    def commit(self) -> None:
        """Put the entry of the version. Without put-if-absent, that may overwrite another."""
        require(self.phase == "commit")
        if PUT_IF_ABSENT and self.version in table.log:
            self.check_or_end()
        else:
            table.log[self.version] = Entry(self.added, self.removed)
            change = self.its_change()
            if change.kind != "optimize":
                history.committed[change.key].append(Committed(self.version, change))
            self.end()
        if COORDINATED:
            table.lock = None

    def check_or_end(self) -> None:
        """Somebody else took the version: give up, or try the next free one."""
        if conflicts(self):
            aborted()
            self.end()
        else:
            retried()
            self.version = current() + 1

    if CRASHES:

        @action
        def fail(self) -> None:
            require(self.phase == "commit")
            self.end()
            self.phase = "failed"
            if table.lock == self:
                table.lock = None

    def end(self) -> None:
        self.phase = "ready"
        self.change = None
        self.log = {}
        self.targets = frozenset()
        self.version = 0
        self.added = frozenset()
        self.removed = frozenset()

    def its_change(self) -> Change:
        assert self.change is not None
        return self.change


writers = [Writer() for _ in range(WRITERS)]


def may_be_new(name: Name) -> bool:
    """Return whether a free name may stand for a new file: 0 never becomes one."""
    return CHECK in ("partition", "strict_after") or name[0] == 0


def changed(rows: frozenset[tuple[int, int]], change: Change) -> frozenset[tuple[int, int]]:
    """The rows of a file after a change."""
    key, value = change.key, change.value
    if change.kind == "insert":
        return rows | {(key, value or 0)}
    if change.kind == "optimize":
        return rows
    others = frozenset(row for row in rows if row[0] != key)
    if change.kind == "delete" or len(others) == len(rows):
        return others
    return others | {(key, value or 0)}


# -- conflicts -------------------------------------------------------------------------------------
def conflicts(writer: Writer) -> bool:
    """Return whether something since the version read forbids to commit."""
    change = writer.its_change()
    since = change.read if CHECK == "partition" else change.read + 1
    later = [entry for version, entry in table.log.items() if version >= since]
    if CHECK in ("partition", "strict_after"):
        part = partition_of(change.key)
        return any(not PARTITIONED or touches(entry, part) for entry in later)
    return any(
        removed_twice(writer, e) or (CHECK == "files" and would_have_read(writer, e)) for e in later
    )


def touches(entry: Entry, partition: int | None) -> bool:
    return any(name[1] == partition for name in (*entry.added, *entry.removed))


def removed_twice(writer: Writer, entry: Entry) -> bool:
    """A file it read and removes was removed (ConcurrentDeleteDelete, ConcurrentDeleteRead)."""
    return any(name in entry.removed for name in writer.removed)


def would_have_read(writer: Writer, entry: Entry) -> bool:
    """An update or delete would have found rows in what was added (ConcurrentAppend).

    An OPTIMIZE changes no rows, so it is not asked (canDowngradeToSnapshotIsolation).
    """
    change = writer.its_change()
    rows = [row for name in entry.added for row in table.files[name]]
    return change.kind in ("update", "delete") and any(row[0] == change.key for row in rows)
