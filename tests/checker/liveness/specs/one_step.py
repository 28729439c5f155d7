"""A single step from 0 to 1, after which nothing is left to do.

Unfair: the behavior that never takes the step is allowed, so neither property holds; its lasso has
no step at all. Weak: the step is enabled for ever until taken, so it is taken, and then x stays 1.
"""

from statewalk import (
    Constant,
    Fairness,
    State,
    action,
    always,
    config,
    eventually,
    holds,
    require,
    violates,
)

FAIR: Constant[Fairness] = "none"


class S(State):
    x: int = 0


s = S()


@action(fair=FAIR)
def step() -> None:
    require(s.x == 0)
    s.x = 1


@eventually
def happens() -> bool:
    return s.x == 1


@eventually
@always
def settles() -> bool:
    return s.x == 1


config("unfair", expect=violates(happens, settles, length=0))
config("weak", expect=holds(), FAIR="weak")
