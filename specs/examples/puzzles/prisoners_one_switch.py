"""Prisoners announce that all of them were in a cell with a lamp that they may switch.

The others switch it on, each once; the counter switches it off and counts. Where nobody knows how
the lamp is at first, each does so twice.
"""

from typing import Literal

from statewalk import Constant, Role, State, action, always, any_of, config, eventually, holds, init

PRISONERS: Constant[int] = 3
LAMP_KNOWN: Constant[bool] = True

SIGNALS = 1 if LAMP_KNOWN else 2
ENOUGH = PRISONERS if LAMP_KNOWN else 2 * PRISONERS - 1


class Cell(State):
    lamp: Literal["off", "on"] = "off"


class Counter(Role):
    count: int = 1
    announced: bool = False
    was_there: bool = False

    @action(fair="weak")
    def enter(self) -> None:
        if cell.lamp == "on":
            cell.lamp = "off"
            self.count += 1
        self.announced = self.count >= ENOUGH
        self.was_there = True


class Prisoner(Role, symmetric=True):
    signals: int = 0
    was_there: bool = False

    @action(fair="weak")
    def enter(self) -> None:
        if cell.lamp == "off" and self.signals < SIGNALS:
            cell.lamp = "on"
            self.signals += 1
        self.was_there = True


cell = Cell()
counter = Counter()
prisoners = [Prisoner() for _ in range(PRISONERS - 1)]


@init
def as_it_is_found() -> None:
    if not LAMP_KNOWN:
        cell.lamp = any_of(("off", "on"))


@always
def right_when_announced() -> bool:
    return not counter.announced or (counter.was_there and all(p.was_there for p in prisoners))


@eventually
def announced() -> bool:
    return counter.announced


config("three", expect=holds(distinct=16, generated=49, depth=5))
config("lamp-unknown", LAMP_KNOWN=False, expect=holds(distinct=62, generated=188, depth=10))
config("alone", PRISONERS=1, expect=holds(distinct=2, generated=3, depth=2))
config(
    "alone-lamp-unknown",
    PRISONERS=1,
    LAMP_KNOWN=False,
    expect=holds(distinct=4, generated=6, depth=2),
)
