"""Two actions do the same thing, one of them fair.

A step from 0 to 1 takes both, whatever it is called: fairness is about states, as in TLA+. From 1
one goes back, fairly. The goal 2 can be reached from 1 by an unfair step only, so 0, 1, 0 for
ever is fair: two steps, and the fair action counts as taken.
"""

from statewalk import State, action, config, eventually, require, violates


class S(State):
    x: int = 0


s = S()


@action
def plain() -> None:
    require(s.x == 0)
    s.x = 1


@action(fair="strong")
def fair() -> None:
    require(s.x == 0)
    s.x = 1


@action(fair="weak")
def back() -> None:
    require(s.x == 1)
    s.x = 0


@action
def win() -> None:
    require(s.x == 1)
    s.x = 2


@eventually
def wins() -> bool:
    return s.x == 2


config("it", expect=violates(wins, length=2))
