"""Home 0, a park 1 and a bridge 2, from which alone one may cross to 3.

Crossing is strongly fair in all three. But with `to_bridge` unfair, one walks between home and
park for ever, and crossing is never enabled: two steps. With `to_bridge` weak it is still not
forced, as it is disabled in the park. Strong: it is enabled at home again and again, so one gets
to the bridge again and again, and crossing follows.
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

BRIDGE: Constant[Fairness] = "none"


class S(State):
    at: int = 0


s = S()


@action(fair="weak")
def to_park() -> None:
    require(s.at == 0)
    s.at = 1


@action(fair=BRIDGE)
def to_bridge() -> None:
    require(s.at == 0)
    s.at = 2


@action(fair="weak")
def home() -> None:
    require(s.at in (1, 2))
    s.at = 0


@action(fair="strong")
def cross() -> None:
    require(s.at == 2)
    s.at = 3


@eventually
@always
def crosses() -> bool:
    return s.at == 3


config("unfair", expect=violates(crosses, length=2))
config("weak", expect=violates(crosses, length=2), BRIDGE="weak")
config("strong", expect=holds(), BRIDGE="strong")
