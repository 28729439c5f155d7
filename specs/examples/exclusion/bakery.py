"""Lamport's bakery: processes draw numbers, and who has the smallest enters.

Reading and writing take time, so a flag or a number may be anything while it is written. It begins
in every state that its inductive invariant allows: no step leads out of them, nor two inside.
"""

from itertools import product
from typing import Annotated, Literal, get_args

from statewalk import (
    Constant,
    Role,
    action,
    always,
    any_of,
    config,
    deadlock,
    exists,
    holds,
    init,
    maybe,
    require,
)

PROCESSES: Constant[int] = 2
MOST: Constant[int] = 2  # the largest number

Place = Literal[
    "away", "opening", "looking", "drawing", "closing", "choosing", "waiting", "in", "leaving"
]
WHO = range(PROCESSES)
NUMBERS = range(MOST + 1)


class Process(Role):
    at: Place = "away"
    number: Annotated[int, NUMBERS] = 0
    flag: bool = False  # it draws a number
    left: set[Annotated[int, WHO]] = set()  # whom it has still to look at
    highest: Annotated[int, NUMBERS] = 0  # number that it saw
    other: Annotated[int, WHO] = 0  # for whom it waits

    @action
    def come(self) -> None:
        require(self.at == "away")
        self.at = "opening"

    @action
    def write_flag(self) -> None:
        """Up, and then down; before that it may be either."""
        require(self.at in ("opening", "closing"))
        if maybe():
            self.flag = not self.flag
            return
        self.flag = self.at == "opening"
        self.left = set(WHO) - {self.index}
        self.highest = 0 if self.flag else self.highest
        self.at = "looking" if self.flag else "choosing"

    @action
    def look(self) -> None:
        require(self.at == "looking")
        if not self.left:
            self.at = "drawing"
            return
        other = any_of(self.left)
        self.left.remove(other)
        self.highest = max(self.highest, processes[other].number)

    @action
    def draw(self) -> None:
        require(self.at == "drawing")
        done = maybe()
        self.number = any_of([n for n in NUMBERS if not done or n > self.highest])
        self.at = "closing" if done else "drawing"

    @action
    def choose(self) -> None:
        """Somebody who draws no number; nobody is left: enter."""
        require(self.at == "choosing")
        if not self.left:
            self.at = "in"
            return
        self.other = any_of(self.left)
        require(not processes[self.other].flag)
        self.at = "waiting"

    @action
    def wait(self) -> None:
        require(self.at == "waiting")
        other = processes[self.other]
        any_of(range((other.number == 0) + self.is_before(other)))
        self.left.discard(self.other)
        self.at = "choosing"

    @action
    def leave(self) -> None:
        require(self.at == "in")
        self.at = "leaving"

    @action
    def put_back(self) -> None:
        require(self.at == "leaving")
        done = maybe()
        self.number = 0 if done else any_of(NUMBERS)
        self.at = "away" if done else "leaving"

    def is_before(self, other: "Process") -> bool:
        return (self.number, self.index) < (other.number, other.index)

    def precedes(self, other: "Process") -> bool:
        """Return whether the other one has a larger number, or will draw one."""
        if self.number == 0:
            return False
        if other.at in ("looking", "drawing"):
            asks = other.at == "looking" and self.index in other.left
            return asks or other.highest >= self.number
        if other.at in ("closing", "choosing", "waiting"):
            waits = other.at == "closing" or self.index in other.left
            return waits and self.is_before(other)
        return other.at != "in"

    def fits(self) -> bool:
        """The inductive invariant, as far as it is about this process."""
        left = self.left if self.at != "in" else ()
        passed = [p for p in processes if p != self and p.index not in left]
        if self.at in ("choosing", "waiting", "in") and not all(self.precedes(p) for p in passed):
            return False
        other = processes[self.other]
        looked = other.at == "looking" and self.index not in other.left
        if self.at == "waiting" and (looked or other.at == "drawing"):
            return other.highest >= self.number
        return True


processes = [Process() for _ in WHO]
deadlock(False)


Alone = tuple[Place, int, bool, set[int], int, int]
SUBSETS = [{n for n in WHO if bits >> n & 1} for bits in range(2**PROCESSES)]
ALONE: list[Alone] = list(product(get_args(Place), NUMBERS, (False, True), SUBSETS, NUMBERS, WHO))


def is_possible(who: int, at: Place, number: int, flag: bool, left: set[int], other: int) -> bool:
    """Return whether the invariant holds, as far as it is about one process alone."""
    return not (
        (at in ("closing", "choosing", "waiting", "in") and number == 0)
        or (at in ("looking", "drawing") and not flag)
        or (at == "waiting" and other == who)
        or (at in ("choosing", "waiting") and who in left)
    )


POSSIBLE = [[s for s in ALONE if is_possible(who, s[0], s[1], s[2], s[3], s[5])] for who in WHO]


@init
def anything_that_fits() -> None:
    for process, states in zip(processes, POSSIBLE, strict=True):
        at, number, flag, left, highest, other = states[any_of(range(len(states)))]
        process.at = at
        process.number = number
        process.flag = flag
        process.left = left
        process.highest = highest
        process.other = other
    require(all(process.fits() for process in processes))


@always
def fits_again() -> bool:
    return all(process.fits() for process in processes)


@always
def is_possible_alone() -> bool:
    return all(is_possible(p.index, p.at, p.number, p.flag, p.left, p.other) for p in processes)


@always
def one_inside() -> bool:
    return sum(process.at == "in" for process in processes) <= 1


@exists
def somebody_waits() -> bool:
    return any(process.at == "waiting" and process.left for process in processes)


config("one-number", MOST=1, expect=holds(distinct=112160, generated=520272, depth=1))
config("two", expect=holds(distinct=655200, generated=3403584, depth=1))
