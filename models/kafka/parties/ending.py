"""Kafka transactions, part 3: the coordinator, from adding a partition to completing.

Part 2 is about what the coordinator's log does; here a transition is in effect in the step that
decides on it, and a request is answered in the step that sends it. What can go wrong all the same
is a fault, and switched on one by one: an answer is lost, a request arrives late, an append fails,
the coordinator moves and knows what its log says.

A coordinator is here what a broker knows of one transactional id. Names of classes and methods are
of Kafka 4.0, unless another version is named; what came after it is named by its issue. Left out:
the pending state between an append and its commit (part 2), expiration of ids, authorisation.
"""

from statewalk import Record, Role, State, action, any_of, replace, require
from statewalk.models.kafka.common import PidSource, TxnState
from statewalk.models.kafka.metadata import DECIDED, Metadata
from statewalk.models.kafka.parties.diskless_settings import BARRIER
from statewalk.models.kafka.parties.proposals import (
    DATABASE,
    DELAYED_ENDS,
    ELECTIONS,
    IDS,
    MAX_EPOCH,
    PART2,
    PRODUCERS,
    TXN_TIMEOUTS,
    VARIANT,
    Code,
    append_failure,
    election,
    txn_timeout,
)


class ProducerId(Record):
    """A producer id with its epoch."""

    pid: int
    epoch: int

    def exhausted(self) -> bool:
        """TransactionMetadata.isEpochExhausted: the last epoch is kept for fencing."""
        return self.epoch >= MAX_EPOCH - 1


class EndTxn(Record):
    """A request of a producer."""

    id: ProducerId
    commit: bool
    txn: int  # history: which transaction is meant


class Answer(Record):
    code: Code
    id: ProducerId | None = None  # that the producer is to use from now on


class Taken(Record):
    """A batch that a broker has taken, and that has no offset yet (KIP-1164)."""

    id: ProducerId
    number: int


class WriteMarker(Record):
    """The coordinator's request to the leaders of a transaction's partitions: WriteTxnMarkers."""

    id: ProducerId
    commit: bool
    coordinator_epoch: int


class History(State):
    """The decisions so far, for properties. Transactions are numbered as they begin."""

    begun: int = 0
    committed: set[int] = set()
    aborted: set[int] = set()  # kept only where there is a database to compare with
    told: set[int] = set()  # a producer was told that it is committed
    # a batch of a replaced instance was appended
    zombie_wrote: bool = False  # allow SW603: there may be one instance only


class Coordinator(Role):
    metadata: Metadata
    # Part of TransactionMetadata, too; part 2 does without.
    last_epoch: int = -1  # that a producer may ask again with
    prev_pid: int = -1  # the id before, when its epochs ran out; it may be asked again with, too
    next_pid: int = -1  # the id after, reserved with the last epoch
    next_epoch: int = -1  # KIP-939: with `next_pid`, of whoever recovered the transaction
    unmarked: frozenset[int] = frozenset()  # partitions without an acknowledged marker
    epoch: int = 0  # of the coordinator
    fence_failed: bool = False  # the epoch in the cache is above that in the log
    inbox: set[EndTxn] = set()  # requests that were repeated meanwhile
    awaited: frozenset[Taken] = frozenset()  # what the commit barrier of KIP-1164 waits for
    txn: int = 0  # history: which transaction is ongoing
    owner: int  # history: the producer that was the last to be given an id

    # -- partitions

    def check(self, id: ProducerId) -> Code:
        """TransactionCoordinator.handleAddPartitionsToTransaction, the checks.

        What is under way comes first since 4.0 (KAFKA-18660).
        """
        under_way = self.metadata.state in DECIDED
        if PART2 and under_way:
            return "ConcurrentTransactions"
        if id != self.expected():
            return mismatch(id, self.expected())
        return "ConcurrentTransactions" if under_way else "OK"

    def add(self, id: ProducerId, partition: int, txn: int) -> Code:
        """TransactionCoordinator.handleAddPartitionsToTransaction."""
        code = self.check(id)
        if code == "OK":
            added = self.metadata.with_partitions(frozenset({partition}))
            assert added is not None
            self.metadata = added
            self.txn = txn
        return code

    def verify(self, id: ProducerId, partition: int) -> bool:
        """TransactionCoordinator.handleVerifyPartitionsInTransaction, 3.6."""
        return self.check(id) == "OK" and partition in self.metadata.partitions

    # -- the end of a transaction

    def end(self, request: EndTxn) -> Answer:
        """TransactionCoordinator.endTransaction, for a request of a producer."""
        now = self.metadata
        repeated = self.is_repeated(request.id)
        if has_to_wait(now, repeated):
            return Answer("ConcurrentTransactions")
        if not repeated and not self.is_next_to_end(request.id):
            return Answer(mismatch(request.id, self.expected()))
        if now.state == "Ongoing":
            if BARRIER == "before_decision" and request.commit and self.awaited:
                return Answer("ConcurrentTransactions")
            return self.decide(request)
        if now.state in DECIDED:
            same = request.commit == (now.state == "PrepareCommit")
            return Answer("ConcurrentTransactions" if same else "InvalidTxnState")
        if PART2 and not repeated:
            if request.commit:
                return Answer("InvalidTxnState")
            self.end_without_partitions()
            return Answer("OK", current(self.metadata))
        if now.state == ("CompleteCommit" if request.commit else "CompleteAbort"):
            return Answer("OK", current(now))
        return Answer(error_for_aborted(request, repeated))

    def is_next_to_end(self, id: ProducerId) -> bool:
        """Return whether a transaction of this id may be ended now: part 2 has decided an earlier
        one.
        """
        return id == self.expected() and not (PART2 and self.metadata.state in DECIDED)

    def is_repeated(self, id: ProducerId) -> bool:
        """Return whether a request is the one that led to the present state, by its
        epoch: KIP-890.
        """
        now = self.metadata
        if not PART2 or now.state in ("Empty", "Ongoing"):
            return False
        overflown = id == ProducerId(self.prev_pid, MAX_EPOCH - 1) and now.epoch == 0
        return overflown or (id.pid == now.pid and id.epoch == now.epoch - 1)

    def decide(self, request: EndTxn) -> Answer:
        """TransactionMetadata.prepareAbortOrCommit; the decision is answered before markers are."""
        if request.commit:
            history.committed.add(request.txn)
        elif DATABASE:
            history.aborted.add(self.txn)
        self.prepare(commit=request.commit, epoch=epoch_of_decision(self))
        return Answer("OK", id_after_decision(self))

    def prepare(self, commit: bool, epoch: int, rotates: bool = PART2) -> None:
        """A new producer id is reserved when the epochs of this one run out."""
        now = self.metadata
        client = self.expected()
        recovered = self.next_epoch != -1
        state: TxnState = "PrepareCommit" if commit else "PrepareAbort"
        self.metadata = replace(now, state=state, epoch=now.epoch + 1 if recovered else epoch)
        if PART2:
            self.last_epoch = client.epoch
        if recovered:
            self.next_epoch = epoch
        if rotates and client.exhausted() and epoch > client.epoch:
            self.prev_pid = pid_to_ask_again(self)
            self.next_pid = pids.fresh()
            self.next_epoch = 0 if recovered else -1
        self.unmarked = now.partitions

    def end_without_partitions(self) -> None:
        """An abort before any batch arrived. No marker is needed, so it is complete at once."""
        self.prepare(commit=False, epoch=epoch_of_decision(self))
        self.complete_now()

    def complete_now(self) -> None:
        done = replace(self.metadata.completed(), partitions=frozenset())
        if self.next_pid != -1:
            done = replace(done, pid=self.next_pid, epoch=max(self.next_epoch, 0))
            self.next_pid = -1
            self.next_epoch = -1
        self.metadata = done
        self.txn = 0
        if BARRIER != "none":
            self.awaited = frozenset()

    @action(fair="weak")
    def complete(self) -> None:
        """TransactionMetadata.prepareComplete, when TransactionMarkerChannelManager is done."""
        require(self.metadata.state in DECIDED and not self.unmarked)
        self.complete_now()

    def marker(self) -> WriteMarker:
        return WriteMarker(
            current(self.metadata), self.metadata.state == "PrepareCommit", self.epoch
        )

    # -- a producer asks for an id

    def init_pid(self, known: ProducerId | None) -> Answer:
        """TransactionCoordinator.handleInitProducerId, prepareInitProducerIdTransit.

        `known` is what the producer has, since KIP-360: none for a new instance.
        """
        now = self.metadata
        if now.state in DECIDED:
            return Answer("ConcurrentTransactions")
        if (
            known
            and known.pid != now.pid
            and not (known.pid == self.prev_pid and known.exhausted())
        ):
            return Answer("ProducerFenced")
        if now.state == "Ongoing":
            self.fence()
            return Answer("ConcurrentTransactions")
        if current(now).exhausted() and (known is None or known.epoch == now.epoch):
            self.metadata = Metadata(pids.fresh(), 0)
            self.last_epoch = epoch_to_ask_again(known, now)
            self.prev_pid = now.pid
        elif known is None or known.epoch == now.epoch:
            taken = now.taken()
            assert taken is not None
            self.metadata = taken
            self.last_epoch = epoch_to_ask_again(known, now)
        elif known.epoch != self.last_epoch:
            return Answer("ProducerFenced")
        # else an answer was lost: the producer is given what it was given before
        return Answer("OK", current(self.metadata))

    def fence(self) -> None:
        """TransactionMetadata.prepareFenceProducerEpoch, then endTransaction.

        The new epoch is nobody's. If it cannot be written, the cache keeps it before part 2.
        """
        epoch = epoch_to_fence(self.expected(), self.fence_failed)
        if append_failure.happens():
            if not PART2:
                self.metadata = replace(self.metadata, epoch=epoch)
                self.fence_failed = True
            return
        if DATABASE:
            history.aborted.add(self.txn)
        self.prepare(commit=False, epoch=epoch, rotates=rotates_when_fenced())
        self.fence_failed = False

    if TXN_TIMEOUTS > 0:

        @action(fault=True)
        def time_out(self) -> None:
            """TransactionCoordinator.abortTimedOutTransactions; not for KIP-939."""
            require(self.metadata.state == "Ongoing" and VARIANT != "kip939")
            txn_timeout.strike()
            self.abort_timed_out()

    def abort_timed_out(self) -> None:
        """In an epoch of its own, so that the producer is told (KAFKA-6119)."""
        self.fence()

    if DELAYED_ENDS > 0:

        @action(fair="weak")
        def receive_late_end(self) -> None:
            """TransactionCoordinator.handleEndTransaction. Nobody waits for the answer."""
            request = any_of(self.inbox)
            self.inbox.remove(request)
            self.end(request)

    if ELECTIONS > 0:

        @action(fault=True)
        def move(self) -> None:
            """Another broker becomes coordinator: TransactionStateManager.loadTransactionMetadata.

            What it does not find in the log is gone; markers are sent to all partitions again.
            """
            election.strike()
            self.epoch += 1
            self.load()
            self.unmarked = (
                self.metadata.partitions if self.metadata.state in DECIDED else frozenset()
            )

    def load(self) -> None:
        """TransactionLog.valueToBytes has all that is needed: nothing is lost (KAFKA-20310)."""

    # -- KIP-939

    def expected(self) -> ProducerId:
        """Return what the producer uses: of an ongoing transaction, whoever recovered it."""
        if self.next_epoch == -1:
            return current(self.metadata)
        return ProducerId(self.next_pid, self.next_epoch)

    def keep_prepared(self) -> Answer:
        """InitProducerId with keepPreparedTxn. The ongoing transaction stays, in its epoch.

        Whoever recovers it has an epoch of its own, and when those run out an id of its own.
        """
        if self.metadata.state != "Ongoing":
            return self.init_pid(None)
        client = self.expected()
        self.next_pid = pids.fresh() if client.exhausted() else client.pid
        self.next_epoch = 0 if client.exhausted() else epoch_of_recovery(client)
        return Answer("OK", self.expected())


def coordinator_of(producer: int) -> Coordinator:
    return coordinators[producer // PRODUCERS]


def current(metadata: Metadata) -> ProducerId:
    return ProducerId(metadata.pid, metadata.epoch)


def mismatch(id: ProducerId, expected: ProducerId) -> Code:
    return "InvalidPidMapping" if id.pid != expected.pid else "ProducerFenced"


pids = PidSource(last=IDS)
coordinators = [
    Coordinator(metadata=Metadata(pid=n + 1, epoch=0), owner=n * PRODUCERS) for n in range(IDS)
]
history = History()


# -- what proposals change -----------------------------------------------------------------------
def epoch_of_decision(coordinator: Coordinator) -> int:
    """KIP-890 part 2: markers carry an epoch above that of the transaction.

    KIP-939: above that of the producer which recovered it, too, or a late EndTxn of its would end
    the next transaction (from the review of KAFKA-15370).
    """
    client = coordinator.expected()
    return in_range(client.epoch + 1) if PART2 else client.epoch


def id_after_decision(coordinator: Coordinator) -> ProducerId:
    """KIP-890 part 2: EndTxn is answered with the id for the next transaction (KAFKA-18660)."""
    if coordinator.next_pid == -1:
        return current(coordinator.metadata)
    return ProducerId(coordinator.next_pid, max(coordinator.next_epoch, 0))


def pid_to_ask_again(coordinator: Coordinator) -> int:
    """KIP-939: of whoever recovered, since that one repeats its request."""
    return coordinator.expected().pid


def has_to_wait(now: Metadata, repeated: bool) -> bool:
    """An EndTxn before the transaction is complete, also one of the next (KAFKA-18464)."""
    return PART2 and now.state in DECIDED


def error_for_aborted(request: EndTxn, repeated: bool) -> Code:
    """A commit finds its transaction aborted by the coordinator (KAFKA-20785)."""
    if repeated and request.commit:
        return "ProducerFenced"
    return "InvalidTxnState"


def epoch_to_ask_again(known: ProducerId | None, now: Metadata) -> int:
    """KIP-360: a producer that had an epoch may ask again with it; not one that was replaced."""
    return -1 if known is None else now.epoch


def epoch_to_fence(client: ProducerId, failed_before: bool) -> int:
    """The next; the same again if an attempt before raised that in the cache (KAFKA-9666)."""
    return client.epoch if failed_before else in_range(client.epoch + 1)


def in_range(epoch: int) -> int:
    """TransactionMetadata throws an exception when there are no more epochs."""
    require(epoch <= MAX_EPOCH)
    return epoch


def rotates_when_fenced() -> bool:
    """Part 2: a new producer id follows when epochs ran out, for fencing too (KAFKA-20090)."""
    return PART2


def epoch_of_recovery(client: ProducerId) -> int:
    """KIP-939: whoever recovers is told from the instance before."""
    return client.epoch + 1
