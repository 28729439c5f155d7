"""The abstraction of the alternating bit protocol: its steps without the lines in between."""

from typing import Literal

from statewalk import Role, State, action, any_of, config, holds, init, leads_to, maybe, require

VALUES = ("a", "b")


class Sender(Role):
    bit: bool = False
    acknowledged: bool = False
    value: Literal["a", "b"] = "a"

    @action
    def send(self, value: str = any_of(VALUES)) -> None:
        require(self.acknowledged == self.bit)
        self.value = value
        self.bit = not self.bit

    @action(fair="weak")
    def hear(self) -> None:
        require(self.acknowledged != receiver.bit)
        self.acknowledged = receiver.bit


class Receiver(State):
    bit: bool = False
    value: Literal["a", "b"] = "a"

    @action(fair="weak")
    def receive(self) -> None:
        require(self.bit != sender.bit)
        self.bit = sender.bit
        self.value = sender.value


sender = Sender()
receiver = Receiver()


@init
def agreed_on_a_bit() -> None:
    sender.bit = sender.acknowledged = receiver.bit = maybe()
    sender.value = any_of(VALUES)
    receiver.value = any_of(VALUES)


def on_its_way(value: str = any_of(VALUES)) -> bool:
    return sender.value == value and sender.bit != sender.acknowledged


def received(value: str = any_of(VALUES)) -> bool:
    return receiver.value == value


arrives = leads_to(on_its_way, received)

config("two", expect=holds(distinct=20, generated=36, depth=3))
