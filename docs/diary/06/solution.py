"""A late batch, and what was proposed against it: KIP-890 in two parts, and rules for markers."""

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
    mutant,
    require,
    terminal,
)

TXNS: Constant[int] = 1
RECORDS: Constant[int] = 1
VARIANT: Constant[
    Literal[
        "kip98",  # a batch is appended if its epoch is not too old
        "part1_unguarded",  # the leader asks the coordinator first, and appends in a second step
        "part1",  # the same, and what was heard is void once a batch or a marker is appended
        "part2",  # each transaction has an epoch of its own; the leader adds the partition
    ]
] = "kip98"
LATE_BATCHES: Constant[bool] = True
MARKERS: Constant[
    Literal[
        "from",  # a marker must have at least the epoch that the partition knows
        "above",  # it must have a higher one
        "above_or_applied",  # the same; one that repeats is confirmed, and not written again
    ]
] = "from"
LOST_ACKS: Constant[int] = 0  # markers whose confirmation may be lost
DUPLICATES: Constant[int] = 0  # markers that may arrive once more, later
TIMEOUTS: Constant[int] = 0  # transactions that the coordinator may abort by itself

DECIDED = ("committing", "aborting")


class Batch(Record):
    epoch: int
    txn: int  # history: the broker does not know
    number: int


class Marker(Record):
    epoch: int
    commit: bool


class Checked(Record):
    batch: Batch
    good: bool = True  # nothing was appended since


class Producer(Role):
    state: Literal["ready", "in_txn", "fenced"] = "ready"
    epoch: int = 0
    txn: int = 0
    sent: int = 0
    outcomes: Auxiliary[list[Literal["open", "commit", "abort"]]] = []

    @action
    def begin(self) -> None:
        require(self.state == "ready" and self.txn < TXNS)
        require(coordinator.state not in DECIDED)
        self.txn += 1
        self.sent = 0
        self.state = "in_txn"
        self.outcomes.append("open")

    @action
    def send(self) -> None:
        require(self.state == "in_txn" and self.sent < RECORDS)
        if VARIANT != "part2":
            require(coordinator.state not in DECIDED)
            if not coordinator.add(self.epoch):
                self.state = "fenced"
                return
        batch = Batch(self.epoch, self.txn, self.sent)
        self.sent += 1
        if LATE_BATCHES:
            partition.inbox.add(batch)
        else:
            partition.produce(batch)

    @action
    def commit(self) -> None:
        require(self.state == "in_txn" and self.sent == RECORDS)
        require(all(Batch(self.epoch, self.txn, n) in partition.log for n in range(RECORDS)))
        self.end(commit=True)

    @action
    def abort(self) -> None:
        """Perhaps since no answer came; what has become of a batch is not known."""
        require(self.state == "in_txn" and self.sent > 0)
        self.end(commit=False)

    def end(self, commit: bool) -> None:
        require(coordinator.state not in DECIDED)
        if coordinator.end(self.epoch, commit):
            self.outcomes[-1] = "commit" if commit else "abort"
            self.epoch = coordinator.epoch
            self.state = "ready"
        else:
            self.state = "fenced"


def epoch_after_timeout() -> int:
    """Whoever goes on in a transaction that was aborted is fenced."""
    return coordinator.epoch + 1


class Coordinator(Role):
    state: Literal["empty", "ongoing", "committing", "aborting", "completed"] = "empty"
    epoch: int = 0
    marked: bool = False
    timeouts: int = 0
    lost_acks: int = 0

    def add(self, epoch: int) -> bool:
        """The partition takes part in the transaction."""
        if epoch != self.epoch or self.state in DECIDED:
            return False
        self.state = "ongoing"
        return True

    def end(self, epoch: int, commit: bool) -> bool:
        if epoch != self.epoch:
            return False
        if self.state == "ongoing":
            self.state = "committing" if commit else "aborting"
        elif VARIANT == "part2" and not commit:
            self.state = "completed"  # nothing was added, so there is nothing to mark
        else:
            return False
        if VARIANT == "part2":
            self.epoch += 1
        return True

    if TIMEOUTS > 0:

        @action
        def time_out(self) -> None:
            require(self.state == "ongoing" and self.timeouts < TIMEOUTS)
            self.timeouts += 1
            self.epoch = epoch_after_timeout()
            self.state = "aborting"

    @action
    def write_marker(self) -> None:
        require(self.state in DECIDED and not self.marked)
        marker = Marker(self.epoch, self.state == "committing")
        require(partition.takes(marker))
        partition.apply(marker)
        if self.lost_acks < LOST_ACKS and any_of([False, True]):
            self.lost_acks += 1
        else:
            self.marked = True
            if partition.duplicates < DUPLICATES and any_of([False, True]):
                partition.duplicates += 1
                partition.late_markers.add(marker)

    @action
    def complete(self) -> None:
        require(self.marked)
        self.marked = False
        self.state = "completed"


class Partition(Role):
    log: list[Batch | Marker] = []
    inbox: set[Batch] = set()
    checked: set[Checked] = set()
    late_markers: set[Marker] = set()
    duplicates: int = 0

    def is_open(self) -> bool:
        """Whether a transaction has begun here that no marker has ended."""
        return bool(self.log) and isinstance(self.log[-1], Batch)

    def known(self) -> int:
        """The newest epoch."""
        return self.log[-1].epoch if self.log else -1

    @action
    def receive(self) -> None:
        batch = any_of(self.inbox)
        self.inbox.remove(batch)
        self.produce(batch)

    def produce(self, batch: Batch) -> None:
        if VARIANT == "kip98" or self.is_open():
            self.append(batch)
        elif VARIANT == "part2":
            require(coordinator.state not in DECIDED)
            if coordinator.add(batch.epoch):
                self.append(batch)
        elif coordinator.state == "ongoing" and batch.epoch == coordinator.epoch:
            self.checked.add(Checked(batch))

    if VARIANT in ("part1", "part1_unguarded"):

        @action
        def append_checked(self) -> None:
            checked = any_of(self.checked)
            self.checked.remove(checked)
            if checked.good or self.is_open() or VARIANT == "part1_unguarded":
                self.append(checked.batch)

    def append(self, batch: Batch) -> None:
        if batch.epoch >= self.known():
            self.write(batch)

    def write(self, entry: Batch | Marker) -> None:
        self.log.append(entry)
        self.checked = {Checked(checked.batch, good=False) for checked in self.checked}

    def takes(self, marker: Marker) -> bool:
        if MARKERS == "from":
            return marker.epoch >= self.known()
        if MARKERS == "above_or_applied" and marker.epoch == self.known() and not self.is_open():
            return True
        return marker.epoch > self.known()

    def apply(self, marker: Marker) -> None:
        if MARKERS == "from" or marker.epoch > self.known():
            self.write(marker)

    if DUPLICATES > 0:

        @action
        def receive_late_marker(self) -> None:
            marker = any_of(self.late_markers)
            self.late_markers.remove(marker)
            if self.takes(marker):
                self.apply(marker)


producer = Producer()
coordinator = Coordinator()
partition = Partition()


@always
def no_hanging_transaction() -> bool:
    """Where a transaction is open, somebody is going to end it."""
    return not partition.is_open() or (coordinator.state != "completed" and not coordinator.marked)


def ended_by(commit: bool) -> list[Batch]:
    """The batches that markers of a kind have ended."""
    found: list[Batch] = []
    waiting: list[Batch] = []
    for entry in partition.log:
        if isinstance(entry, Batch):
            waiting.append(entry)
        else:
            if entry.commit == commit:
                found.extend(waiting)
            waiting = []
    return found


@always
def aborted_never_committed() -> bool:
    """A commit marker ends no batch of a transaction that did not commit."""
    return all(producer.outcomes[b.txn - 1] == "commit" for b in ended_by(commit=True))


@always
def committed_never_aborted() -> bool:
    """An abort marker ends no batch of a transaction that committed."""
    return all(producer.outcomes[b.txn - 1] != "commit" for b in ended_by(commit=False))


@exists
def something_is_committed() -> bool:
    return any(isinstance(entry, Marker) and entry.commit for entry in partition.log)


@terminal
def done() -> bool:
    ended = producer.state == "fenced" or (producer.state == "ready" and producer.txn == TXNS)
    return ended and coordinator.state not in DECIDED


@mutant(epoch_after_timeout)
def same_epoch() -> int:
    """A transaction that timed out is aborted in its own epoch."""
    return coordinator.epoch


@always
def one_epoch_each() -> bool:
    """Batches of the same epoch are of the same transaction."""
    batches = [entry for entry in partition.log if isinstance(entry, Batch)]
    return all(a.txn == b.txn for a in batches for b in batches if a.epoch == b.epoch)
