"""Kafka transactions, part 3: defects that Kafka had, each under the number of its issue.

Those of consumers are none that Kafka had. Each function stands in for one of `ending`, `leader` or
`consumer` where ``--set MUTANT=`` says its name. What each breaks, and in how many steps, is in
`exactly_once_rows`.
"""

from statewalk import mutant
from statewalk.models.kafka.metadata import DECIDED, Metadata
from statewalk.models.kafka.parties.consumer import (
    AbortedTxn,
    Isolation,
    aborted_index,
    is_within,
    limit,
)
from statewalk.models.kafka.parties.diskless import has_to_be_awaited
from statewalk.models.kafka.parties.ending import (
    Coordinator,
    EndTxn,
    ProducerId,
    current,
    epoch_of_decision,
    epoch_of_recovery,
    epoch_to_ask_again,
    epoch_to_fence,
    error_for_aborted,
    has_to_wait,
    id_after_decision,
    in_range,
    pid_to_ask_again,
    rotates_when_fenced,
)
from statewalk.models.kafka.parties.leader import Batch, Partition
from statewalk.models.kafka.parties.proposals import PART2, Code


# -- fencing -------------------------------------------------------------------------------------
@mutant(Coordinator.abort_timed_out)
def kafka_6119(self: Coordinator) -> None:
    """A transaction that timed out is aborted in its own epoch."""
    self.prepare(commit=False, epoch=self.metadata.epoch)


@mutant(epoch_to_fence)
def kafka_9666(client: ProducerId, failed_before: bool) -> int:
    """Each attempt to fence raises the epoch, also after a failed append."""
    return in_range(client.epoch + 1)


@mutant(epoch_to_fence)
def kafka_19367(client: ProducerId, failed_before: bool) -> int:
    """Fencing raises the epoch, and the abort that follows from it does so again."""
    return client.epoch + 2


@mutant(rotates_when_fenced)
def kafka_20090() -> bool:
    """An id whose epochs ran out is not replaced when it is fenced."""
    return False


# -- the answer to EndTxn ------------------------------------------------------------------------
@mutant(has_to_wait)
def kafka_18464(now: Metadata, repeated: bool) -> bool:
    """The epoch is looked at first: an EndTxn of the next transaction has the wrong one."""
    return PART2 and now.state in DECIDED and repeated


@mutant(id_after_decision)
def kafka_18660(coordinator: Coordinator) -> ProducerId:
    """EndTxn is answered with the old id when epochs ran out."""
    return current(coordinator.metadata)


@mutant(error_for_aborted)
def kafka_20785(request: EndTxn, repeated: bool) -> Code:
    """A commit that meets an abort by the coordinator is a fatal error."""
    return "InvalidTxnState"


# -- who may ask again ---------------------------------------------------------------------------
@mutant(Coordinator.load)
def kafka_20310(self: Coordinator) -> None:
    """The former and the next id are not in the log, and the last epoch is not either."""
    self.last_epoch = -1
    self.prev_pid = -1
    self.next_pid = -1


@mutant(Coordinator.load)
def kafka_20357(self: Coordinator) -> None:
    """The last epoch is not in the log."""
    self.last_epoch = -1


@mutant(epoch_to_ask_again)
def last_epoch_kept(known: ProducerId | None, now: Metadata) -> int:
    """The epoch before a new instance's is good for asking again."""
    return now.epoch


# -- KIP-939 -------------------------------------------------------------------------------------
@mutant(epoch_of_recovery)
def kip939_no_split(client: ProducerId) -> int:
    """Recovery hands out the epoch of the prepared transaction."""
    return client.epoch


@mutant(epoch_of_decision)
def kip939_no_bump(coordinator: Coordinator) -> int:
    """Completion after recovery does not raise the epoch once more."""
    client = coordinator.expected()
    recovered = coordinator.next_epoch != -1
    return client.epoch if recovered or not PART2 else in_range(client.epoch + 1)


@mutant(pid_to_ask_again)
def kip939_wrong_prev(coordinator: Coordinator) -> int:
    """The id to ask again with is that of the prepared transaction."""
    return coordinator.metadata.pid


# -- the leader ----------------------------------------------------------------------------------
@mutant(Partition.spares_check)
def kafka_18575(self: Partition, batch: Batch) -> bool:
    """An open transaction of whatever epoch spares a batch the check."""
    return self.is_open(batch.id.pid)


# -- consumers -----------------------------------------------------------------------------------
@mutant(limit)
def reads_to_the_end(partition: Partition, isolation: Isolation) -> int:
    """A read_committed consumer also gets records above the last stable offset."""
    return len(partition.log)


@mutant(aborted_index)
def no_aborted_index(partition: Partition, begin: int, end: int) -> list[AbortedTxn]:
    """The leader names no aborted transactions."""
    return []


@mutant(is_within)
def aborted_ids_stay(txn: AbortedTxn, pid: int, offset: int) -> bool:
    """An abort marker does not end what is hidden of its producer id."""
    return txn.pid == pid and txn.first <= offset


# -- KIP-1164 ------------------------------------------------------------------------------------
@mutant(has_to_be_awaited)
def barrier_awaits_repeats(batch: Batch) -> bool:
    """The commit barrier also waits for a repeated batch that has its offset."""
    return True
