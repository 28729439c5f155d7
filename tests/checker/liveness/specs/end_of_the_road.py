"""A state without successors stutters for ever.

x goes 0, 1, 2 and stops. In the end x is 2 for ever; x is not 1 again and again: two steps, then
nothing happens. x is 1 once on the way.
"""

from statewalk import State, action, always, config, eventually, require, violates


class S(State):
    x: int = 0


s = S()


@action(fair="weak")
def step() -> None:
    require(s.x < 2)
    s.x += 1


@eventually
@always
def ends() -> bool:
    return s.x == 2


@always
@eventually
def again() -> bool:
    return s.x == 1


@eventually
def once() -> bool:
    return s.x == 1


config("it", expect=violates(again, length=2))
