"""Prisoners announce that all of them were in a room in which each flips one of two switches.

Everybody but the counter puts switch A up when it is down, twice at the most; the counter puts it
down and counts. Whoever cannot do that flips switch B, which means nothing. Nobody knows how the
switches stand at first.
"""

from statewalk import (
    Constant,
    Role,
    State,
    action,
    always,
    config,
    eventually,
    holds,
    init,
    maybe,
    violates,
)

PRISONERS: Constant[int] = 4
ENOUGH: Constant[int] = 6  # what the counter counts to: twice for each of the others


class Room(State):
    a_up: bool = False
    b_up: bool = False


class Counter(Role):
    count: int = 0

    @action(fair="weak")
    def enter(self) -> None:
        if room.a_up:
            room.a_up = False
            self.count += 1
        else:
            room.b_up = not room.b_up


class Prisoner(Role, symmetric=True):
    signals: int = 0

    @action(fair="weak")
    def enter(self) -> None:
        if not room.a_up and self.signals < 2:
            room.a_up = True
            self.signals += 1
        else:
            room.b_up = not room.b_up


room = Room()
counter = Counter()
prisoners = [Prisoner() for _ in range(PRISONERS - 1)]


@init
def as_the_warden_left_it() -> None:
    room.a_up = maybe()
    room.b_up = maybe()


@always
def right_when_announced() -> bool:
    return counter.count < ENOUGH or all(p.signals > 0 for p in prisoners)


@always
def counts_what_was_signalled() -> bool:
    signalled = sum(p.signals for p in prisoners) - room.a_up
    return counter.count in (signalled, signalled + 1)


@eventually
def announced() -> bool:
    return counter.count == ENOUGH


config("four", expect=holds(distinct=214, generated=860, depth=14))
config("too-soon", ENOUGH=4, expect=violates(right_when_announced, length=7))
