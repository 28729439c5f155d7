"""The alternating bit protocol: values get over lines that lose messages, each once, in order.

What travels is a value with a bit, and the bit alone comes back. Queues are bounded: beyond it the
search does not go. What it is to do is `alternating_bit_alone.py`.
"""

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

LENGTH: Constant[int] = 2  # of a queue

VALUES = ("a", "b")


class Line(State):
    values: list[tuple[bool, str]] = []
    bits: list[bool] = []

    @action
    def lose_value(self) -> None:
        self.values.pop(any_of(range(len(self.values))))

    @action
    def lose_bit(self) -> None:
        self.bits.pop(any_of(range(len(self.bits))))


class Sender(State):
    bit: bool = False
    acknowledged: bool = False
    value: Literal["a", "b"] = "a"

    @action
    def send(self, value: str = any_of(VALUES)) -> None:
        require(self.acknowledged == self.bit)
        self.value = value
        self.bit = not self.bit
        line.values.append((self.bit, value))

    @action(fair="weak")
    def send_again(self) -> None:
        require(self.acknowledged != self.bit)
        line.values.append((self.bit, self.value))

    @action(fair="strong")
    def receive_bit(self) -> None:
        require(line.bits)
        self.acknowledged = line.bits.pop(0)


class Receiver(State):
    bit: bool = False
    value: Literal["a", "b"] = "a"

    @action(fair="strong")
    def receive_value(self) -> None:
        require(line.values)
        self.bit, self.value = line.values.pop(0)

    @action(fair="weak")
    def send_bit(self) -> None:
        line.bits.append(self.bit)


line = Line()
sender = Sender()
receiver = Receiver()


@init
def agreed_on_a_bit() -> None:
    sender.bit = sender.acknowledged = receiver.bit = maybe()
    sender.value = any_of(VALUES)
    receiver.value = any_of(VALUES)


@constraint
def short_queues() -> bool:
    return len(line.values) <= LENGTH and len(line.bits) <= LENGTH


@always
def under_way_is_what_was_sent() -> bool:
    """Messages with the sender's bit carry its value; others are older."""
    return all(value == sender.value for bit, value in line.values if bit == sender.bit)


config("two", expect=holds(distinct=240, generated=1392, depth=10))
