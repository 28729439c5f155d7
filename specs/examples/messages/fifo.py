"""A queue between two channels, of the kind of `channel.py`, up to a length."""

from typing import Literal

from statewalk import (
    Constant,
    State,
    action,
    always,
    any_of,
    config,
    constraint,
    holds,
    init,
    maybe,
    require,
)

LENGTH: Constant[int] = 3

VALUES = ("a", "b", "c")


class Channel(State):
    value: Literal["a", "b", "c"] = "a"
    ready: bool = False
    taken: bool = False


class Queue(State):
    held: list[str] = []

    @action
    def send(self, value: str = any_of(VALUES)) -> None:
        require(before.ready == before.taken)
        before.value = value
        before.ready = not before.ready

    @action
    def take_in(self) -> None:
        require(before.ready != before.taken)
        before.taken = not before.taken
        self.held.append(before.value)

    @action
    def give_out(self) -> None:
        require(self.held and behind.ready == behind.taken)
        behind.value = self.held.pop(0)
        behind.ready = not behind.ready

    @action
    def receive(self) -> None:
        require(behind.ready != behind.taken)
        behind.taken = not behind.taken


before = Channel()
behind = Channel()
queue = Queue()


@init
def at_rest() -> None:
    for channel in (before, behind):
        channel.value = any_of(VALUES)
        channel.ready = channel.taken = maybe()


@constraint
def short() -> bool:
    return len(queue.held) <= LENGTH


@always
def only_values() -> bool:
    return all(value in VALUES for value in queue.held)


config("three", expect=holds(distinct=3864, generated=9660, depth=11))
