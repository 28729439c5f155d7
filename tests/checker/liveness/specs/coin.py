"""A coin is thrown until it shows 2, heads; tails, 1, is picked up again.

The action is fair, its choice is not: tails for ever, two steps. A weakly fair choice does not
help, since heads is not possible while the coin lies there. A strongly fair one does.
"""

from statewalk import (
    Constant,
    Fairness,
    State,
    action,
    any_of,
    config,
    eventually,
    holds,
    require,
    violates,
)

CHOICE: Constant[Fairness] = "none"


class S(State):
    coin: int = 0


s = S()


@action(fair="weak")
def throw() -> None:
    require(s.coin == 0)
    s.coin = any_of([1, 2], fair=CHOICE)


@action(fair="weak")
def pick_up() -> None:
    require(s.coin == 1)
    s.coin = 0


@eventually
def heads() -> bool:
    return s.coin == 2


config("unfair", expect=violates(heads, length=2))
config("weak", expect=violates(heads, length=2), CHOICE="weak")
config("strong", expect=holds(), CHOICE="strong")
