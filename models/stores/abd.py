"""A register on a majority of replicas (Attiya, Bar-Noy and Dolev), with one writer.

A write stores its value, whose number is its time, at a majority. A read asks a majority, takes the
newest value, and stores that at a majority before it answers. Without this second round
(``STALE_READ``) a read may see a write that is under way, and a later one may not.

A request to a replica and its answer are one step: what happens between is a step of others.
Replicas that nobody reaches are those that are down.
"""

from typing import Literal

from statewalk import (
    Auxiliary,
    Constant,
    Role,
    State,
    action,
    always,
    config,
    exists,
    holds,
    require,
    terminal,
    violates,
)
from statewalk.dsl.operations import Event, linearizable

REPLICAS: Constant[int] = 3
READERS: Constant[int] = 1
WRITES: Constant[int] = 1
READS: Constant[int] = 2  # of each reader
STALE_READ: Constant[bool] = False


class History(State):
    events: Auxiliary[list[tuple["Writer | Reader | str | int", ...]]] = []


class Replica(Role, symmetric=True):
    value: int = 0


class Writer(Role):
    last: int = 0
    reached: set[Replica] = set()
    writing: bool = False

    @action
    def write(self) -> None:
        require(not self.writing and self.last < WRITES)
        self.writing = True
        self.last += 1
        history.events.append(("call", self, "write", self.last))

    @action
    def store(self, replica: Replica) -> None:
        require(self.writing and replica not in self.reached)
        self.reached.add(replica)
        replica.value = max(replica.value, self.last)

    @action
    def finish(self) -> None:
        require(is_majority(self.reached))
        self.writing = False
        self.reached = set()
        history.events.append(("return", self))


class Reader(Role, symmetric=True):
    state: Literal["idle", "asking", "storing"] = "idle"
    reads: int = 0
    newest: int = 0
    reached: set[Replica] = set()

    @action
    def read(self) -> None:
        require(self.state == "idle" and self.reads < READS)
        self.state = "asking"
        self.reads += 1
        history.events.append(("call", self, "read"))

    @action
    def ask(self, replica: Replica) -> None:
        require(self.state == "asking" and replica not in self.reached)
        self.reached.add(replica)
        self.newest = max(self.newest, replica.value)

    @action
    def choose(self) -> None:
        require(self.state == "asking" and is_majority(self.reached))
        self.reached = set()
        if STALE_READ:
            self.answer()
        else:
            self.state = "storing"

    @action
    def store(self, replica: Replica) -> None:
        require(self.state == "storing" and replica not in self.reached)
        self.reached.add(replica)
        replica.value = max(replica.value, self.newest)

    @action
    def finish(self) -> None:
        require(self.state == "storing" and is_majority(self.reached))
        self.reached = set()
        self.answer()

    def answer(self) -> None:
        history.events.append(("return", self, self.newest))
        self.state = "idle"
        self.newest = 0


history = History()
replicas = [Replica() for _ in range(REPLICAS)]
writer = Writer()
readers = [Reader() for _ in range(READERS)]


def is_majority(reached: set[Replica]) -> bool:
    return 2 * len(reached) > REPLICAS


def recorded_operations() -> list[Event]:
    """Return what `statewalk history from-trace` writes."""
    return list(history.events)


@always
def is_linearizable() -> bool:
    return linearizable("register", history.events, INITIAL=0)


@terminal
def all_done() -> bool:
    return (
        writer.last == WRITES
        and not writer.writing
        and all(reader.state == "idle" and reader.reads == READS for reader in readers)
    )


@exists
def a_read_sees_a_write_under_way() -> bool:
    return writer.writing and any(reader.newest == writer.last for reader in readers)


config("one_write", expect=holds(distinct=3523))
config("stale_read", STALE_READ=True, expect=violates(is_linearizable))
