"""Kafka transactions, part 3: the leader of a data partition.

It has a log, and of each producer it knows what it needs to refuse what is late or came twice. A
batch is appended, refused, or left for later (the producer tries again). Before the first batch of
a transaction, it may ask the coordinator whether the partition belongs to it: KIP-890.

Names of classes and methods are of Kafka 4.0 unless another version is named. A log is never
shortened, and there is one replica: part 2 and `replication` are about those.
"""

from statewalk import Auxiliary, Record, Role, action, any_of, replace, require
from statewalk.models.kafka.parties.diskless_settings import DISKLESS
from statewalk.models.kafka.parties.ending import (
    Coordinator,
    ProducerId,
    WriteMarker,
    coordinator_of,
    coordinators,
    history,
)
from statewalk.models.kafka.parties.proposals import (
    DELAYED_PRODUCE,
    DUPLICATE_MARKERS,
    EXPIRIES,
    GUARD,
    IDS,
    LEADER_ELECTIONS,
    MARKERS,
    PART2,
    PARTITIONS,
    SEQUENCES,
    VARIANT,
    duplicate_marker,
    duplicate_produce,
    expiry,
    leader_election,
    lost_ack,
)


class Batch(Record):
    """One record, and what comes with it: RecordBatch."""

    id: ProducerId
    sequence: int
    txn: int  # history: to which transaction of which producer it belongs
    number: int
    producer: int


class Marker(Record):
    """The end of a transaction in the log: EndTransactionMarker in a control batch."""

    id: ProducerId
    commit: bool


class Checked(Record):
    """A batch between the coordinator's yes and the append."""

    batch: Batch
    guard: int


class Verification(Record):
    """A check of a producer id that no append and no marker has ended: VerificationStateEntry."""

    guard: int
    epoch: int
    lowest_sequence: int  # of those that were checked; none above it is appended first

    def including(self, batch: Batch) -> "Verification":
        """VerificationStateEntry.maybeUpdateLowestSequenceAndEpoch."""
        if batch.id.epoch > self.epoch:
            return Verification(self.guard, batch.id.epoch, batch.sequence)
        lowest = min(self.lowest_sequence, batch.sequence)
        return replace(self, lowest_sequence=lowest) if batch.id.epoch == self.epoch else self


class Known(Record):
    """A leader's state of a producer id: ProducerStateEntry."""

    epoch: int
    last_sequence: int = -1
    first_offset: int = -1  # of the open transaction
    coordinator_epoch: int = 0

    def is_open(self) -> bool:
        return self.first_offset != -1


class Partition(Role):
    log: list[Batch | Marker] = []
    known: dict[int, Known] = {}  # by producer id
    inbox: set[Batch] = set()
    checked: set[Checked] = set()
    checks: dict[int, Verification] = {}  # under way, by producer id
    late_markers: set[WriteMarker] = set()  # sent twice
    strange_append: Auxiliary[bool] = False  # a batch was appended under the check of another

    # -- batches

    if DELAYED_PRODUCE and not DISKLESS:

        @action(fair="weak")
        def receive_produce(self) -> None:
            """ReplicaManager.handleProduceAppend."""
            batch = any_of(self.inbox)
            if not duplicate_produce.happens():
                self.inbox.remove(batch)
            self.produce(batch)

    def produce(self, batch: Batch) -> None:
        """ReplicaManager.handleProduceAppend: append, refuse, or leave for later."""
        if VARIANT == "kip98" or self.spares_check(batch):
            self.append_valid(batch)
        elif PART2:
            # AddPartitionsToTxnManager.addOrVerifyTransaction; kept in one step with the append
            require(not self.is_open(batch.id.pid))
            code = coordinator_of(batch.producer).add(batch.id, self.index, batch.txn)
            require(code != "ConcurrentTransactions")
            if code == "OK":
                self.append_valid(batch)
        elif coordinator_of(batch.producer).verify(batch.id, self.index):
            if GUARD == "fused":
                self.append_valid(batch)
            else:
                self.checked.add(Checked(batch, self.guard_of(batch)))

    def append_valid(self, batch: Batch) -> None:
        """UnifiedLog.analyzeAndValidateProducerState."""
        if self.accepts(batch):
            self.append(batch)

    def accepts(self, batch: Batch) -> bool:
        """ProducerAppendInfo.checkProducerEpoch, checkSequence; a repeated batch is not appended.

        Where nothing is known of the producer, part 2 wants the first sequence number, part 1 the
        lowest that it has checked, and before that any would do.
        """
        if batch.id.pid in self.checks:
            if batch.sequence > self.checks[batch.id.pid].lowest_sequence:
                return False
        if batch.id.pid not in self.known:
            return not SEQUENCES or not PART2 or batch.sequence == 0
        known = self.known[batch.id.pid]
        if batch.id.epoch < known.epoch:
            return False
        if not SEQUENCES:
            return True
        if batch.id.epoch > known.epoch:
            return batch.sequence == 0
        return batch.sequence == known.last_sequence + 1

    def is_open(self, pid: int) -> bool:
        return pid in self.known and self.known[pid].is_open()

    def append(self, batch: Batch) -> None:
        """ProducerAppendInfo.appendDataBatch. The producer has its answer at once."""
        pid = batch.id.pid
        first = self.known[pid].first_offset if self.is_open(pid) else len(self.log)
        coordinator_epoch = self.known[pid].coordinator_epoch if pid in self.known else 0
        self.known[pid] = Known(batch.id.epoch, batch.sequence, first, coordinator_epoch)
        self.log.append(batch)
        self.checks.pop(pid, None)
        if batch.producer != coordinator_of(batch.producer).owner:
            history.zombie_wrote = True

    # -- part 1: the coordinator was asked, and meanwhile the transaction may have ended

    def guard_of(self, batch: Batch) -> int:
        """ProducerStateManager.maybeCreateVerificationStateEntry."""
        if GUARD == "none":
            return 0
        pid = batch.id.pid
        if pid not in self.checks:
            used = {checked.guard for checked in self.checked}
            guard = min(n for n in range(1, len(used) + 2) if n not in used)
            self.checks[pid] = Verification(guard, batch.id.epoch, batch.sequence)
        self.checks[pid] = self.checks[pid].including(batch)
        return self.checks[pid].guard

    if VARIANT == "kip890_p1" and GUARD != "fused":

        @action(fair="weak")
        def append_checked(self) -> None:
            """UnifiedLog.append, after the coordinator's answer."""
            checked = any_of(self.checked)
            self.checked.remove(checked)
            pid = checked.batch.id.pid
            own = pid in self.checks and self.checks[pid].guard == checked.guard
            if self.is_open(pid):
                self.append_valid(checked.batch)
            elif guard_holds(pid in self.checks, own):
                if not own:
                    self.strange_append = True
                self.append_valid(checked.batch)

    # -- markers

    if not DISKLESS:

        @action(fair="weak")
        def receive_marker(self) -> None:
            """KafkaApis.handleWriteTxnMarkersRequest.

            One that is lost is one not yet sent: TransactionMarkerChannelManager goes on.
            """
            coordinator = any_of(coordinators)
            require(self.index in coordinator.unmarked)
            require(self.takes(coordinator.marker()))
            self.take_marker(coordinator)

    def take_marker(self, coordinator: Coordinator) -> None:
        """TransactionMarkerRequestCompletionHandler has the answer, unless it is lost."""
        marker = coordinator.marker()
        self.apply(marker)
        if not lost_ack.happens():
            coordinator.unmarked -= {self.index}
            if duplicate_marker.happens():
                self.late_markers.add(marker)

    if DUPLICATE_MARKERS > 0:

        @action(fair="weak")
        def receive_late_marker(self) -> None:
            """KafkaApis.handleWriteTxnMarkersRequest. Nobody waits for the answer."""
            marker = any_of(self.late_markers)
            self.late_markers.remove(marker)
            if self.takes(marker):
                self.apply(marker)

    def takes(self, marker: WriteMarker) -> bool:
        """ProducerAppendInfo.checkProducerEpoch, checkCoordinatorEpoch."""
        if marker.id.pid not in self.known:
            return True
        known = self.known[marker.id.pid]
        return known.coordinator_epoch <= marker.coordinator_epoch and takes_epoch(marker, known)

    def apply(self, marker: WriteMarker) -> None:
        """ProducerAppendInfo.appendEndTxnMarker.

        With KAFKA-19999 Kafka writes a repeated one again, to no effect; here it is left out.
        """
        pid = marker.id.pid
        last = -1
        if pid in self.known:
            known = self.known[pid]
            if is_applied(marker, known):
                return
            if known.epoch == marker.id.epoch:
                last = known.last_sequence
        self.log.append(Marker(marker.id, marker.commit))
        self.known[pid] = Known(marker.id.epoch, last, -1, marker.coordinator_epoch)
        self.checks.pop(pid, None)

    # -- faults

    if LEADER_ELECTIONS > 0:

        @action(fault=True)
        def move(self) -> None:
            """Partition.makeLeader, elsewhere. What it knows is in the log; checks are not."""
            leader_election.strike()
            self.checks.clear()
            self.checked.clear()

    if EXPIRIES > 0:

        @action(fault=True)
        def forget(self, pid: int = any_of(range(1, IDS + 3))) -> None:
            """ProducerStateManager.removeExpiredProducers, too early: markers did not count."""
            require(pid in self.known and not self.is_open(pid))
            expiry.strike()
            self.known.pop(pid)

    # -- what consumers see

    def last_stable_offset(self) -> int:
        """UnifiedLog.fetchLastStableOffsetMetadata: below it, every transaction has ended."""
        return min(
            [known.first_offset for known in self.known.values() if known.is_open()],
            default=len(self.log),
        )

    def ending(self, offset: int) -> Marker | None:
        """The marker that closes the transaction of a batch."""
        pid = self.log[offset].id.pid
        for entry in self.log[offset:]:
            if isinstance(entry, Marker) and entry.id.pid == pid:
                return entry
        return None

    # -- what proposals change

    def spares_check(self, batch: Batch) -> bool:
        """UnifiedLog.hasOngoingTransaction: an open transaction was checked by its first batch.

        Part 2: if it is the batch's own, and not the one before that is still completing
        (KAFKA-18575).
        """
        if not self.is_open(batch.id.pid):
            return False
        if not PART2:
            return True
        return self.known[batch.id.pid].epoch == batch.id.epoch


def guard_holds(any_check: bool, own_check: bool) -> bool:
    """KAFKA-14884: a token, not a state, ties an append to the check that was made for it."""
    if GUARD == "none":
        return True
    return any_check if GUARD == "state" else own_check


def takes_epoch(marker: WriteMarker, known: Known) -> bool:
    """Before part 2 a marker has the epoch of its transaction, and then one above."""
    if not PART2 or MARKERS == "at_least":
        return marker.id.epoch >= known.epoch
    return marker.id.epoch > known.epoch or is_applied(marker, known)


def is_applied(marker: WriteMarker, known: Known) -> bool:
    """Return whether a marker was written before, and is sent again."""
    if not PART2 or MARKERS != "above_or_applied":
        return False
    return marker.id.epoch == known.epoch and not known.is_open()


partitions = [Partition() for _ in range(PARTITIONS)]
