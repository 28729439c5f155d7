"""A process may go at any time, while another one spins.

Going is enabled in every state of the spin, so weak fairness is enough. Without any for `go` the
spin of two steps goes on for ever; a lasso that stops in the initial state is not fair, as
spinning is.
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

GO: Constant[Fairness] = "weak"


class S(State):
    light: bool = False
    gone: bool = False


s = S()


@action(fair="weak")
def spin() -> None:
    s.light = not s.light


@action(fair=GO)
def go() -> None:
    require(not s.gone)
    s.gone = True


@eventually
@always
def goes() -> bool:
    return s.gone


config("weak", expect=holds())
config("unfair", expect=violates(goes, length=2), GO="none")
