"""A client asks one of two servers, of which only server 1 answers; server 0 sends it away.

Fairness is per argument. Weak: asking server 1 is disabled while the client waits, so it may ask
server 0 for ever, two steps. Strong per server: it asks server 1 some time.
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

FAIR: Constant[Fairness] = "weak"


class S(State):
    asked: int = -1
    done: bool = False


s = S()


@action(fair=FAIR)
def ask(server: int = any_of([0, 1])) -> None:
    require(s.asked < 0 and not s.done)
    s.asked = server


@action(fair="weak")
def answer() -> None:
    require(s.asked >= 0)
    s.done = s.asked == 1
    s.asked = -1


@eventually
@always
def answered() -> bool:
    return s.done


config("weak", expect=violates(answered, length=2))
config("strong", expect=holds(), FAIR="strong")
