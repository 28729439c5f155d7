"""Requests pass three stages, 1 to 3; after 3, served, a new one may come.

All stages fair: 1 leads to 3, and 2 leads to 3. With the middle stage unfair, a request stops at 2:
one stage is passed, and it stutters, so length 2 (it comes, it passes), for both.
Nobody has to send a request: that a request comes at all is not promised.
"""

from statewalk import (
    Constant,
    Fairness,
    State,
    action,
    config,
    eventually,
    leads_to,
    require,
    violates,
)

MIDDLE: Constant[Fairness] = "weak"


class S(State):
    stage: int = 0


s = S()


@action
def come() -> None:
    require(s.stage in (0, 3))
    s.stage = 1


@action(fair="weak")
def first() -> None:
    require(s.stage == 1)
    s.stage = 2


@action(fair=MIDDLE)
def second() -> None:
    require(s.stage == 2)
    s.stage = 3


def asked() -> bool:
    return s.stage == 1


def half_way() -> bool:
    return s.stage == 2


def answered() -> bool:
    return s.stage == 3


served = leads_to(asked, answered)
finished = leads_to(half_way, answered)


@eventually
def somebody_asks() -> bool:
    return s.stage == 1


config("fair", expect=violates("somebody_asks", length=0))
config("stuck", expect=violates("served", "finished", "somebody_asks", length=2), MIDDLE="none")
