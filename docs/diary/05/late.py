"""A producer, a coordinator and one partition: transactions as Kafka had them at first (KIP-98)."""

from typing import Literal

from statewalk import (
    Auxiliary,
    Constant,
    Record,
    Role,
    action,
    always,
    any_of,
    exists,
    require,
    terminal,
)

TXNS: Constant[int] = 1


class Batch(Record):
    txn: int  # which transaction it was written in; the broker does not know


class Marker(Record):
    commit: bool


class Producer(Role):
    in_txn: bool = False
    txn: int = 0
    sent: bool = False
    outcomes: Auxiliary[list[Literal["commit", "abort"]]] = []

    @action
    def begin(self) -> None:
        require(not self.in_txn and self.txn < TXNS)
        require(coordinator.state in ("empty", "completed"))
        self.txn += 1
        self.in_txn = True
        self.sent = False

    @action
    def send(self) -> None:
        """Tell the coordinator of the partition, and send a batch there."""
        require(self.in_txn and not self.sent)
        coordinator.state = "ongoing"
        partition.inbox.add(Batch(self.txn))
        self.sent = True

    @action
    def commit(self) -> None:
        require(self.in_txn and Batch(self.txn) in partition.log)
        self.end(commit=True)

    @action
    def abort(self) -> None:
        """Perhaps since no answer came; what has become of the batch is not known."""
        require(self.in_txn and self.sent)
        self.end(commit=False)

    def end(self, commit: bool) -> None:
        self.in_txn = False
        self.outcomes.append("commit" if commit else "abort")
        coordinator.state = "committing" if commit else "aborting"


class Coordinator(Role):
    state: Literal["empty", "ongoing", "committing", "aborting", "completed"] = "empty"
    marked: bool = False

    @action
    def write_marker(self) -> None:
        require(self.state in ("committing", "aborting") and not self.marked)
        partition.log.append(Marker(self.state == "committing"))
        self.marked = True

    @action
    def complete(self) -> None:
        require(self.marked)
        self.marked = False
        self.state = "completed"


class Partition(Role):
    log: list[Batch | Marker] = []
    inbox: set[Batch] = set()

    @action
    def receive(self) -> None:
        batch = any_of(self.inbox)
        self.inbox.remove(batch)
        self.log.append(batch)

    def is_open(self) -> bool:
        """Whether a transaction has begun here that no marker has ended."""
        return bool(self.log) and isinstance(self.log[-1], Batch)


producer = Producer()
coordinator = Coordinator()
partition = Partition()


@always
def no_hanging_transaction() -> bool:
    """Where a transaction is open, somebody is going to end it."""
    return not partition.is_open() or (coordinator.state != "completed" and not coordinator.marked)


def batches_of(marker: int) -> list[Batch]:
    """The batches that a marker ends."""
    found = []
    for entry in reversed(partition.log[:marker]):
        if isinstance(entry, Marker):
            break
        found.append(entry)
    return found


@always
def aborted_never_committed() -> bool:
    """A commit marker ends no batch of a transaction that did not commit."""
    return all(
        producer.outcomes[batch.txn - 1] == "commit"
        for at, entry in enumerate(partition.log)
        if isinstance(entry, Marker) and entry.commit
        for batch in batches_of(at)
    )


@exists
def batch_comes_after_its_marker() -> bool:
    return partition.log == [Marker(False), Batch(1)]


@terminal
def done() -> bool:
    return not producer.in_txn and producer.txn == TXNS and not partition.inbox
