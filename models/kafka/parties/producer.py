"""Kafka transactions, part 3: producers, and the application that uses them.

An application runs in one instance; another one takes its place when the first has crashed, or is
believed to have. A call of the coordinator is answered in the same step; a fault may lose the
answer, and the call is repeated.

Names of classes and methods are of the Java client, Kafka 4.0.
"""

from typing import Literal

from statewalk import Role, action, any_of, require
from statewalk.models.kafka.metadata import DECIDED
from statewalk.models.kafka.parties.diskless import brokers, is_uploaded
from statewalk.models.kafka.parties.diskless_settings import BARRIER, DISKLESS
from statewalk.models.kafka.parties.ending import (
    Answer,
    Coordinator,
    EndTxn,
    ProducerId,
    coordinator_of,
    history,
)
from statewalk.models.kafka.parties.leader import Batch, Partition, partitions
from statewalk.models.kafka.parties.proposals import (
    CLIENT,
    CRASHES,
    DATABASE,
    DELAYED_ENDS,
    DELAYED_PRODUCE,
    EAGER_BEGIN,
    IDS,
    LOST_RESPONSES,
    PART2,
    PARTITIONS,
    PRODUCERS,
    RECORDS,
    SEQUENCES,
    TXN_TIMEOUTS,
    TXNS,
    VARIANT,
    ZOMBIES,
    crash,
    delayed_end,
    lost_response,
    sequence_error,
)

# Where an EndTxn may have to be sent again.
REPEATS = (
    EAGER_BEGIN
    or BARRIER == "before_decision"
    or VARIANT == "kip939"
    or PRODUCERS + LOST_RESPONSES + DELAYED_ENDS + TXN_TIMEOUTS > 1
)

ProducerState = Literal[
    "Down",
    "Starting",
    "Ready",
    "InTransaction",
    "Decided",  # the database has committed
    "Committing",
    "Aborting",
    "Bumping",  # a new epoch is needed before the next transaction
    "Renewing",  # the same within a transaction: librdkafka 1.6
    "Fenced",
    "Failed",  # an error that the application cannot recover from
    "Crashed",
]


class Producer(Role):
    state: ProducerState = "Down"
    id: ProducerId = ProducerId(-1, -1)
    txn: int = 0
    sent: int = 0  # records of the transaction
    sequences: dict[int, int] = {}  # of the next batch, by partition

    def coordinator(self) -> Coordinator:
        return coordinator_of(self.index)

    def use(self, id: ProducerId) -> None:
        """TransactionManager.setProducerIdAndEpoch, resetSequenceNumbers."""
        if id != self.id:
            self.sequences.clear()
        self.id = id

    def is_idle(self) -> bool:
        return self.state in ("Down", "Ready", "Fenced", "Failed", "Crashed")

    def can_send(self) -> bool:
        return self.state not in ("Down", "Starting", "Fenced", "Failed", "Crashed")

    # -- an instance begins

    if PRODUCERS > 1:

        @action
        def take_over(self) -> None:
            """KafkaProducer.initTransactions. The instance before is gone, or is a zombie."""
            require(self.state == "Down" and self.index == self.coordinator().owner + 1)
            if not ZOMBIES:
                producers[self.index - 1].state = "Crashed"
            self.coordinator().owner = self.index
            self.state = "Starting"

    if CRASHES > 0:

        @action(fault=True)
        def crash(self) -> None:
            """A fault, no method of Kafka. Whoever comes, perhaps nobody, finds what it left."""
            require(self.state not in ("Down", "Crashed"))
            crash.strike()
            self.state = "Crashed"

    if PRODUCERS > 1 and VARIANT != "kip939":

        @action(fair="weak")
        def start(self) -> None:
            """TransactionManager.initializeTransactions, asked again as long as it takes."""
            require(self.state == "Starting")
            self.started(self.coordinator().init_pid(None))

    def started(self, answer: Answer) -> None:
        """TransactionManager.InitProducerIdHandler."""
        if lost_response.happens():
            return
        if answer.id is not None:
            self.use(answer.id)
            self.state = "Ready"
        elif answer.code != "ConcurrentTransactions":
            self.state = "Fenced"

    # -- a transaction

    @action
    def begin(self) -> None:
        """KafkaProducer.beginTransaction: nobody is told."""
        require(self.state == "Ready" and history.begun < TXNS)
        require(EAGER_BEGIN or self.coordinator().metadata.state not in DECIDED)
        history.begun += 1
        self.txn = history.begun
        self.sent = 0
        self.state = "InTransaction"

    @action(fair="weak")
    def send(self) -> None:
        """KafkaProducer.send. Before part 2 the partition is added first: AddPartitionsToTxn."""
        require(self.state == "InTransaction" and self.sent < RECORDS)
        partition = partitions[self.sent % PARTITIONS]
        if not PART2:
            code = self.coordinator().add(self.id, partition.index, self.txn)
            require(code != "ConcurrentTransactions")
            if code != "OK":
                self.state = "Fenced"
                return
        batch = Batch(self.id, self.next_sequence(partition), self.txn, self.sent, self.index)
        self.sent += 1
        if DELAYED_PRODUCE:
            partition.inbox.add(batch)
        elif DISKLESS:
            any_of(brokers).take(batch)
        else:
            partition.produce(batch)

    def next_sequence(self, partition: Partition) -> int:
        if not SEQUENCES:
            return 0
        sequence = self.sequences.get(partition.index, 0)
        self.sequences[partition.index] = sequence + 1
        return sequence

    def acknowledged(self) -> bool:
        """Every batch of the transaction is in a log, and the producer knows.

        KIP-1164: or in an object store, if that were enough.
        """
        return all(
            is_uploaded(self.txn, number)
            or any(
                isinstance(e, Batch) and e.txn == self.txn and e.number == number
                for e in partitions[number % PARTITIONS].log
            )
            for number in range(self.sent)
        )

    # -- its end

    @action(fair="weak")
    def commit(self) -> None:
        """KafkaProducer.commitTransaction, when all is sent and acknowledged."""
        if DATABASE:
            require(self.state == "Decided")
        else:
            require(self.state == "InTransaction")
            require(self.sent == RECORDS and self.acknowledged())
        self.end(commit=True)

    @action(fair="weak")
    def abort(self) -> None:
        """KafkaProducer.abortTransaction, perhaps since a batch was given up."""
        require(self.state == "InTransaction" and self.sent > 0)
        self.end(commit=False)

    if REPEATS:

        @action(fair="weak")
        def repeat_end(self) -> None:
            """TransactionManager.retry: no answer came, or the coordinator is not ready."""
            require(self.state in ("Committing", "Aborting"))
            self.end(commit=self.state == "Committing")

    def end(self, commit: bool) -> None:
        """TransactionManager.beginCompletingTransaction, EndTxnHandler."""
        request = EndTxn(self.id, commit, self.txn)
        before = self.state
        self.state = "Committing" if commit else "Aborting"
        if delayed_end.happens():
            self.coordinator().inbox.add(request)
            return
        answer = self.coordinator().end(request)
        if lost_response.happens():
            return
        if answer.code == "ConcurrentTransactions":
            require(before != self.state)  # it is the same again
        elif answer.code == "InvalidTxnState":
            self.state = "Failed"
        elif answer.id is None:
            self.state = "Fenced"
        else:
            self.ended(commit, answer.id)

    def ended(self, commit: bool, id: ProducerId) -> None:
        if commit:
            history.told.add(self.txn)
        unresolved = not self.acknowledged()
        self.use(id)
        self.state = "Bumping" if unresolved and bumps_after_unresolved() else "Ready"
        self.sent = 0

    if CLIENT == "librdkafka_1_6":

        @action
        def meet_sequence_error(self) -> None:
            """Librdkafka 1.6 answers OUT_OF_ORDER_SEQUENCE with a new epoch, anywhere (#3575)."""
            require(self.state == "InTransaction" and 0 < self.sent < RECORDS)
            sequence_error.strike()
            self.state = "Renewing"

        @action(fair="weak")
        def renew(self) -> None:
            """The broker aborts what is open; the client goes on as if nothing had happened."""
            require(self.state == "Renewing")
            answer = self.coordinator().init_pid(None)
            if answer.id is not None:
                self.use(answer.id)
                self.state = "InTransaction"

    # -- KIP-360: a new epoch after a batch whose fate is unknown

    if CLIENT == "kip360" and not PART2:

        @action(fair="weak")
        def bump(self) -> None:
            """TransactionManager.beginCompletingTransaction: InitProducerId comes after EndTxn."""
            require(self.state == "Bumping")
            self.started(self.coordinator().init_pid(self.id))


producers = [
    Producer(state="Ready", id=ProducerId(id + 1, 0)) if n == 0 else Producer()
    for id in range(IDS)
    for n in range(PRODUCERS)
]


# -- what proposals change -----------------------------------------------------------------------
def bumps_after_unresolved() -> bool:
    """KIP-360; with part 2, the end of each transaction does it."""
    return CLIENT == "kip360" and not PART2
