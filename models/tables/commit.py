"""How an operation on a Paimon table is published: the commit phase, and what guards it.

A worker that has written a data file builds the next snapshot from the latest one, then renames it
to ``snapshot-<version>``. Who comes second in that race either notices, because the store refuses
to overwrite or a lock guards the look, and builds its snapshot again; or overwrites. Building a
snapshot is also where a worker finds out that what it read has changed, and gives up.
"""

from typing import Literal

from statewalk import Auxiliary, Constant, Record, Role, State, action, require
from statewalk.models.tables.lsm import (
    File,
    Mark,
    Row,
    Snapshot,
    latest,
    live,
    marks_in,
    store,
    vectors,
)

# -- constants -------------------------------------------------------------------------------------
TOPOLOGY: Constant[
    Literal[
        "flink",  # writers own buckets; one committer publishes everybody's files, one at a time
        "topo1",  # writers own buckets; each worker commits for itself
        "topo2",  # everybody works on all buckets and commits for itself
    ]
] = "topo2"
COMMIT_GUARD: Constant[
    Literal[
        "put_if_absent",  # the store refuses a rename to a name that exists
        "lock",  # rename overwrites; who holds the lock looks whether the version is still free
        "lock_without_recheck",  # the lock is taken, but nobody looks
        "none",  # rename overwrites
    ]
] = "put_if_absent"
LOCK_PER: Constant[Literal["operation", "instance"]] = "operation"  # instance: writer and compactor
CONFLICT_CHECK: Constant[
    Literal[
        "none",
        "bucket",  # against what was done since to the bucket: writes to writes, merges to merges
        "bucket_strict",  # the same, but writes forbid merges too: a busy bucket is never merged
        "file_dv_pair",  # against what became of the files that a merge read, and of their vectors
    ]
] = "none"
DELETED_FILE_CHECK: Constant[bool] = True  # a compaction gives up if a file it replaces is gone
BUCKET_MODE: Constant[
    Literal[
        "fixed",  # a key's bucket follows from the key
        "dynamic",  # an index tells the bucket of each key; a new one may go anywhere
    ]
] = "fixed"
LOCK_LEAKS: Constant[bool] = False  # a crash leaves the lock taken
SKIP_COMMITTED: Constant[bool] = True  # on replay, the committer skips what it has committed

OPS: Constant[int] = 2  # writes that start, of all writers together
COMPACTIONS: Constant[int] = 0  # compactions that start
CRASHES: Constant[int] = 0  # of workers
RESTARTS: Constant[int] = 0  # of the committer

assert TOPOLOGY == "flink" or RESTARTS == 0, "only flink has a committer to restart"

VERSIONS = range(1, (OPS + COMPACTIONS) * (1 + RESTARTS) + 1)  # as many as there can be

INDEXED = BUCKET_MODE == "dynamic"
LOCKED = COMMIT_GUARD in ("lock", "lock_without_recheck")

Stage = Literal["idle", "data", "queued", "metadata", "prepare", "commit"]
Columns = Literal["all", "a", "b"]


# -- records ---------------------------------------------------------------------------------------
class Operation(Record):
    """A write or a compaction under way; ``stage`` is what it does next."""

    stage: Stage = "idle"
    kind: Literal["append", "compact"] = "append"
    bucket: int = 0
    level: int = 0  # of a compaction's sources
    read: int = 0  # the version that was read
    row: Row | None = None  # of a write
    changed: Columns = "all"  # what a write changes; less than all only if it read the rest
    file: int = 0  # the data file written
    sources: tuple[int, ...] = ()  # the files it replaces
    vectors: frozenset[Mark] | None = None  # the bucket's new deletion vectors, if they change
    base: int = 0  # the version the next snapshot is built on
    next: Snapshot | None = None
    owner: "Worker | None" = None  # in flink, who handed it to the committer


class Acknowledged(Record):
    """History: an operation that its worker believes to be published as this version."""

    version: int
    file: int
    row: Row | None  # None: a compaction
    changed: Columns


# -- shared state ----------------------------------------------------------------------------------
class Lock(State):
    holder: int | None = None  # a worker's lock key


class Inbox(State):
    """What flink workers have handed to the committer, in order of arrival."""

    queue: list[Operation] = []


class Index(State):
    """Dynamic buckets: where each key is. ``holder`` is the writer that is placing a key."""

    buckets: dict[int, int] = {}
    holder: "Worker | None" = None


class History(State):
    acked: Auxiliary[list[Acknowledged]] = []
    compactions: int = 0  # that were started
    crashes: int = 0


lock = Lock()
inbox = Inbox()
index = Index()
history = History()


# -- workers ---------------------------------------------------------------------------------------
class Worker(Role):
    """What writers, compactors and the committer do alike."""

    op: Operation = Operation()
    lock_key: int = 0  # who the worker is to the lock service

    def written(self, file: File) -> None:
        """Put the data file; then on to the commit phase, or off to the committer."""
        op = self.op
        op.file = store.put(file)
        if TOPOLOGY == "flink":
            op.stage = "queued"
            op.owner = self
            inbox.queue.append(op)
        else:
            op.stage = "metadata"

    @action(fair="weak")
    def write_metadata(self) -> None:
        require(self.op.stage == "metadata")
        self.build_on(latest())

    def build_on(self, version: int) -> None:
        """Build the next snapshot, or give up because of what was committed since the read."""
        op = self.op
        if lost_sources(op, version) or conflicts(op, version):
            self.end()
            return
        op.base = version
        op.next = next_snapshot(op, version)
        op.stage = "prepare" if LOCKED else "commit"

    @action(fair="weak")
    def prepare(self) -> None:
        """Take the lock and look again whether the version is still free."""
        require(self.op.stage == "prepare")
        require(lock.holder is None or lock.holder == self.lock_key)
        if COMMIT_GUARD == "lock" and self.op.base + 1 in store.snapshots:
            lock.holder = None
            self.retry()
        else:
            lock.holder = self.lock_key
            self.op.stage = "commit"

    @action(fair="weak")
    def commit(self) -> None:
        """Rename the new snapshot to its version."""
        op = self.op
        snapshot = op.next
        require(op.stage == "commit")
        assert snapshot is not None
        if LOCKED and lock.holder == self.lock_key:
            lock.holder = None
        if COMMIT_GUARD == "put_if_absent" and op.base + 1 in store.snapshots:
            self.retry()
            return
        store.snapshots[op.base + 1] = snapshot
        history.acked.append(Acknowledged(op.base + 1, op.file, op.row, op.changed))
        if op.row is not None and INDEXED:
            index.buckets[op.row.key] = op.bucket
        self.end()

    def retry(self) -> None:
        """Back to the metadata; the data file stays as it is."""
        self.op.stage = "metadata"
        self.op.base = 0
        self.op.next = None

    def end(self) -> None:
        """The operation is over, committed or not."""
        if INDEXED and index.holder == self:
            index.holder = None
        owner = self.op.owner
        if owner is not None and owner.op.file == self.op.file:
            owner.op = Operation()
        self.op = Operation()

    @action
    def crash(self) -> None:
        require(history.crashes < CRASHES and self.op.stage not in ("idle", "queued"))
        history.crashes += 1
        if LOCKED and not LOCK_LEAKS and lock.holder == self.lock_key:
            lock.holder = None
        self.end()


def next_snapshot(op: Operation, version: int) -> Snapshot:
    """The latest snapshot with an operation's files in place of those it replaces."""
    files = {f: added for f, added in live(version).items() if f not in op.sources}
    files[op.file] = version + 1
    marks = vectors(version)
    if op.vectors is not None:
        marks = (marks - marks_in(version, op.bucket)) | op.vectors
    return Snapshot(op.kind, op.bucket, op.file, files, marks)


def lost_sources(op: Operation, version: int) -> bool:
    """Whether a file that a compaction replaces is no longer live."""
    return DELETED_FILE_CHECK and any(file not in live(version) for file in op.sources)


def conflicts(op: Operation, version: int) -> bool:
    """The data conflict check: whether something since the read forbids an operation to commit.

    A write that read is refused after another write to its bucket, a compaction after another
    compaction of its bucket. Blind writes read nothing, so nothing can have changed beneath them.
    """
    if CONFLICT_CHECK == "none" or (op.kind == "append" and op.changed == "all"):
        return False
    if CONFLICT_CHECK == "file_dv_pair":
        return op.kind == "compact" and pairs_changed(op, version)
    later = [store.snapshots[v] for v in range(op.read + 1, version + 1)]
    strict = CONFLICT_CHECK == "bucket_strict" and op.kind == "compact"
    return any(s.bucket == op.bucket and (strict or s.kind == op.kind) for s in later)


def pairs_changed(op: Operation, version: int) -> bool:
    """Whether the vectors a compaction started from changed, or a file that it marks is gone."""
    gone = any(mark[0] not in live(version) for mark in op.vectors or ())
    return gone or marks_in(op.read, op.bucket) != marks_in(version, op.bucket)


# -- the committer of flink ------------------------------------------------------------------------
class Committer(Worker):
    restarts: int = 0
    delivered: list[Operation] = []  # since the last checkpoint: a restart sees them again

    @action(fair="weak")
    def take(self) -> None:
        """Begin to commit the next committable."""
        require(self.op.stage == "idle" and inbox.queue)
        op = inbox.queue.pop(0)
        if RESTARTS > 0:
            self.delivered.append(op)
        if SKIP_COMMITTED and is_committed(op.file):
            return
        self.op = op
        self.build_on(latest())

    @action
    def checkpoint(self) -> None:
        require(self.op.stage == "idle" and self.delivered)
        self.delivered = []

    @action
    def restart(self) -> None:
        require(self.restarts < RESTARTS and self.delivered)
        self.restarts += 1
        inbox.queue = [*self.delivered, *inbox.queue]
        self.delivered = []
        self.op = Operation()


def is_committed(file: int) -> bool:
    """Whether some snapshot came from a committable; its file identifies it."""
    return any(v in store.snapshots and store.snapshots[v].identifier == file for v in VERSIONS)
