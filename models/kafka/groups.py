"""Kafka consumer groups in transactions: reading, processing and writing at once, and KIP-447.

A worker of a consumer group reads a record, writes what comes of it, and sends the new offset of
the group, all in one transaction. Between two workers the group moves the input; the old one may
not know. What keeps it from committing all the same is its transactional id, if there is one for
each input partition: the new worker takes it over. With an id for each worker (fewer of them, and
they need not move) nothing does, and KIP-447 lets the group's coordinator do it.

One input partition; a transaction is committed in one step (`exactly_once` has what that takes).
Names of classes and methods are of Kafka 2.5, where KIP-447 came in.
"""

from typing import Literal

from statewalk import (
    Constant,
    Role,
    State,
    action,
    always,
    config,
    eventually,
    exists,
    holds,
    mutant,
    require,
    terminal,
    violates,
)

WORKERS: Constant[int] = 2
INPUTS: Constant[int] = 1  # records to process
REBALANCES: Constant[int] = 1
TRANSACTIONAL_ID: Constant[Literal["per_partition", "per_worker"]] = "per_worker"
KIP447: Constant[bool] = True
Stage = Literal["Waiting", "Read", "Written", "OffsetSent", "Fenced"]


class Group(State):
    """GroupCoordinator: who reads, and how far the group is."""

    generation: int = 1
    offset: int = 0
    rebalances: int = REBALANCES
    outputs: dict[int, int] = {}  # of each input record, how many outputs are committed


class Worker(Role):
    stage: Stage = "Waiting"
    generation: int = 0  # in which it was given the input
    position: int = 0

    def is_open(self) -> bool:
        return self.stage in ("Written", "OffsetSent")

    @action
    def take_over(self) -> None:
        """A rebalance: GroupCoordinator.handleJoinGroup. The worker before does not hear of it."""
        require(group.rebalances > 0 and self.generation < group.generation)
        group.rebalances -= 1
        group.generation += 1
        self.generation = group.generation
        self.stage = "Waiting"
        if TRANSACTIONAL_ID == "per_partition":
            for worker in workers:
                if worker != self:
                    worker.fence()  # InitProducerId with the id of the partition

    def fence(self) -> None:
        """Its transaction is aborted, and it is told at its next request."""
        self.stage = "Fenced"

    @action(fair="weak")
    def read(self) -> None:
        """KafkaConsumer.poll, from ConsumerCoordinator.fetchCommittedOffsets when it begins."""
        require(self.stage == "Waiting" and self.generation == group.generation)
        require(not waits_for_offsets())
        require(group.offset < INPUTS)
        self.position = group.offset
        self.stage = "Read"

    @action(fair="weak")
    def write(self) -> None:
        """KafkaProducer.beginTransaction, send."""
        require(self.stage == "Read")
        self.stage = "Written"

    @action(fair="weak")
    def send_offset(self) -> None:
        """KafkaProducer.sendOffsetsToTransaction: GroupCoordinator.handleTxnCommitOffsets."""
        require(self.stage == "Written")
        if takes_offset_of(self):
            self.stage = "OffsetSent"
        else:
            self.fence()

    @action(fair="weak")
    def commit(self) -> None:
        """KafkaProducer.commitTransaction."""
        require(self.stage == "OffsetSent")
        group.offset = self.position + 1
        group.outputs[self.position] = group.outputs.get(self.position, 0) + 1
        self.stage = "Waiting"

    @action(fair="weak")
    def time_out(self) -> None:
        """TransactionCoordinator.abortTimedOutTransactions, for one that was replaced."""
        require(self.is_open() and self.generation < group.generation)
        self.fence()


group = Group()
workers = [Worker(generation=1 if n == 0 else 0) for n in range(WORKERS)]


@always
def exactly_once_processing() -> bool:
    """No input record has two committed outputs."""
    return all(count == 1 for count in group.outputs.values())


@eventually
@always
def all_is_processed() -> bool:
    return group.offset == INPUTS


if TRANSACTIONAL_ID == "per_worker" and REBALANCES > 0 and WORKERS > 1:

    @exists
    def replaced_while_open() -> bool:
        return any(w.is_open() and w.generation < group.generation for w in workers)


@terminal
def all_done() -> bool:
    return group.offset == INPUTS


# -- what KIP-447 changes ------------------------------------------------------------------------
def takes_offset_of(worker: Worker) -> bool:
    """TxnOffsetCommit carries member and generation: a member that was replaced is refused."""
    return not KIP447 or worker.generation == group.generation


def waits_for_offsets() -> bool:
    """UNSTABLE_OFFSET_COMMIT: an offset that an open transaction may still change is not given."""
    return KIP447 and any(worker.stage == "OffsetSent" for worker in workers)


# -- either half of it alone ---------------------------------------------------------------------
@mutant(takes_offset_of)
def no_generation(worker: Worker) -> bool:
    """The group takes offsets of members that it has replaced."""
    return True


@mutant(waits_for_offsets)
def no_wait() -> bool:
    """Offsets are fetched while a transaction that may change them is open."""
    return False


# -- configurations ------------------------------------------------------------------------------
config("kip447", expect=holds(generated=43, distinct=26, depth=9))
config("kip447-w3", WORKERS=3, INPUTS=2, REBALANCES=2, expect=holds(distinct=807))
config(
    "per-partition",
    TRANSACTIONAL_ID="per_partition",
    KIP447=False,
    expect=holds(generated=14, distinct=10, depth=6),
)
config("per-worker", KIP447=False, expect=violates({exactly_once_processing: 9}, states=34))
config("no-rebalance", KIP447=False, REBALANCES=0, expect=holds(distinct=5))
config("no-generation", MUTANT=no_generation, expect=violates(exactly_once_processing, length=9))
config("no-wait", MUTANT=no_wait, expect=violates(exactly_once_processing, length=9))
