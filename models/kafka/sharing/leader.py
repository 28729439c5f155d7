"""Kafka's share partitions: consumers, the persister, and the leader that lends records.

A consumer acquires a record for a time: a timer runs. It accepts, releases or rejects the record,
and the leader shows that at once, but has it written by the persister before it is done; if that
fails, the consumer holds the record as before. Times, writes, deletions of old records and other
consumers come in between.

Names of classes and methods are of Kafka's trunk of August 2026 (commit 06d492d813 of the public
fork of Confluent); docs/models/kafka-share-partition.md says what each leaves out.
"""

from typing import Literal

from statewalk import Message, Record, Role, State, action, any_of, maybe, require
from statewalk.models.kafka.sharing.settings import (
    CONSUMERS,
    DELETIONS,
    EXPIRED_BELOW_START,
    FENCING,
    LEADER_MOVES,
    LOCKS_EXPIRE,
    MAX_DELIVERIES,
    OFFSET_RESETS,
    RECORDS,
    SESSIONS_END,
    WRITE_FAILURES,
)

RecordState = Literal["AVAILABLE", "ACQUIRED", "ACKNOWLEDGED", "ARCHIVED"]
Acknowledgement = Literal["ACCEPT", "RELEASE", "REJECT"]
Code = Literal["FENCED_LEADER_EPOCH", "FENCED_STATE_EPOCH", "COORDINATOR_NOT_AVAILABLE"]

PRIORITY: list[RecordState] = ["AVAILABLE", "ACQUIRED", "ACKNOWLEDGED", "ARCHIVED"]


# -- records and messages ------------------------------------------------------------------------
class Timer(Record):
    """The end of a lock: AcquisitionLockTimerTask."""

    offset: int
    delivery: int


class InFlight(Record):
    """A record of the log that was delivered, and may have to be again: InFlightState."""

    state: RecordState = "AVAILABLE"
    deliveries: int = 0
    holder: "Consumer | None" = None
    timer: Timer | None = None
    acknowledged_by: "Consumer | None" = None  # until that is written: rollbackState
    is_deleted: bool = False  # isTerminalState

    def is_settled(self, state: RecordState) -> bool:
        return self.state == state and self.acknowledged_by is None

    def is_done(self) -> bool:
        return self.is_settled("ACKNOWLEDGED") or self.is_settled("ARCHIVED")

    def may_be_acquired(self) -> bool:
        return self.is_settled("AVAILABLE")


class Persisted(Record):
    """PersisterStateBatch, of one record."""

    state: RecordState
    deliveries: int
    state_epoch: int  # history: of the leader that wrote it

    def precedes(self, other: "Persisted") -> bool:
        """PersisterStateBatchCombiner: more deliveries win, then the later state."""
        if self.deliveries != other.deliveries:
            return self.deliveries < other.deliveries
        return PRIORITY.index(self.state) < PRIORITY.index(other.state)


class Write(Message):
    """WriteShareGroupStateRequest."""

    source: "SharePartition"
    instance: int  # of the source, which forgets all when the leader or the sessions change
    leader_epoch: int
    state_epoch: int
    start: int
    offset: int
    written: Persisted
    is_acknowledgement: bool


class Written(Message):
    """WriteShareGroupStateResponse."""

    source: "Persister"
    request: Write
    error: Code | None


# -- the log, and what is counted ----------------------------------------------------------------
class Log(State):
    start: int = 0  # older records are deleted

    if DELETIONS:

        @action
        def delete_records(self) -> None:
            """By retention or by an administrator."""
            require(history.deletions < DELETIONS)
            history.deletions += 1
            self.start = any_of(range(self.start + 1, RECORDS + 1))


class History(State):
    accepted: set[int] = set()  # by consumers that were told so
    failures: int = 0
    deletions: int = 0
    sessions_ended: int = 0
    resets: int = 0

    def accept(self, request: Write) -> None:
        """The consumer is told. After a reset, that is about nothing any more."""
        if request.state_epoch == persister.state_epoch:
            self.accepted.add(request.offset)


# -- consumers -----------------------------------------------------------------------------------
class Consumer(Role, symmetric=True):
    @action
    def fetch(self) -> None:
        """SharePartition.acquire, of one record."""
        require(partition.is_active)
        offset = partition.next_fetch_offset()
        require(log.start <= offset < RECORDS)
        partition.acquire(offset, self)

    @action
    def acknowledge(self, kind: Acknowledgement) -> None:
        """SharePartition.acknowledge. What it refuses, and what is below the start, is no step."""
        require(partition.is_active)
        offset = any_of(
            [
                offset
                for offset, record in partition.cache.items()
                if record.is_settled("ACQUIRED") and record.holder == self
            ]
        )
        require(offset >= partition.start)
        partition.start_transition(offset, kind)


# -- the persister -------------------------------------------------------------------------------
class Persister(Role):
    """The share coordinator: ShareCoordinatorShard."""

    start: int = 0
    states: dict[int, Persisted] = {}
    leader_epoch: int = 0
    state_epoch: int = 0
    inbox: set[Write] = set()

    @action(fair="weak")
    def write(self) -> None:
        """ShareCoordinatorShard.writeState. Requests may overtake one another."""
        request = any_of(self.inbox)
        error = self.refuses(request)
        if error is None:
            self.apply(request)
        self.answer(request, error)

    if WRITE_FAILURES:

        @action
        def fail(self) -> None:
            """PersisterStateManager gives up, and does not know what became of the request."""
            require(history.failures < WRITE_FAILURES)
            history.failures += 1
            request = any_of(self.inbox)
            if self.refuses(request) is None and maybe():
                self.apply(request)
            self.answer(request, "COORDINATOR_NOT_AVAILABLE")

    def refuses(self, request: Write) -> Code | None:
        if FENCING and request.leader_epoch < self.leader_epoch:
            return "FENCED_LEADER_EPOCH"
        if FENCING and request.state_epoch < self.state_epoch:
            return "FENCED_STATE_EPOCH"
        return None

    def apply(self, request: Write) -> None:
        known = self.states.get(request.offset)
        if known is None or known.precedes(request.written):
            self.states[request.offset] = request.written
        self.start = max(self.start, request.start)
        for offset in list(self.states):
            if offset < self.start:
                self.states.pop(offset)

    def answer(self, request: Write, error: Code | None) -> None:
        self.inbox.remove(request)
        partition.inbox.add(Written(self, request, error))

    if OFFSET_RESETS:

        @action
        def reset_offsets(self) -> None:
            """ShareCoordinatorShard.initializeState, for an administrator: from the beginning."""
            require(history.resets < OFFSET_RESETS)
            history.resets += 1
            history.accepted.clear()
            self.state_epoch += 1
            self.start = log.start
            self.states.clear()


# -- the leader's share partition ----------------------------------------------------------------
class SharePartition(Role):
    is_active: bool = False
    instance: int = 0
    leader_epoch: int = 0
    state_epoch: int = 0
    start: int = 0
    cache: dict[int, InFlight] = {}
    scheduled: set[Timer] = set()  # timers that run
    expired: set[Timer] = set()  # timers that wait for the lock of the share partition
    cancelled: set[Timer] = set()  # some of those
    inbox: set[Written] = set()

    # -- it comes and goes

    @action(fair="weak")
    def initialize(self) -> None:
        """SharePartition.maybeInitialize, with the first fetch."""
        require(not self.is_active)
        persister.leader_epoch = self.leader_epoch
        self.is_active = True
        self.state_epoch = persister.state_epoch
        self.start = persister.start
        for offset, known in persister.states.items():
            self.cache[offset] = InFlight(known.state, known.deliveries)
        self.move_start()

    def forget(self) -> None:
        """SharePartitionManager.removeSharePartitionFromCache."""
        self.is_active = False
        self.instance += 1
        self.cache.clear()
        self.scheduled.clear()
        self.expired.clear()
        self.cancelled.clear()

    if LEADER_MOVES:

        @action
        def move_leader(self) -> None:
            """SharePartitionListener.onBecomingFollower, and another broker leads."""
            require(self.leader_epoch < LEADER_MOVES)
            self.leader_epoch += 1
            self.forget()

    if SESSIONS_END:

        @action
        def end_sessions(self) -> None:
            """ShareGroupListenerImpl.onGroupEmpty: the group has no session on this broker."""
            require(self.is_active and history.sessions_ended < SESSIONS_END)
            history.sessions_ended += 1
            self.forget()

    # -- fetches

    def next_fetch_offset(self) -> int:
        """SharePartition.nextFetchOffset: the first record that may be acquired, old or new."""
        if not self.cache or self.start > max(self.cache):
            return self.start
        for offset in range(RECORDS):
            record = self.cache.get(offset)
            if record is None and offset >= self.start:
                return offset
            if record is not None and record.may_be_acquired():
                return offset
        return RECORDS

    def acquire(self, offset: int, consumer: Consumer) -> None:
        if offset not in self.cache:
            self.cache[offset] = InFlight()
        record = self.cache[offset]
        record.state = "ACQUIRED"
        record.deliveries += 1
        record.holder = consumer
        record.timer = Timer(offset, record.deliveries)
        self.scheduled.add(record.timer)

    if DELETIONS:

        @action(fair="weak")
        def read_log_start(self) -> None:
            """SharePartition.updateCacheAndOffsets, after a fetch from a deleted offset."""
            require(self.is_active and self.next_fetch_offset() < log.start)
            require(log.start > self.start)
            for offset, record in self.cache.items():
                if self.start <= offset < log.start and record.state == "AVAILABLE":
                    self.archive(record)
            self.start = log.start

    def archive(self, record: InFlight) -> None:
        """InFlightState.archive."""
        record.is_deleted = True
        record.state = "ARCHIVED"
        record.holder = None
        self.cancel(record)

    # -- acknowledgements

    def start_transition(self, offset: int, kind: Acknowledgement) -> None:
        """InFlightState.startStateTransition, and SharePartition.writeShareGroupState."""
        record = self.cache[offset]
        record.acknowledged_by = record.holder
        record.holder = None
        if kind == "ACCEPT":
            record.state = "ACKNOWLEDGED"
        elif kind == "REJECT":
            record.state = "ARCHIVED"
        else:
            record.state = after_delivery(record)
        self.persist(offset, is_acknowledgement=True)

    def persist(self, offset: int, is_acknowledgement: bool) -> None:
        record = self.cache[offset]
        persister.inbox.add(
            Write(
                self,
                self.instance,
                self.leader_epoch,
                self.state_epoch,
                self.start,
                offset,
                Persisted(record.state, record.deliveries, self.state_epoch),
                is_acknowledgement,
            )
        )

    @action(fair="weak")
    def complete_write(self) -> None:
        """What follows SharePartition.writeShareGroupState."""
        response = any_of(self.inbox)
        self.inbox.remove(response)
        request = response.request
        if response.error is None and request.written.state == "ACKNOWLEDGED":
            history.accept(request)
        if request.instance != self.instance:
            return
        if request.is_acknowledgement:
            self.complete_transition(request.offset, response.error is None)
            if response.error in ("FENCED_LEADER_EPOCH", "FENCED_STATE_EPOCH"):
                self.forget()
                return
        if response.error is None or not request.is_acknowledgement:
            self.move_start()

    def complete_transition(self, offset: int, is_written: bool) -> None:
        """InFlightState.completeStateTransition."""
        record = self.cache[offset]
        before = record.acknowledged_by
        record.acknowledged_by = None
        if is_written or self.stays_archived(record):
            self.cancel(record)
        elif self.is_expired(record):
            record.state = self.after_expiry(offset, record)
            self.cancel(record)
        else:
            record.state = "ACQUIRED"
            record.holder = before

    def stays_archived(self, record: InFlight) -> bool:
        return record.is_deleted

    def is_expired(self, record: InFlight) -> bool:
        return record.timer is not None and record.timer not in self.scheduled

    def after_expiry(self, offset: int, record: InFlight) -> RecordState:
        if EXPIRED_BELOW_START == "archived" and offset < self.start:
            return "ARCHIVED"
        return after_delivery(record)

    def move_start(self) -> None:
        """SharePartition.maybeUpdateCachedStateAndOffsets: past all that is done."""
        at_start = [offset for offset in self.cache if offset <= self.start]
        if not at_start or not self.cache[max(at_start)].is_done():
            return
        end = min(self.cache)
        while end in self.cache and self.cache[end].is_done():
            end += 1
        self.start = max(self.start, end)
        for offset in list(self.cache):
            if offset < end:
                self.cache.pop(offset)

    # -- timers

    def cancel(self, record: InFlight) -> None:
        """InFlightState.cancelAndClearAcquisitionLockTimeoutTask."""
        timer = record.timer
        record.timer = None
        if timer is not None and timer in self.scheduled:
            self.scheduled.remove(timer)
        elif timer is not None and timer in self.expired:
            self.cancelled.add(timer)

    def will_end(self, timer: Timer) -> bool:
        return timer in self.scheduled or timer in self.expired - self.cancelled

    def ignores(self, timer: Timer) -> bool:
        return timer in self.cancelled

    if LOCKS_EXPIRE:

        @action(fair="weak")
        def expire(self) -> None:
            """AcquisitionLockTimerTask.run, which has to wait for the lock."""
            timer = any_of(self.scheduled)
            self.scheduled.remove(timer)
            self.expired.add(timer)

        @action(fair="weak")
        def release_expired(self) -> None:
            """SharePartition.releaseAcquisitionLockOnTimeout. Its write may fail as it likes."""
            timer = any_of(self.expired)
            self.expired.remove(timer)
            is_ignored = self.ignores(timer)
            self.cancelled.discard(timer)
            record = self.cache.get(timer.offset)
            if is_ignored or record is None or not record.is_settled("ACQUIRED"):
                return
            record.state = after_delivery(record) if timer.offset >= self.start else "ARCHIVED"
            record.holder = None
            self.cancel(record)
            self.persist(timer.offset, is_acknowledgement=False)


def after_delivery(record: InFlight) -> RecordState:
    """InFlightState.tryUpdateState: nobody gets a record more often than the limit says."""
    return "AVAILABLE" if record.deliveries < MAX_DELIVERIES else "ARCHIVED"


# -- instances -----------------------------------------------------------------------------------
log = Log()
history = History()
consumers = [Consumer() for _ in range(CONSUMERS)]
persister = Persister()
partition = SharePartition()
