"""Kafka transactions, part 3: consumers of both isolation levels.

Who reads what is committed gets nothing above the last stable offset, and is told which producers'
transactions below it were aborted. Who reads all gets all there is. Offsets of a group are in
`groups`; a log is never behind its replicas here, so its high watermark is its end.

Names of classes and methods are of Kafka 4.0.
"""

from typing import Literal

from statewalk import Record, Role, action, any_of
from statewalk.models.kafka.parties.diskless_settings import FETCH
from statewalk.models.kafka.parties.leader import Batch, Marker, Partition, partitions
from statewalk.models.kafka.parties.proposals import CONSUMERS, PARTITIONS

Isolation = Literal["read_committed", "read_uncommitted"]


class Place(Record):
    """The place of a record."""

    partition: int
    offset: int


class AbortedTxn(Record):
    """From the first record of a transaction to its marker."""

    pid: int
    first: int
    last: int

    def overlaps(self, begin: int, end: int) -> bool:
        return self.last >= begin and self.first < end


class Consumer(Role):
    isolation: Isolation
    positions: dict[int, int] = dict.fromkeys(range(PARTITIONS), 0)
    returned: set[Place] = set()

    @action(fair="weak")
    def poll(self, partition: Partition) -> None:
        """KafkaConsumer.poll. A fetch has a largest size: it may end anywhere."""
        begin = self.positions[partition.index]
        end = any_of(range(begin + 1, limit(partition, self.isolation) + 1))
        aborted = aborted_below(partition, begin, end) if self.isolation == "read_committed" else []
        self.returned |= {
            Place(partition.index, offset)
            for offset in range(begin, end)
            if isinstance(partition.log[offset], Batch)
            and not any(is_within(txn, partition.log[offset].id.pid, offset) for txn in aborted)
        }
        self.positions[partition.index] = end

    def has_read(self, partition: Partition, offset: int) -> bool:
        return Place(partition.index, offset) in self.returned

    def is_past(self, partition: Partition, offset: int) -> bool:
        return self.positions[partition.index] > offset

    def is_at_the_end(self) -> bool:
        return all(self.positions[p.index] == len(p.log) for p in partitions)


def limit(partition: Partition, isolation: Isolation) -> int:
    """UnifiedLog.read, FetchIsolation: where a fetch ends at the latest."""
    return partition.last_stable_offset() if isolation == "read_committed" else len(partition.log)


def aborted_below(partition: Partition, begin: int, end: int) -> list[AbortedTxn]:
    """KIP-1164: a broker may know less of the log than who said where it is stable."""
    if FETCH == "one_state":
        return aborted_index(partition, begin, end)
    known = any_of(range(end, len(partition.log) + 1))
    return [txn for txn in aborted_index(partition, begin, end) if txn.last < known]


def aborted_index(partition: Partition, begin: int, end: int) -> list[AbortedTxn]:
    """TransactionIndex.collectAbortedTxns: those of which something lies in what is fetched."""
    found = [
        AbortedTxn(marker.id.pid, first_of(partition, marker.id.pid, last), last)
        for last, marker in enumerate(partition.log)
        if isinstance(marker, Marker) and not marker.commit
    ]
    return [txn for txn in found if txn.overlaps(begin, end)]


def first_of(partition: Partition, pid: int, last: int) -> int:
    """Return where the transaction began that a marker ends; at the marker itself if none
    was open.
    """
    first = last
    for offset in reversed(range(last)):
        entry = partition.log[offset]
        if entry.id.pid == pid:
            if isinstance(entry, Marker):
                return first
            first = offset
    return first


def is_within(txn: AbortedTxn, pid: int, offset: int) -> bool:
    """CompletedFetch.isBatchAborted: a marker takes the id out of abortedProducerIds."""
    return txn.pid == pid and txn.first <= offset <= txn.last


# Of each isolation level as many.
read_committed = [Consumer(isolation="read_committed") for _ in range(CONSUMERS)]
read_uncommitted = [Consumer(isolation="read_uncommitted") for _ in range(CONSUMERS)]
