"""A fair choice that sometimes has one option only.

In even rounds the only option is 1, in odd rounds 1 or 2. Option 2 is possible again and again as
long as it is not taken, so it is taken. Option 1 is possible in each round: it counts as the same
choice whether it was the only option or not.
"""

from statewalk import State, action, always, any_of, config, eventually, holds, require


class S(State):
    n: int = 0
    odd: bool = False


s = S()


@action(fair="weak")
def pick() -> None:
    require(s.n == 0)
    s.n = any_of([1, 2] if s.odd else [1], fair="strong")


@action(fair="weak")
def back() -> None:
    require(s.n == 1)
    s.n = 0
    s.odd = not s.odd


@eventually
@always
def two() -> bool:
    return s.n == 2


config("it", expect=holds())
