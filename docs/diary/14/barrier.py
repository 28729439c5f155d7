"""A transaction over topics without leaders: does its commit marker have to wait?

A broker uploads a record, and a sequencer gives it its place in the log later. The commit marker
goes to the sequencer directly. What comes after the marker is refused.
"""

from typing import Literal

from statewalk import Constant, Role, action, always, require, terminal

RECORDS: Constant[int] = 2
# When the producer hears that a record is safe: when it has its place, or when it is uploaded.
ACK: Constant[Literal["placed", "uploaded"]] = "uploaded"
# Whether the marker waits until each record of the transaction has its place.
BARRIER: Constant[Literal["none", "before_marker"]] = "none"
CRASHES: Constant[int] = 0  # of the broker: its files get no places any more

COMMIT = -1  # the marker, in a log of the numbers of records


class Producer(Role):
    sent: int = 0

    @action(fair="weak")
    def send(self) -> None:
        require(self.sent < RECORDS and coordinator.state == "open")
        broker.files.append(self.sent)
        broker.uploaded.add(self.sent)
        self.sent += 1

    @action(fair="weak")
    def commit(self) -> None:
        require(self.sent == RECORDS and coordinator.state == "open" and self.all_is_safe())
        coordinator.state = "decided"

    def all_is_safe(self) -> bool:
        return len(broker.uploaded if ACK == "uploaded" else sequencer.log) == RECORDS

    @action(fair="weak")
    def give_up(self) -> None:
        """A record was lost before the producer heard of it: it aborts."""
        require(ACK == "placed" and broker.crashes > 0 and coordinator.state == "open")
        coordinator.state = "aborted"


class Broker(Role):
    files: list[int] = []
    uploaded: set[int] = set()
    crashes: int = 0

    @action(fault=True)
    def crash(self) -> None:
        require(self.crashes < CRASHES and self.files)
        self.crashes += 1
        self.files.clear()


class Sequencer(Role):
    log: list[int] = []

    @action(fair="weak")
    def place(self) -> None:
        require(broker.files)
        record = broker.files.pop(0)
        if COMMIT not in self.log:
            self.log.append(record)

    @action(fair="weak")
    def mark(self) -> None:
        require(coordinator.state == "decided")
        require(BARRIER == "none" or len(self.log) == RECORDS)
        self.log.append(COMMIT)
        coordinator.state = "done"


class Coordinator(Role):
    state: Literal["open", "decided", "done", "aborted"] = "open"


producer = Producer()
broker = Broker()
sequencer = Sequencer()
coordinator = Coordinator()


@always
def all_or_nothing() -> bool:
    """Above the marker is every record of the transaction."""
    return COMMIT not in sequencer.log or sequencer.log.index(COMMIT) == RECORDS


@terminal
def ended() -> bool:
    return coordinator.state in ("done", "aborted")
