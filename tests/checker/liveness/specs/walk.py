"""A walk on 0 to 3, where 3 is the goal; a step to the right is an action per place.

Strong for each place: 0 is left again and again, so 1 is met again and again, so 2, so 3: each
round of the refinement takes one place away. If only the first place is strong and the others
weak, the walk 0, 1, 0 is fair, two steps: at 0, going right from 1 is not possible.
"""

from statewalk import (
    Constant,
    Fairness,
    State,
    action,
    always,
    any_of,
    config,
    eventually,
    holds,
    require,
    violates,
)

LATER: Constant[Fairness] = "strong"


class S(State):
    at: int = 0


s = S()


@action(fair="strong")
def right_from_zero() -> None:
    require(s.at == 0)
    s.at = 1


@action(fair=LATER)
def right(place: int = any_of([1, 2])) -> None:
    require(s.at == place)
    s.at += 1


@action(fair="weak")
def left() -> None:
    require(s.at in (1, 2))
    s.at -= 1


@eventually
@always
def arrives() -> bool:
    return s.at == 3


config("strong", expect=holds())
config("weak", expect=violates(arrives, length=2), LATER="weak")
