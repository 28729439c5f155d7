"""One of two initial states is a trap.

From 0 the fair step leads to 1. From 5 nothing is possible, so 1 never comes: no step. That 1 comes
from 0 is said by a leads-to.
"""

from statewalk import State, action, any_of, config, eventually, init, leads_to, require, violates


class S(State):
    x: int = 0


s = S()


@init
def begin() -> None:
    s.x = any_of([0, 5])


@action(fair="weak")
def step() -> None:
    require(s.x == 0)
    s.x = 1


@eventually
def one() -> bool:
    return s.x == 1


def zero() -> bool:
    return s.x == 0


def is_one() -> bool:
    return s.x == 1


steps = leads_to(zero, is_one)

config("it", expect=violates(one, length=0))
