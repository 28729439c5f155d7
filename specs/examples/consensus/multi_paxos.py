"""A replicated log by Paxos, one instance for each slot, that serves writes and reads of one key.

A leader prepares a ballot for all slots at once. Messages stay; a ballot belongs to one leader.
What clients saw has to be what a single copy would have answered.
"""

from itertools import permutations
from typing import Literal

from statewalk import (
    Constant,
    Message,
    Record,
    Role,
    State,
    action,
    always,
    any_of,
    config,
    exists,
    holds,
    require,
)

REPLICAS: Constant[int] = 3
WRITES: Constant[int] = 1
READS: Constant[int] = 1
BALLOTS: Constant[int] = 2

WRITTEN = [f"w{n}" for n in range(1, WRITES + 1)]  # the command, and the value that it writes
COMMANDS = [*WRITTEN, *[f"r{n}" for n in range(1, READS + 1)]]
SLOTS = range(len(COMMANDS))


class Slot(Record):
    status: Literal["empty", "preparing", "accepting", "committed"] = "empty"
    command: str | None = None
    ballot: int = 0  # in which it voted last, and for what
    vote: str | None = None


class Event(Record):
    """An event at a client: a command, or its result, the value before it."""

    what: Literal["asked", "told"]
    command: str
    value: str | None = None


class Prepare(Message):
    source: "Replica"
    ballot: int


class Promise(Message):
    source: "Replica"
    ballot: int
    votes: tuple[tuple[int, str | None], ...]


class Accept(Message):
    source: "Replica"
    ballot: int
    slot: int
    command: str


class Accepted(Message):
    source: "Replica"
    ballot: int
    slot: int


class Network(State):
    prepares: set[Prepare] = set()
    promises: set[Promise] = set()
    accepts: set[Accept] = set()
    accepted: set[Accepted] = set()
    committed: set[int] = set()  # notices of slots


class Clients(State):
    waiting: list[str] = COMMANDS
    seen: list[Event] = []

    def note(self, event: Event) -> None:
        if event not in self.seen:
            self.seen.append(event)


class Replica(Role, symmetric=True):
    leader: "Replica | None" = None  # who it thinks leads
    value: str | None = None
    applied: int = 0  # slots
    prepared: int = 0  # the ballot that it leads
    ballot: int = 0  # the latest that it knows
    log: list[Slot] = [Slot() for _ in SLOTS]
    stopped: bool = False

    @action
    def lead(self, ballot: int = any_of(range(1, BALLOTS + 1))) -> None:
        require(not all_told() and self.leader != self and ballot > self.ballot)
        require(all(m.ballot != ballot for m in network.prepares))
        self.prepared = 0
        network.prepares.add(Prepare(self, ballot))
        self.promise(self, ballot)

    @action
    def follow(self) -> None:
        require(not all_told())
        heard = any_of([m for m in network.prepares if m.ballot > self.ballot])
        self.promise(heard.source, heard.ballot)

    def promise(self, leader: "Replica", ballot: int) -> None:
        self.leader = leader
        self.ballot = ballot
        for slot in self.log:
            if slot.status == "accepting":
                slot.status = "preparing"
        votes = tuple((slot.ballot, slot.vote) for slot in self.log)
        network.promises.add(Promise(self, ballot, votes))

    @action
    def begin_ballot(self) -> None:
        """Once a majority has promised: propose again what is not known to be committed."""
        require(not all_told() and self.leader == self and self.prepared == 0)
        heard = [m.votes for m in network.promises if m.ballot == self.ballot]
        require(len(heard) > REPLICAS // 2)
        self.prepared = self.ballot
        for at in SLOTS:
            slot = self.log[at]
            last = max(votes[at][0] for votes in heard)
            slot.command = next((v for b, v in (votes[at] for votes in heard) if b == last), None)
            if slot.status == "preparing" or (slot.status == "empty" and slot.command):
                slot.status = "accepting"
            if slot.status == "accepting" and slot.command:
                network.accepts.add(Accept(self, self.ballot, at, slot.command))

    @action
    def take(self) -> None:
        """A command that waits, into the first empty slot; a step for each empty one."""
        require(not all_told() and self.leads())
        empty = [at for at in SLOTS if self.log[at].status == "empty"]
        any_of(empty)
        commands = [slot.command for slot in self.log]
        fresh = [command for command in clients.waiting if command not in commands]
        require(fresh)
        self.vote(empty[0], self.prepared, fresh[0])
        network.accepts.add(Accept(self, self.prepared, empty[0], fresh[0]))
        clients.note(Event("asked", fresh[0]))

    @action
    def accept(self) -> None:
        require(not all_told())
        late = [m for m in network.accepts if m.ballot >= self.ballot]
        heard = any_of([m for m in late if m.ballot > self.log[m.slot].ballot])
        self.leader = heard.source
        self.ballot = heard.ballot
        self.vote(heard.slot, heard.ballot, heard.command)

    def vote(self, at: int, ballot: int, command: str) -> None:
        self.log[at] = Slot("accepting", command, ballot, command)
        network.accepted.add(Accepted(self, ballot, at))

    @action
    def commit(self) -> None:
        """The next slot, once a majority has accepted it; the client is told."""
        require(not all_told() and self.leads() and self.is_next_open())
        at = self.applied
        votes = [m for m in network.accepted if m.slot == at and m.ballot == self.prepared]
        require(len(votes) > REPLICAS // 2)
        before = self.value
        command = self.apply()
        clients.note(Event("told", command, before))
        if command in clients.waiting:
            clients.waiting.remove(command)
        network.committed.add(at)

    @action
    def learn(self) -> None:
        require(not all_told() and self.leader != self and self.is_next_open())
        require(self.applied in network.committed)
        self.apply()

    @action
    def stop(self) -> None:
        require(all_told() and not self.stopped)
        self.stopped = True

    def leads(self) -> bool:
        return self.leader == self and self.prepared == self.ballot

    def is_next_open(self) -> bool:
        return self.applied in SLOTS and self.log[self.applied].status == "accepting"

    def apply(self) -> str:
        slot = self.log[self.applied]
        command = slot.command
        assert command
        slot.status = "committed"
        self.applied += 1
        if command in WRITTEN:
            self.value = command
        return command


network = Network()
clients = Clients()
replicas = [Replica() for _ in range(REPLICAS)]


def all_told() -> bool:
    return not clients.waiting and all(
        any(e.what == what and e.command == c for e in clients.seen)
        for what in ("asked", "told")
        for c in COMMANDS
    )


@action
def rest() -> None:
    require(all(replica.stopped for replica in replicas))


def explains(order: tuple[str, ...]) -> bool:
    """Return whether one copy that served commands in this order could have answered as
    was seen.
    """
    asked = {e.command: at for at, e in enumerate(clients.seen) if e.what == "asked"}
    told = {e.command: at for at, e in enumerate(clients.seen) if e.what == "told"}
    value = None
    for at, command in enumerate(order):
        if clients.seen[told[command]].value != value:
            return False
        if any(told[later] < asked[command] for later in order[at:]):
            return False
        value = command if command in WRITTEN else value
    return True


@always
def answers_of_one_copy() -> bool:
    return not all_told() or any(explains(order) for order in permutations(COMMANDS))


@exists
def logs_differ() -> bool:
    """A notice says which slot is committed, not what: an older vote for it is then applied."""
    return any(
        len({r.log[at].command for r in replicas if r.log[at].status == "committed"}) > 1
        for at in SLOTS
    )


@exists
def a_second_leader_finishes() -> bool:
    return all_told() and any(r.prepared == 2 and r.applied == len(SLOTS) for r in replicas)


config("three", expect=holds(distinct=2062561, generated=4415485, depth=28))
