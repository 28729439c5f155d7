"""The light is red until the car is gone.

As written it holds: only `go` ends the waiting, and it is fair. Unfair: red for ever, no step. With
`flicker` the light may leave red before: one step breaks it, and whatever follows does not mend it;
a shortest fair lasso goes on to where nothing is left to do. Turning green is weak, so from
(green, car) the car goes: two steps.
"""

from statewalk import Constant, Fairness, State, action, config, holds, require, until, violates

GO: Constant[Fairness] = "weak"
FLICKER: Constant[bool] = False


class S(State):
    red: bool = True
    car: bool = True


s = S()


@action(fair=GO)
def go() -> None:
    require(s.car)
    s.car = False


@action
def flicker() -> None:
    require(FLICKER and s.red and s.car)
    s.red = False


def red() -> bool:
    return s.red


def gone() -> bool:
    return not s.car


waits = until(red, gone)

config("fair", expect=holds())
config("unfair", expect=violates("waits", length=0), GO="none")
config("flicker", expect=violates("waits", length=2), FLICKER=True)
