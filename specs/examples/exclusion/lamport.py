"""Lamport's mutual exclusion by clocks: the earliest request enters, when all have heard of it.

Messages between two processes arrive in order. Clocks are bounded: beyond that the search does not
go.
"""

from typing import Literal

from statewalk import (
    Constant,
    Record,
    Role,
    action,
    always,
    any_of,
    config,
    constraint,
    holds,
    require,
)

PROCESSES: Constant[int] = 3
CLOCK: Constant[int] = 6


class Letter(Record):
    kind: Literal["request", "ack", "release"]
    clock: int = 0


class Process(Role):
    clock: int = 1
    requests: list[int] = [0] * PROCESSES  # when each asked, as far as known; 0: it did not
    acks: set[int] = set()
    inside: bool = False
    inboxes: list[list[Letter]] = [[] for _ in range(PROCESSES)]  # from each

    def tell_others(self, letter: Letter) -> None:
        for other in processes:
            if other != self:
                other.inboxes[self.index].append(letter)

    def is_before(self, other: int) -> bool:
        mine, theirs = self.requests[self.index], self.requests[other]
        return theirs == 0 or (mine, self.index) < (theirs, other)

    @action
    def ask(self) -> None:
        require(self.requests[self.index] == 0)
        self.requests[self.index] = self.clock
        self.tell_others(Letter("request", self.clock))
        self.acks = {self.index}

    @action
    def receive(self, source: int = any_of(range(PROCESSES))) -> None:
        inbox = self.inboxes[source]
        require(inbox)
        letter = inbox.pop(0)
        if letter.kind == "request":
            self.requests[source] = letter.clock
            self.clock = max(self.clock, letter.clock) + 1
            processes[source].inboxes[self.index].append(Letter("ack"))
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
        self.tell_others(Letter("release"))
        self.requests[self.index] = 0
        self.acks = set()


processes = [Process() for _ in range(PROCESSES)]


@constraint
def clocks_are_small() -> bool:
    return all(p.clock <= CLOCK for p in processes)


@always
def one_inside() -> bool:
    return sum(p.inside for p in processes) <= 1


@always
def few_letters() -> bool:
    return all(len(inbox) <= 3 for p in processes for inbox in p.inboxes)


config("two", PROCESSES=2, CLOCK=5, expect=holds())
config("three", expect=holds(distinct=724274, generated=2729079, depth=61))
