"""Creatures meet two by two at one place and change colour; after some meetings they fade."""

from typing import Literal

from statewalk import (
    Constant,
    Role,
    State,
    action,
    always,
    any_of,
    config,
    deadlock,
    holds,
    init,
    require,
)

CREATURES: Constant[int] = 4
MEETINGS: Constant[int] = 4

COLOURS = ("blue", "red", "yellow")


class Creature(Role):
    colour: Literal["blue", "red", "yellow", "faded"] = "blue"
    met: int = 0

    @action
    def go_to_meet(self) -> None:
        require(self.colour != "faded")
        if place.waiting is None:
            if place.meetings < MEETINGS:
                place.waiting = self
            else:
                self.colour = "faded"
            return
        other = place.waiting
        require(other != self)
        self.colour = other.colour = complement(self.colour, other.colour)
        self.met += 1
        other.met += 1
        place.meetings += 1
        place.waiting = None


class Place(State):
    waiting: Creature | None = None
    meetings: int = 0


creatures = [Creature() for _ in range(CREATURES)]
place = Place()
deadlock(False)  # when all have faded


def complement(a: str, b: str) -> str:
    """The colour of both after a meeting: the third one, or the one they share."""
    return a if a == b else next(c for c in COLOURS if c not in (a, b))


@init
def any_colours() -> None:
    for creature in creatures:
        creature.colour = any_of(COLOURS)


@always
def two_at_each_meeting() -> bool:
    return sum(creature.met for creature in creatures) == 2 * place.meetings


config("three", CREATURES=3, MEETINGS=2, expect=holds(distinct=492))
config("four", expect=holds(distinct=34534, generated=104697, depth=13))
