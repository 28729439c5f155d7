"""MultiCarElevator, liveness medium (tlaplus/Examples)."""

from typing import Literal

from statewalk import (
    Constant,
    Record,
    Role,
    State,
    action,
    always,
    any_of,
    init,
    leads_to,
    require,
)

PERSONS: Constant[int] = 2
ELEVATORS: Constant[int] = 2
FLOORS: Constant[int] = 2
FLOOR = range(1, FLOORS + 1)
DIRECTIONS = ("Up", "Down")


class Call(Record):
    floor: int
    direction: str


def direction(current: int, destination: int) -> str:
    return "Up" if destination > current else "Down"


class Building(State):
    calls: set[Call] = set()

    @action(fair="strong")
    def dispatch(self, floor: int = any_of(FLOOR), way: str = any_of(DIRECTIONS)) -> None:
        c = Call(floor, way)
        require(c in self.calls)
        able = [
            e
            for e in elevators
            if e.direction == "Stationary"
            or (e.direction == way and (e.floor == floor or direction(e.floor, floor) == way))
        ]
        require(able)
        least = min(abs(e.floor - floor) for e in able)
        closest = next(e for e in able if abs(e.floor - floor) == least)
        if closest.direction == "Stationary":
            closest.floor = floor
            closest.direction = way


class Elevator(Role):
    floor: int = 1
    direction: Literal["Up", "Down", "Stationary"] = "Stationary"
    open: bool = False
    pressed: set[int] = set()

    def can_service(self, c: Call) -> bool:
        return c.floor == self.floor and c.direction == self.direction

    def getting_on(self) -> "list[Person]":
        return waiting(self.floor, self.direction)

    def getting_off(self) -> "list[Person]":
        return [p for p in persons if p.location == self and p.destination == self.floor]

    def wants_open(self) -> bool:
        return not self.open and (
            any(self.can_service(c) for c in building.calls) or self.floor in self.pressed
        )

    def may_enter(self) -> bool:
        return self.open and self.direction != "Stationary" and bool(self.getting_on())

    def may_exit(self) -> bool:
        return self.open and bool(self.getting_off())

    def next_floor(self) -> int:
        return self.floor + 1 if self.direction == "Up" else self.floor - 1

    @action(fair="weak")
    def open_doors(self) -> None:
        require(self.wants_open())
        self.open = True
        self.pressed.discard(self.floor)
        building.calls.discard(Call(self.floor, self.direction))

    @action(fair="weak")
    def enter(self) -> None:
        require(self.may_enter())
        for p in self.getting_on():
            p.location = self
            self.pressed.add(p.destination)

    @action(fair="weak")
    def exit(self) -> None:
        require(self.may_exit())
        for p in self.getting_off():
            p.location = self.floor
            p.waiting = False

    @action(fair="strong")
    def close_doors(self) -> None:
        require(self.open and not self.may_enter() and not self.may_exit())
        self.open = False

    @action(fair="strong")
    def move(self) -> None:
        require(self.direction != "Stationary" and not self.open and self.floor not in self.pressed)
        require(
            all(
                not self.can_service(c) or any(e != self and e.can_service(c) for e in elevators)
                for c in building.calls
            )
        )
        require(self.next_floor() in FLOOR)
        self.floor = self.next_floor()

    @action(fair="weak")
    def stop(self) -> None:
        require(not self.wants_open() and not self.open and self.next_floor() not in FLOOR)
        self.direction = "Stationary"


class Person(Role):
    location: int | Elevator = 1
    destination: int = 1
    waiting: bool = False

    @action
    def pick(self, f: int = any_of(FLOOR)) -> None:
        require(not self.waiting and isinstance(self.location, int) and f != self.location)
        self.destination = f

    @action(fair="weak")
    def call(self) -> None:
        require(not self.waiting and self.location != self.destination)
        assert isinstance(self.location, int)
        c = Call(self.location, direction(self.location, self.destination))
        if not any(e.can_service(c) and e.open for e in elevators):
            building.calls.add(c)
        self.waiting = True


def waiting(f: int, d: str) -> list[Person]:
    return [
        p for p in persons if p.location == f and p.waiting and direction(f, p.destination) == d
    ]


building = Building()
elevators = [Elevator() for _ in range(ELEVATORS)]
persons = [Person() for _ in range(PERSONS)]


@init
def anywhere() -> None:
    for p in persons:
        p.location = any_of(FLOOR)
        p.destination = any_of(FLOOR)
    for e in elevators:
        e.floor = any_of(FLOOR)


@always
def buttons(e: Elevator) -> bool:
    return all(any(p.location == e and p.destination == f for p in persons) for f in e.pressed)


@always
def on_the_way(p: Person, e: Elevator) -> bool:
    return not (p.location == e and e.floor != p.destination) or e.direction == direction(
        e.floor, p.destination
    )


@always
def no_ghosts() -> bool:
    return all(waiting(c.floor, c.direction) for c in building.calls)


def is_waiting(p: Person) -> bool:
    return p.waiting


def has_arrived(p: Person) -> bool:
    return p.location == p.destination


arrives = leads_to(is_waiting, has_arrived)


def called_1_up() -> bool:
    return Call(1, "Up") in building.calls


def served_1_up() -> bool:
    return any(e.can_service(Call(1, "Up")) for e in elevators)


def called_2_down() -> bool:
    return Call(2, "Down") in building.calls


def served_2_down() -> bool:
    return any(e.can_service(Call(2, "Down")) for e in elevators)


served_up = leads_to(called_1_up, served_1_up)
served_down = leads_to(called_2_down, served_2_down)
