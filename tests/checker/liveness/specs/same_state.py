"""A state with premise and conclusion owes nothing, and a premise that never holds neither.

x is 0, then 1, for ever. "x is 1 leads to x is 1" holds at once, "x is 2 leads to x is 0" has no
case: nothing could violate either, fair or not.
"""

from statewalk import State, action, config, holds, leads_to, require


class S(State):
    x: int = 0


s = S()


@action(fair="weak")
def step() -> None:
    require(s.x == 0)
    s.x = 1


def one() -> bool:
    return s.x == 1


def two() -> bool:
    return s.x == 2


def zero() -> bool:
    return s.x == 0


at_once = leads_to(one, one)
never = leads_to(two, zero)
VACUOUS = ("at_once", "never")

config("it", expect=holds())
