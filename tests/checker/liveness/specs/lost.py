"""A message is delivered or lost; a lost one is sent again.

Delivery weak: sent, lost, sent ... disables delivery each time, so asking does not lead to
delivery. The stem sends (the premise), the cycle loses and sends again: three steps. Strong: it
is delivered.
"""

from statewalk import Constant, Fairness, State, action, config, holds, leads_to, require, violates

DELIVER: Constant[Fairness] = "weak"


class S(State):
    at: str = "idle"


s = S()


@action(fair="weak")
def send() -> None:
    require(s.at in ("idle", "lost"))
    s.at = "sent"


@action(fair="weak")
def lose() -> None:
    require(s.at == "sent")
    s.at = "lost"


@action(fair=DELIVER)
def deliver() -> None:
    require(s.at == "sent")
    s.at = "delivered"


def sent() -> bool:
    return s.at == "sent"


def delivered() -> bool:
    return s.at == "delivered"


arrives = leads_to(sent, delivered)

config("weak", expect=violates("arrives", length=3))
config("strong", expect=holds(), DELIVER="strong")
