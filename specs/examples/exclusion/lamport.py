"""Lamport's mutual exclusion by clocks: the earliest request enters, when all have heard of it.

Messages between two processes arrive in order. Clocks are bounded: beyond that the search does not
go.
"""

from typing import Literal

from statewalk import (
    Constant,
    Message,
    Network,
    Role,
    action,
    always,
    config,
    constraint,
    holds,
    on_message,
    require,
)

PROCESSES: Constant[int] = 3
CLOCK: Constant[int] = 6


class Letter(Message):
    source: "Process"
    kind: Literal["request", "ack", "release"]
    clock: int = 0


class Process(Role):
    clock: int = 1
    requests: list[int] = [0] * PROCESSES  # when each asked, as far as known; 0: it did not
    acks: set[int] = set()
    inside: bool = False

    def others(self) -> list["Process"]:
        return [other for other in processes if other != self]

    def is_before(self, other: int) -> bool:
        mine, theirs = self.requests[self.index], self.requests[other]
        return theirs == 0 or (mine, self.index) < (theirs, other)

    @action
    def ask(self) -> None:
        require(self.requests[self.index] == 0)
        self.requests[self.index] = self.clock
        wire.broadcast(self.others(), Letter(self, "request", self.clock))
        self.acks = {self.index}

    @on_message
    def receive(self, letter: Letter) -> None:
        source = letter.source.index
        if letter.kind == "request":
            self.requests[source] = letter.clock
            self.clock = max(self.clock, letter.clock) + 1
            wire.send(letter.source, Letter(self, "ack"))
        elif letter.kind == "ack":
            self.acks.add(source)
        else:
            self.requests[source] = 0

    @action
    def enter(self) -> None:
        require(len(self.acks) == PROCESSES)
        require(all(self.is_before(other) for other in range(PROCESSES) if other != self.index))
        self.inside = True

    @action
    def leave(self) -> None:
        require(self.inside)
        self.inside = False
        wire.broadcast(self.others(), Letter(self, "release"))
        self.requests[self.index] = 0
        self.acks = set()


class Wire(Network[Letter, Process], kind="fifo"): ...


wire = Wire()
processes = [Process() for _ in range(PROCESSES)]


@constraint
def clocks_are_small() -> bool:
    return all(p.clock <= CLOCK for p in processes)


@always
def one_inside() -> bool:
    return sum(p.inside for p in processes) <= 1


@always
def few_letters() -> bool:
    return all(sum(m.source == p for m in wire.to(q)) <= 3 for p in processes for q in processes)


config("two", PROCESSES=2, CLOCK=5, expect=holds())
config("three", expect=holds(distinct=724274, generated=2729079, depth=61))
