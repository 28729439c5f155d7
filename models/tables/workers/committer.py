"""The committer of flink: one for all workers, it publishes one committable after the other.

After a restart it is given again what it was given since the last checkpoint; what it has committed
it skips. A committable may be two snapshots, writes first: a crash between them loses the second.
"""

from statewalk import action, require
from statewalk.models.tables.lsm import latest, store
from statewalk.models.tables.paimon_settings import (
    COMMITTABLE,
    INDEXED,
    RESTARTS,
    SKIP_COMMITTED,
    VERSIONS,
)
from statewalk.models.tables.workers.commit import Worker, index
from statewalk.models.tables.workers.compactors import compactors
from statewalk.models.tables.workers.operation import Operation, inbox
from statewalk.models.tables.workers.writers import writers


class Committer(Worker):
    restarts: int = 0
    delivered: list[Operation] = []  # since the last checkpoint: a restart sees them again
    rest: list[Operation] = []  # of a committable with several changes, what is still to commit

    if COMMITTABLE == "one_change":

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

    if COMMITTABLE == "checkpoint":
        checkpoints: int = 0

        @action(fair="weak")
        def take(self) -> None:
            """Begin to commit what has arrived, or what was delivered as one committable before."""
            require(self.op.stage == "idle" and not self.rest and inbox.queue)
            number = inbox.queue[0].checkpoint
            taken = [op for op in inbox.queue if op.checkpoint == number]
            inbox.queue = [op for op in inbox.queue if op.checkpoint != number]
            if number == 0:
                self.checkpoints += 1
                for op in taken:
                    op.checkpoint = self.checkpoints
            if RESTARTS > 0:
                self.delivered = [*self.delivered, *taken]
            if SKIP_COMMITTED and taken[0].checkpoint <= last_checkpoint():
                for op in taken:
                    self.op = op
                    self.end()
                return
            self.rest = [op for op in taken if op.kind == "append"]
            self.rest += [op for op in taken if op.kind == "compact"]
            self.go_on()

        @action(fair="weak")
        def take_second(self) -> None:
            """Begin to commit the compactions of the committable whose writes are committed."""
            require(self.op.stage == "idle" and self.rest)
            self.go_on()

        def go_on(self) -> None:
            self.op = self.rest.pop(0)
            self.build_on(latest())

    def ended(self) -> None:
        """Let the writer of the committable continue."""
        for worker in (*writers, *compactors):
            if worker.op.file == self.op.file:
                if INDEXED and index.holder == worker:
                    index.holder = None
                worker.op = Operation()

    @action
    def checkpoint(self) -> None:
        require(self.op.stage == "idle" and self.delivered and not self.rest)
        self.delivered = []

    @action
    def restart(self) -> None:
        require(self.restarts < RESTARTS and self.delivered)
        self.restarts += 1
        inbox.queue = [*self.delivered, *inbox.queue]
        self.delivered = []
        self.op = Operation()
        self.rest = []


def is_committed(file: int) -> bool:
    """Return whether some snapshot came from a committable; its file identifies it."""
    return any(v in store.snapshots and store.snapshots[v].identifier == file for v in VERSIONS)


def last_checkpoint() -> int:
    """The identifier up to which all is committed (FileStoreCommitImpl.filterCommitted)."""
    return store.snapshots[latest()].checkpoint if latest() else 0


committer = Committer()
