"""Cars go round and over a bridge with a single lane, from both sides, in the order of a queue.

Who gets to the place before the bridge queues up; the first in the queue enters when the bridge is
empty, or when all on it go the same way and the first place of it is free.
"""

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
    leads_to,
    require,
)

EACH: Constant[int] = 2  # cars of each direction
PLACES: Constant[int] = 8
FIRST: Constant[int] = 4  # places of the bridge, from FIRST to LAST
LAST: Constant[int] = 5

assert 2 < FIRST <= LAST < PLACES - 1, "there is road on both sides"


class Car(Role):
    to: Literal["left", "right"] = "left"
    at: int = 1

    def next_place(self) -> int:
        if self.to == "right":
            return self.at - 1 if self.at > 1 else PLACES
        return self.at + 1 if self.at < PLACES else 1

    def advance(self) -> None:
        """Drive on; before the bridge, join the queue."""
        self.at = self.next_place()
        if self.at == (LAST + 1 if self.to == "right" else FIRST - 1):
            queue.cars.append(self)

    @action(fair="weak")
    def drive_on_the_road(self) -> None:
        require(not is_bridge(self.next_place()))
        self.advance()

    @action(fair="weak")
    def drive_on_the_bridge(self) -> None:
        require(is_bridge(self.at))
        require(all(car.at != self.next_place() for car in cars))
        self.advance()

    @action(fair="weak")
    def enter(self) -> None:
        """The first in the queue enters, whoever's turn it is to act: a step for each reason."""
        require(queue.cars)
        first = queue.cars[0]
        there = [car for car in cars if is_bridge(car.at)]
        free = all(car.at != first.next_place() for car in cars)
        follows = free and first not in there and all(car.to == first.to for car in there)
        any_of(["it is empty"] * (not there) + ["all go the same way"] * follows)
        first.at = first.next_place()
        queue.cars.pop(0)


class Queue(State):
    cars: list[Car] = []


cars = [Car(to="right", at=PLACES) for _ in range(EACH)] + [Car() for _ in range(EACH)]
queue = Queue()
deadlock(False)


def is_bridge(place: int) -> bool:
    return FIRST <= place <= LAST


@always
def one_car_at_a_place() -> bool:
    there = [car.at for car in cars if is_bridge(car.at)]
    return len(there) == len(set(there))


@always
def one_way_at_a_time() -> bool:
    return len({car.to for car in cars if is_bridge(car.at)}) <= 1


def on_bridge(car: Car) -> bool:
    return is_bridge(car.at)


def off_bridge(car: Car) -> bool:
    return not is_bridge(car.at)


leaves = leads_to(on_bridge, off_bridge)
comes_again = leads_to(off_bridge, on_bridge)

config("four-cars", expect=holds(distinct=3605, generated=20181, depth=29))
