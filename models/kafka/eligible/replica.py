"""Kafka's eligible leader replicas: what a broker holds, what is sent, and what a log answers."""

from typing import Literal

from statewalk import Message, Record, Role, State, replace
from statewalk.models.kafka.eligible.settings import MIN_ISR, VARIANT

Brokers = frozenset["Replica"]
Code = Literal["FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH", "NOT_LEADER_OR_FOLLOWER"]
Refusal = Literal["FENCED_LEADER_EPOCH", "INELIGIBLE_REPLICA"]


# -- records -------------------------------------------------------------------------------------
class Entry(Record):
    epoch: int  # of the leader that took it
    value: int


class Metadata(Record):
    """A partition as a broker knows it: PartitionRegistration."""

    replicas: Brokers = frozenset()
    isr: Brokers = frozenset()
    maximal_isr: Brokers = frozenset()  # with those that the leader has asked to add or remove
    leader: "Replica | None" = None
    leader_epoch: int = 0
    partition_epoch: int = 0


class Peer(Record):
    """What a leader knows of a follower, from its last fetch: Replica.stateSnapshot."""

    end: int | None = None
    broker_epoch: int = 0


class Fetch(Record):
    offset: int
    last_epoch: int
    delayed: bool = False


class Fetcher(Record):
    """A thread that fetches from one other broker."""

    partition: Fetch | None = None  # what it fetches, if it does
    is_waiting: bool = False


class EpochEnd(Record):
    epoch: int
    end: int


UNKNOWN = Metadata()
BLANK = Peer()


# -- messages ------------------------------------------------------------------------------------
class RegisterRequest(Message):
    source: "Replica"
    broker_epoch: int  # 0 unless the broker shut down cleanly
    incarnation: int


class RegisterResponse(Message):
    broker_epoch: int
    incarnation: int
    read: int  # records of the metadata log when it was registered


class AlterPartitionRequest(Message):
    source: "Replica"
    isr: Brokers
    epochs: "frozenset[tuple[Replica, int]]"  # broker epochs of new members, 0 of others
    leader_epoch: int
    partition_epoch: int
    broker_epoch: int


class AlterPartitionResponse(Message):
    request: AlterPartitionRequest
    error: Refusal | None = None
    metadata: Metadata = UNKNOWN


class FetchRequest(Message):
    source: "Replica"
    broker_epoch: int
    leader_epoch: int
    offset: int
    last_epoch: int


class FetchResponse(Message):
    source: "Replica"
    leader_epoch: int
    offset: int
    high_watermark: int
    error: Code | None = None
    diverging: EpochEnd | None = None
    records: tuple[Entry, ...] = ()


# -- what producers and consumers know -----------------------------------------------------------
class History(State):
    sent: set[int] = set()
    acked: set[int] = set()
    refused: set[int] = set()
    consumed: list[Entry] = []  # up to the highest high watermark that any leader ever had


history = History()


# -- a broker's replica --------------------------------------------------------------------------
class Replica(Role):
    status: Literal["RUNNING", "STARTING", "STOPPED", "CRASHED"] = "RUNNING"
    broker_epoch: int = 0
    incarnation: int = 0
    read: int = 0  # records of the metadata log
    metadata: Metadata = UNKNOWN
    role: Literal["LEADER", "FOLLOWER"] | None = None
    log: list[Entry] = []
    high_watermark: int = 0
    epoch_start: int | None = None  # where the log ended when it became leader
    peers: dict["Replica", Peer] = {}
    fetchers: dict["Replica", Fetcher] = {}
    asked: AlterPartitionRequest | None = None
    floor: int | None = None  # first offset that it wrote since it leads: whom to answer
    inbox: set[RegisterResponse | AlterPartitionResponse | FetchRequest | FetchResponse] = set()

    def is_asking(self) -> bool:
        """Return whether an AlterPartition request is under way, for all it knows."""
        asked = self.asked
        return asked is not None and asked.partition_epoch >= self.metadata.partition_epoch

    def last_epoch(self) -> int:
        return self.log[-1].epoch if self.log else 0

    # -- the high watermark: Partition.maybeIncrementLeaderHW

    def committed(self, maximal_isr: Brokers) -> int:
        """Return up to where all members of the maximal ISR have the log."""
        ends = [self.peers[peer].end or 0 for peer in maximal_isr if peer != self]
        return min([len(self.log), *ends])

    def raise_high_watermark(self, isr: Brokers, end: int) -> None:
        """KIP-966 waits until the ISR is large enough: an eligible replica may lack the record."""
        if end > self.high_watermark and (VARIANT == "isr" or len(isr) >= MIN_ISR):
            if len(isr) >= MIN_ISR:
                history.acked |= self.waiting(self.high_watermark, end)
            else:
                self.refuse_writes()
            history.consumed += self.log[len(history.consumed) : end]
            self.high_watermark = end

    def waiting(self, begin: int, end: int) -> set[int]:
        """Return the values that this leader wrote there, and whose producers wait."""
        floor = self.floor
        if floor is None:
            return set()
        written = {entry.value for entry in self.log[max(begin, floor) : end]}
        return written - history.acked - history.refused

    def refuse_writes(self) -> None:
        history.refused |= self.waiting(self.high_watermark, len(self.log))

    # -- where logs leave one another: LeaderEpochFileCache.endOffsetFor

    def end_of_epoch(self, epoch: int, leads: bool) -> EpochEnd:
        if not self.log or epoch == self.last_epoch():
            return EpochEnd(epoch, len(self.log))
        if leads and self.metadata.leader_epoch == epoch:
            return EpochEnd(epoch, len(self.log))
        higher = [n for n, entry in enumerate(self.log) if entry.epoch > epoch]
        lower = [entry.epoch for entry in self.log if entry.epoch <= epoch]
        return EpochEnd(lower[-1] if lower else epoch, higher[0] if higher else len(self.log))

    def truncation_point(self, diverging: EpochEnd) -> int:
        own = self.end_of_epoch(diverging.epoch, leads=False)
        return own.end if own.epoch != diverging.epoch else min(own.end, diverging.end)

    # -- fetchers

    def stop_fetching(self) -> None:
        for peer in list(self.fetchers):
            self.fetchers[peer] = replace(self.fetchers[peer], partition=None)

    def fail_fetches_from(self, broker: "Replica") -> None:
        """The connection is gone, and with it what was under way."""
        fetcher = self.fetchers[broker]
        partition = fetcher.partition
        if fetcher.is_waiting:
            if partition is not None:
                partition = replace(partition, delayed=True)
            self.fetchers[broker] = Fetcher(partition)
        self.inbox = {
            m
            for m in self.inbox
            if not (isinstance(m, FetchRequest | FetchResponse) and m.source == broker)
        }

    def forget_followers(self, keep: Brokers = frozenset()) -> None:
        for peer in list(self.peers):
            if peer not in keep:
                self.peers[peer] = BLANK
