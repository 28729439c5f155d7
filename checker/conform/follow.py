"""Following a log: which states the spec may be in after each event.

Breadth first over sets of states: a level holds what may be true when so many events have happened.
Hidden actions, which are never logged, may happen between events. A log conforms where some state
is left after its last event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from statewalk.checker.conform.deep import go_deep
from statewalk.checker.conform.fits import Fields
from statewalk.checker.conform.followed import Followed, Frontier, Limits, Marks
from statewalk.checker.conform.follower import Follower
from statewalk.checker.conform.messages import Messages
from statewalk.checker.conform.steps import Steps
from statewalk.checker.machine.watch import CutShort

if TYPE_CHECKING:
    from statewalk.checker.conform.order import Order
    from statewalk.dsl.model import Action, Model


def follow(
    model: Model,
    order: Order,
    hidden: Sequence[Action] = (),
    limits: Limits | None = None,
    steps: Steps | None = None,
) -> Followed:
    """Follow a log as far as the spec goes that way; ``steps`` are those that are known already."""
    steps = steps or Steps(model)
    marks = Marks(len(steps.invariants) + len(steps.of_steps))
    first = Frontier()
    for state in model.initial_states:
        spot = (order.first(), steps.number(state), 0)
        first.came[spot] = None
        first.bits[spot] = marks.first(steps.violated(spot[1]))
        if first.bits[spot] & marks.clean:
            first.clean.came[spot] = None
        first.ways[spot] = 1
    followed = Followed(
        model, order, steps, Fields(model), Messages(model, order), [first],
        limits or Limits(), tuple(hidden),
    )  # fmt: skip
    try:
        watched = [followed.fields.watched(name) for name in followed.limits.watched]
        follower = Follower(followed, marks, watched, go_deep)
        if not (followed.limits.deep and go_deep(follower, followed.limits.states)):
            follower.go()
    except CutShort as cut:
        followed.undecided = said_of(cut)
    model.look_outside()
    return followed


def said_of(cut: CutShort) -> str:
    """Return why the log was not followed further."""
    why = {"time": "the time is over", "interrupt": "it was interrupted"}
    return f"{why.get(cut.reason, 'there is not enough memory')}, in {cut.place}"
