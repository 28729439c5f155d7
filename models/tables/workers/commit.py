"""The publication of an operation on a Paimon table: the commit phase, and what guards it.

A worker that has written its files builds the next snapshot from the latest one, then renames it
to ``snapshot-<version>``. Who comes second in that race either notices, because the store refuses
to overwrite or a lock guards the look, and builds its snapshot again; or overwrites. Building a
snapshot is also where a worker finds out that what it read has changed, and gives up (`checks`).
"""

from statewalk import Role, State, action, require
from statewalk.models.tables.effort import aborted, retried
from statewalk.models.tables.lsm import File, Snapshot, latest, store
from statewalk.models.tables.metadata import metadata
from statewalk.models.tables.paimon_settings import (
    COMMIT_GUARD,
    CRASHES,
    GRAIN,
    INDEXED,
    LOCK_LEAKS,
    LOCKED,
    LOST_ANSWERS,
    MAX_RETRIES,
    TOPOLOGY,
)
from statewalk.models.tables.workers.checks import (
    breaks_runs,
    conflicts,
    is_published,
    lost_sources,
    next_snapshot,
)
from statewalk.models.tables.workers.files import (
    has_temporary,
    own_parts,
    parts_of,
    put_metadata,
    put_vectors,
    remove,
    temporary,
    unsure,
)
from statewalk.models.tables.workers.operation import (
    Acknowledged,
    Operation,
    history,
    inbox,
    lock,
)


class Index(State):
    """Dynamic buckets: where each key is. ``holder`` is the writer that is placing a key."""

    buckets: dict[int, int] = {}
    holder: "Worker | None" = None


index = Index()


# -- workers ---------------------------------------------------------------------------------------
class Worker(Role):
    """The common part of writers, compactors and the committer."""

    op: Operation = Operation()
    lock_key: int = 0  # who the worker is to the lock service

    def written(self, file: File) -> None:
        """Put the data file, and the vectors that go with it."""
        self.op.file = store.put(file)
        if GRAIN == "files" and self.op.vectors:
            self.op.stage = "vectors"
        else:
            self.hand_in()

    def hand_in(self) -> None:
        """On to the commit phase, or off to the committer."""
        op = self.op
        if TOPOLOGY == "flink":
            op.stage = "queued"
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
        def put_vectors(self) -> None:
            """Put the vector file (BucketedDvMaintainer.writeDeletionVectorsIndex)."""
            require(self.op.stage == "vectors")
            put_vectors(self.op)
            self.hand_in()

        @action(fair="weak")
        def put_next(self) -> None:
            """Put one file of the metadata; a crash may come between any two."""
            require(self.op.stage == "files")
            put_metadata(self.op)
            if not self.op.to_put:
                self.op.stage = "prepare" if LOCKED else "commit"

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
        refused = COMMIT_GUARD == "put_if_absent" and op.base + 1 in store.snapshots
        if refused or not has_temporary(op):
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
            require(has_temporary(op))
            require(history.lost_answers < LOST_ANSWERS)
            assert snapshot is not None
            history.lost_answers += 1
            publish(op, snapshot)
            remove(unsure(op))
            self.retry()

    def retry(self) -> None:
        """Back to the metadata. What was written stays, but for the temporary snapshot."""
        remove(temporary(self.op))
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
        self.ended()
        self.op = Operation()

    def ended(self) -> None:
        """For the committer to tell whose operation it was."""

    @action
    def crash(self) -> None:
        require(history.crashes < CRASHES and self.op.stage not in ("idle", "queued"))
        history.crashes += 1
        if LOCKED and not LOCK_LEAKS and lock.holder == self.lock_key:
            lock.holder = None
        self.end()


def publish(op: Operation, snapshot: Snapshot) -> None:
    """Rename the temporary snapshot."""
    version = op.base + 1
    store.snapshots[version] = snapshot
    if GRAIN == "files":
        metadata.refers[version] = own_parts(op)
        remove(temporary(op))
    history.acked.append(Acknowledged(version, op.file, op.row, op.changed))
    if op.row is not None and INDEXED:
        index.buckets[op.row.key] = op.bucket
