"""Until speaks of the initial state on, and of the first time only.

y holds at once in one initial state, whatever x is. In the other one, x holds and y comes with the
fair step. Later y may fall and x be false: that does not matter any more. Nothing bad is reachable
from the first; from the second, waiting for ever is unfair.
"""

from statewalk import State, action, any_of, config, holds, init, until


class S(State):
    x: bool = False
    y: bool = True


s = S()


@init
def begin() -> None:
    if any_of([False, True]):
        s.x = True
        s.y = False


@action(fair="weak")
def step() -> None:
    s.y = not s.y
    s.x = False


def x() -> bool:
    return s.x


def y() -> bool:
    return s.y


waits = until(x, y)

config("it", expect=holds())
