"""Kafka transactions, part 3: topics without leaders (KIP-1163, KIP-1164).

Any broker takes a batch of any partition, puts it into a file in an object store, and then asks the
diskless coordinator (batch coordinator, in earlier drafts) to commit the file: that gives each
batch its place in its partition's log. Markers of the transaction coordinator go to the diskless
coordinator, which has no files for them.

What a leader knows of its partition, the diskless coordinator knows here: `Partition` is that part
of its state, with the same checks. Both proposals are under discussion, and their text on
transactions is short; where it is silent the model assumes, see `docs/models/kafka-diskless.md`.
"""

from statewalk import Record, Role, action, any_of, require
from statewalk.models.kafka.parties.diskless_settings import (
    ACK,
    ASKS,
    BARRIER,
    BROKER_CRASHES,
    BROKERS,
    DISKLESS,
    FORGETS,
    SHARDS,
    broker_crash,
)
from statewalk.models.kafka.parties.ending import (
    Coordinator,
    ProducerId,
    Taken,
    coordinator_of,
    coordinators,
)
from statewalk.models.kafka.parties.leader import Batch, Partition, partitions
from statewalk.models.kafka.parties.proposals import (
    DELAYED_PRODUCE,
    PART2,
    PARTITIONS,
    VARIANT,
    duplicate_produce,
)


class Asked(Record):
    """A yes of the transaction coordinator that a broker keeps."""

    id: ProducerId
    partition: int


class Broker(Role):
    """A broker that takes batches; its files are committed in their order."""

    files: list[Batch] = []  # uploaded, without offsets yet; one batch each
    asked: set[Asked] = set()  # allow SW603: only one answer to a question keeps it
    orphans: set[Batch] = set()  # uploaded, and never to be committed; allow SW603: the same

    if DELAYED_PRODUCE:

        @action(fair="weak")
        def receive_produce(self, partition: Partition) -> None:
            """KIP-1163: a Produce request goes to any broker, in time or late."""
            batch = any_of(partition.inbox)
            if not duplicate_produce.happens():
                partition.inbox.remove(batch)
            self.take(batch)

    def take(self, batch: Batch) -> None:
        """Upload what may be written; then it is in a file."""
        if self.may_write(batch):
            self.files.append(batch)

    def may_write(self, batch: Batch) -> bool:
        """AddPartitionsToTxnManager.addOrVerifyTransaction, long before the batch has its place."""
        if VARIANT == "kip98" or ASKS == "sequencer":
            return True
        question = Asked(batch.id, partition_of(batch).index)
        if ASKS == "broker_once" and question in self.asked:
            return True
        coordinator = coordinator_of(batch.producer)
        if not PART2:
            yes = coordinator.verify(batch.id, question.partition)
        else:
            code = coordinator.add(batch.id, question.partition, batch.txn)
            require(code != "ConcurrentTransactions")
            yes = code == "OK"
        if yes and ASKS == "broker_once":
            self.asked.add(question)
        if yes and BARRIER != "none" and has_to_be_awaited(batch):
            coordinator.awaited |= {taken(batch)}
        return yes

    if BROKER_CRASHES > 0:

        @action(fault=True)
        def crash(self) -> None:
            """Nobody else commits its files; KIP-1163 deletes what no file list has, in time."""
            require(self.files)
            broker_crash.strike()
            if ACK == "uploaded":
                self.orphans |= set(self.files)
            self.files.clear()


class DisklessCoordinator(Role):
    """Who orders the batches of its partitions: the leader of a partition of diskless metadata."""

    def orders(self, partition: Partition) -> bool:
        return partition.index % SHARDS == self.index

    @action(fair="weak")
    def commit_file(self, broker: Broker) -> None:
        """KIP-1164, DisklessCommitFile: validate, append, answer. A late one is refused."""
        require(broker.files)
        batch = broker.files[0]
        partition = partition_of(batch)
        require(self.orders(partition))
        if ASKS == "sequencer":
            partition.produce(batch)
        else:
            partition.append_valid(batch)
        broker.files.pop(0)
        if BARRIER != "none":
            coordinator_of(batch.producer).awaited -= {taken(batch)}

    @action(fair="weak")
    def receive_markers(self) -> None:
        """The transaction coordinator's WriteTxnMarkers, for all partitions of this coordinator."""
        coordinator = any_of(coordinators)
        own = [p for p in partitions if p.index in coordinator.unmarked and self.orders(p)]
        require(own and passes_barrier(coordinator))
        require(all(partition.takes(coordinator.marker()) for partition in own))
        for partition in own:
            pid = coordinator.metadata.pid
            partition.take_marker(coordinator)
            if FORGETS:
                partition.known.pop(pid, None)


def partition_of(batch: Batch) -> Partition:
    return partitions[batch.number % PARTITIONS]


def taken(batch: Batch) -> Taken:
    return Taken(batch.id, batch.number)


def has_to_be_awaited(batch: Batch) -> bool:
    """A batch that was taken, and is not a repeated one of which an offset is known."""
    return batch not in partition_of(batch).log


def passes_barrier(coordinator: Coordinator) -> bool:
    """Before it has the marker of a commit written, the transaction coordinator may wait."""
    if BARRIER != "before_marker" or coordinator.metadata.state != "PrepareCommit":
        return True
    return not coordinator.awaited


def is_uploaded(txn: int, number: int) -> bool:
    """Return whether the object store has a record, with or without an offset."""
    if ACK == "sequenced":
        return False
    return any(
        batch.txn == txn and batch.number == number
        for broker in brokers
        for batch in [*broker.files, *broker.orphans]
    )


brokers = [Broker() for _ in range(BROKERS if DISKLESS else 0)]
diskless_coordinators = [DisklessCoordinator() for _ in range(SHARDS if DISKLESS else 0)]
