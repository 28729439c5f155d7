"""A fair counter modulo 3.

Every value recurs. No value is kept: the whole cycle of three steps is forced, as each step is the
only one. "Eventually always below 2" fails by it.
"""

from statewalk import State, action, always, config, eventually, violates


class S(State):
    n: int = 0


s = S()


@action(fair="weak")
def tick() -> None:
    s.n = (s.n + 1) % 3


@always
@eventually
def zero() -> bool:
    return s.n == 0


@always
@eventually
def two() -> bool:
    return s.n == 2


@eventually
@always
def low() -> bool:
    return s.n < 2


config("it", expect=violates(low, length=3))
