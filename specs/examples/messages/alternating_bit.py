"""The alternating bit protocol: values get over lines that lose messages, each once, in order.

What travels is a value with a bit, and the bit alone comes back. Queues are bounded: beyond it the
search does not go. What it is to do is `alternating_bit_alone.py`.
"""

from typing import Literal

from statewalk import (
    Constant,
    Message,
    Network,
    Role,
    action,
    always,
    any_of,
    config,
    constraint,
    holds,
    init,
    maybe,
    on_message,
    require,
)

LENGTH: Constant[int] = 2  # of a queue

VALUES = ("a", "b")


class Frame(Message):
    bit: bool
    value: str


class Bit(Message):
    bit: bool


class Sender(Role):
    bit: bool = False
    acknowledged: bool = False
    value: Literal["a", "b"] = "a"

    @action
    def send(self, value: str = any_of(VALUES)) -> None:
        require(self.acknowledged == self.bit)
        self.value = value
        self.bit = not self.bit
        there.send(receiver, Frame(self.bit, value))

    @action(fair="weak")
    def send_again(self) -> None:
        require(self.acknowledged != self.bit)
        there.send(receiver, Frame(self.bit, self.value))

    @on_message(fair="strong")
    def receive_bit(self, message: Bit) -> None:
        self.acknowledged = message.bit


class Receiver(Role):
    bit: bool = False
    value: Literal["a", "b"] = "a"

    @on_message(fair="strong")
    def receive_value(self, frame: Frame) -> None:
        self.bit = frame.bit
        self.value = frame.value

    @action(fair="weak")
    def send_bit(self) -> None:
        back.send(sender, Bit(self.bit))


class There(Network[Frame, Receiver], kind="queue", loss=True): ...


class Back(Network[Bit, Sender], kind="queue", loss=True): ...


there = There()
back = Back()
sender = Sender()
receiver = Receiver()


@init
def agreed_on_a_bit() -> None:
    sender.bit = sender.acknowledged = receiver.bit = maybe()
    sender.value = any_of(VALUES)
    receiver.value = any_of(VALUES)


@constraint
def short_queues() -> bool:
    return len(there.to(receiver)) <= LENGTH and len(back.to(sender)) <= LENGTH


@always
def under_way_is_what_was_sent() -> bool:
    """Messages with the sender's bit carry its value; others are older."""
    return all(m.value == sender.value for m in there.to(receiver) if m.bit == sender.bit)


config("two", expect=holds(distinct=240, generated=1392, depth=10))
