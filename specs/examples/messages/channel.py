"""A value is handed over by two bits: the sender turns one, the receiver the other one."""

from typing import Literal

from statewalk import Role, action, always, any_of, config, holds, init, maybe, require

VALUES = ("a", "b", "c")


class Channel(Role):
    value: Literal["a", "b", "c"] = "a"
    ready: bool = False
    taken: bool = False

    @action
    def send(self, value: str = any_of(VALUES)) -> None:
        require(self.ready == self.taken)
        self.value = value
        self.ready = not self.ready

    @action
    def receive(self) -> None:
        require(self.ready != self.taken)
        self.taken = not self.taken


channel = Channel()


@init
def at_rest() -> None:
    channel.value = any_of(VALUES)
    channel.ready = channel.taken = maybe()


@always
def one_at_most_is_under_way() -> bool:
    return (channel.ready - channel.taken) in (-1, 0, 1)


config("three", expect=holds(distinct=12, generated=30, depth=2))
