"""A process may go while a light is on, and the light blinks for ever.

Weak: going is disabled again and again, so it need not happen: off, on, off is fair, two steps.
Strong: going is enabled again and again, so it happens.
"""

from statewalk import (
    Constant,
    Fairness,
    State,
    action,
    config,
    eventually,
    holds,
    require,
    violates,
)

GO: Constant[Fairness] = "weak"


class S(State):
    light: bool = False
    gone: bool = False


s = S()


@action(fair="weak")
def blink() -> None:
    require(not s.gone)
    s.light = not s.light


@action(fair=GO)
def go() -> None:
    require(s.light and not s.gone)
    s.gone = True


@eventually
def goes() -> bool:
    return s.gone


config("weak", expect=violates(goes, length=2))
config("strong", expect=holds(), GO="strong")
