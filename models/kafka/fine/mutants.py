"""Kafka transactions, part 2: defects of the fine grain, put in on purpose.

Some are what Kafka once did; those are named in docs/models/kafka-coordinator-runs.md.
"""

from statewalk import mutant
from statewalk.models.kafka.coordinator import Broker, LogPartition
from statewalk.models.kafka.fine.broker import FineBroker, has_fetched
from statewalk.models.kafka.metadata import Metadata
from statewalk.models.kafka.settings import Code


# -- replication
@mutant(has_fetched)
def any_epoch_counts(replica: Broker, leader: Broker, partition: LogPartition, end: int) -> bool:
    """A leader counts what is in the log of a replica that follows another."""
    return len(replica.log[partition]) >= end


@mutant(FineBroker.truncation_point)
def truncate_to_hwm(self: FineBroker, partition: LogPartition) -> int:
    """A follower drops what it does not know to be committed."""
    return self.committed[partition]


@mutant(FineBroker.truncation_point)
def no_truncation(self: FineBroker, partition: LogPartition) -> int:
    """A follower keeps entries that its leader does not have."""
    return len(self.log[partition])


@mutant(FineBroker.end_to_catch_up_with)
def catch_up_to_hwm(self: FineBroker, partition: LogPartition) -> int:
    """A follower is in sync when it has what a new leader knows to be committed."""
    return self.committed[partition]


# -- loading
@mutant(FineBroker.end_to_load)
def load_committed(self: FineBroker, partition: LogPartition) -> int:
    """A new leader loads what it knows to be committed."""
    return self.committed[partition]


@mutant(FineBroker.absent)
def serve_while_loading(self: FineBroker, partition: LogPartition) -> Code | None:
    """A new leader answers before it has loaded its log."""
    return None if self.leads(partition) else "NotCoordinator"


# -- fencing
@mutant(FineBroker.raise_epoch)
def fence_at_commit(self: FineBroker, tid: int, epoch: int) -> None:
    """The epoch that fences takes effect with the abort, and not at all if that fails."""


@mutant(FineBroker.fence)
def fence_again(self: FineBroker, tid: int) -> Metadata | None:
    """Each attempt to fence raises the epoch."""
    return self.metadata[tid].fenced()
