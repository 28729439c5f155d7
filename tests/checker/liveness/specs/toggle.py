"""A lamp that is switched for ever, weakly fair.

Switching is always enabled, so it happens infinitely often: on and off both recur. The lamp does
not settle: off, on, off is a cycle of two steps from the initial state. It is on at least once.
"""

from statewalk import State, action, always, config, eventually, violates


class Lamp(State):
    on: bool = False


lamp = Lamp()


@action(fair="weak")
def switch() -> None:
    lamp.on = not lamp.on


@always
@eventually
def on_again() -> bool:
    return lamp.on


@always
@eventually
def off_again() -> bool:
    return not lamp.on


@eventually
def on_once() -> bool:
    return lamp.on


@eventually
@always
def stays_on() -> bool:
    return lamp.on


config("it", expect=violates(stays_on, length=2))
