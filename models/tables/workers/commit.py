"""How an operation on a Paimon table is published: the commit phase, and what guards it.

A worker that has written a data file builds the next snapshot from the latest one, then renames it
to ``snapshot-<version>``. Who comes second in that race either notices, because the store refuses
to overwrite or a lock guards the look, and builds its snapshot again; or overwrites. Building a
snapshot is also where a worker finds out that what it read has changed, and gives up.
"""

from typing import Literal

from statewalk import Auxiliary, Record, Role, State, action, mutant, require
from statewalk.models.tables.effort import aborted, retried
from statewalk.models.tables.lsm import (
    File,
    Mark,
    Object,
    Row,
    Snapshot,
    latest,
    level_of,
    live,
    marks_in,
    store,
    vectors,
)
from statewalk.models.tables.paimon_settings import (
    COMMIT_GUARD,
    CONFLICT_CHECK,
    CRASHES,
    DELETED_FILE_CHECK,
    GRAIN,
    INDEXED,
    KEY_RANGE_CHECK,
    LOCK_LEAKS,
    LOCKED,
    LOST_ANSWERS,
    MAX_RETRIES,
    TOPOLOGY,
    UNIVERSAL,
)
from statewalk.models.tables.universal import ranges_overlap

Stage = Literal["idle", "data", "queued", "metadata", "files", "prepare", "commit"]
Columns = Literal["all", "a", "b"]


# -- records ---------------------------------------------------------------------------------------
class Operation(Record):
    """A write or a compaction under way; ``stage`` is what it does next."""

    stage: Stage = "idle"
    kind: Literal["append", "compact", "overwrite"] = "append"
    bucket: int = 0
    level: int = 0  # of a compaction's sources (with sorted runs: of what it makes)
    read: int = 0  # the version that was read
    row: Row | None = None  # of a write
    changed: Columns = "all"  # what a write changes; less than all only if it read the rest
    file: int = 0  # the data file written; identifies the operation, also where it wrote none
    sources: tuple[int, ...] = ()  # the files it replaces
    levels: tuple[int, ...] = ()  # where those are, as far as it knows (with sorted runs)
    raised: int = 0  # a file that goes to its level as it is
    vectors: frozenset[Mark] | None = None  # the bucket's new deletion vectors, if they change
    to_put: tuple[str, ...] = ()  # files of the next snapshot that are still to be put
    refers: frozenset[Object] = frozenset()  # those put for it
    put: frozenset[Object] = frozenset()  # all it has put, in earlier attempts too
    base: int = 0  # the version the next snapshot is built on
    next: Snapshot | None = None
    retries: int = 0
    owner: "Worker | None" = None  # in flink, who handed it to the committer
    checkpoint: int = 0  # and in which committable it went


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
    lost_answers: int = 0


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
        if LOST_ANSWERS > 0 and is_published(op, version):
            self.end()
        elif lost_sources(op, version) or conflicts(op, version) or breaks_runs(op, version):
            aborted()
            self.refused()
            self.end()
        else:
            op.base = version
            op.next = next_snapshot(op, version)
            op.stage = "files" if GRAIN == "files" else "prepare" if LOCKED else "commit"
            op.to_put = parts_of(op)
            op.refers = frozenset()

    if GRAIN == "files":

        @action(fair="weak")
        def put_next(self) -> None:
            """Put one file of the metadata; a crash may come between any two."""
            op = self.op
            require(op.stage == "files")
            store.objects_made += 1
            put = (op.to_put[0], store.objects_made)
            store.objects.add(put)
            op.put = op.put | {put}
            op.refers = op.refers | {put}
            op.to_put = op.to_put[1:]
            if not op.to_put:
                op.stage = "prepare" if LOCKED else "commit"

    def refused(self) -> None:
        """A check refused the operation; in Paimon, the job fails and begins again."""

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
        publish(op, snapshot)
        self.end()

    if LOST_ANSWERS > 0:

        @action
        def commit_unanswered(self) -> None:
            """The rename happens, but looks as if it had failed: the worker tries again."""
            op = self.op
            snapshot = op.next
            require(op.stage == "commit" and op.base + 1 not in store.snapshots)
            require(history.lost_answers < LOST_ANSWERS)
            assert snapshot is not None
            history.lost_answers += 1
            publish(op, snapshot)
            self.retry()

    def retry(self) -> None:
        """Back to the metadata; the data file stays as it is."""
        if MAX_RETRIES is not None and self.op.retries == MAX_RETRIES:
            self.end()
            return
        retried()
        self.op.retries += MAX_RETRIES is not None
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


def parts_of(op: Operation) -> tuple[str, ...]:
    """The files of metadata that a commit puts, in their order (tryCommitOnce)."""
    if GRAIN != "files":
        return ()
    vectors = ("index manifest",) if op.vectors is not None else ()
    return ("base list", "manifest", "delta list", *vectors, "temporary snapshot")


def publish(op: Operation, snapshot: Snapshot) -> None:
    """Rename the temporary snapshot. It refers to its own files, and to older manifests."""
    if GRAIN == "files":
        before = store.snapshots[op.base].refers if op.base else frozenset()
        kept = ("manifest",) if op.vectors is not None else ("manifest", "index manifest")
        own = frozenset(thing for thing in op.refers if thing[0] != "temporary snapshot")
        snapshot.refers = own | {thing for thing in before if thing[0] in kept}
        store.objects = {t for t in store.objects if t not in op.refers or t in own}
    store.snapshots[op.base + 1] = snapshot
    history.acked.append(Acknowledged(op.base + 1, op.file, op.row, op.changed))
    if op.row is not None and INDEXED:
        index.buckets[op.row.key] = op.bucket


def next_snapshot(op: Operation, version: int) -> Snapshot:
    """The latest snapshot with an operation's files in place of those it replaces.

    An overwrite replaces those of the bucket in the latest snapshot, not those it read.
    """
    files = {f: added for f, added in live(version).items() if f not in op.sources}
    marks = vectors(version)
    if op.kind == "overwrite":
        files = {f: added for f, added in files.items() if store.files[f].bucket != op.bucket}
        marks = marks - marks_in(version, op.bucket)
    if op.file in store.files:
        files[op.file] = version + 1
    raised = dict(store.snapshots[version].raised) if version else {}
    if op.raised:
        files[op.raised] = live(version)[op.raised]
        raised[op.raised] = op.level
    if op.vectors is not None:
        marks = (marks - marks_in(version, op.bucket)) | op.vectors
    raised = {f: at for f, at in raised.items() if f in files}
    return Snapshot(op.kind, op.bucket, op.file, files, marks, raised, op.checkpoint)


def is_published(op: Operation, version: int) -> bool:
    """Whether an attempt that seemed to fail did not (FileStoreCommitImpl.tryCommitOnce)."""
    return any(store.snapshots[v].identifier == op.file for v in range(1, version + 1))


def lost_sources(op: Operation, version: int) -> bool:
    """Whether a file that a compaction replaces is no longer live, at the level it had."""
    if not DELETED_FILE_CHECK:
        return False
    if any(file not in live(version) for file in op.sources):
        return True
    return any(level_of(version, f) != at for f, at in zip(op.sources, op.levels, strict=False))


def breaks_runs(op: Operation, version: int) -> bool:
    """Whether key ranges of a level would overlap (PrimaryKeyConflictDetection)."""
    if not (UNIVERSAL and KEY_RANGE_CHECK) or op.kind == "append":
        return False
    return ranges_overlap(next_snapshot(op, version))


def conflicts(op: Operation, version: int) -> bool:
    """The data conflict check: whether something since the read forbids an operation to commit.

    A write that read is refused after another write to its bucket, a compaction after another
    compaction of its bucket. Blind writes read nothing, so nothing can have changed beneath them.
    """
    if CONFLICT_CHECK == "none" or (op.kind != "compact" and op.changed == "all"):
        return False
    if CONFLICT_CHECK == "file_dv_pair":
        return op.kind == "compact" and pairs_changed(op, version)
    later = [store.snapshots[v] for v in range(op.read + 1, version + 1)]
    merges = op.kind == "compact"
    strict = CONFLICT_CHECK == "bucket_strict" and merges
    return any(s.bucket == op.bucket and (strict or merges == (s.kind == "compact")) for s in later)


def pairs_changed(op: Operation, version: int) -> bool:
    """Whether the vectors a compaction started from changed, or a file that it marks is gone."""
    gone = any(mark[0] not in live(version) for mark in op.vectors or ())
    return gone or marks_in(op.read, op.bucket) != marks_in(version, op.bucket)


# -- mutants ---------------------------------------------------------------------------------------
@mutant(is_published)
def no_look_up(op: Operation, version: int) -> bool:
    """Who tries again after a failure does not ask whether it was one (before 1.3.0)."""
    return False
