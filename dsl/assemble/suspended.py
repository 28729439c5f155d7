"""Properties and bounds that a spec with suspended runs has without saying so."""

from __future__ import annotations

from collections.abc import Sequence

from statewalk.dsl.flows.run import Flows
from statewalk.dsl.model import Action, Element, Property
from statewalk.dsl.words.lookahead import possible

DEADLOCK = "Deadlock"
MAX_ACTIONS = "max_actions"


def deadlock_besides_faults(
    actions: Sequence[Action], terminal: Sequence[Property]
) -> Property | None:
    """The property that something other than a fault can happen, where there are faults.

    None where there are none: then a state without a step is what an engine finds by itself.
    """
    if not any(action.fault for action in actions):
        return None
    steps = [action for action in actions if not action.fault]

    def holds() -> bool:
        return any(map(possible, steps)) or any(t.whole() for t in terminal)

    holds.__name__ = DEADLOCK
    return Property(DEADLOCK, "always", (Element(DEADLOCK, (), holds),), holds)


def bounds_of(flows: Flows) -> tuple[list[Property], list[Property]]:
    """(constraints, where stopping is right) that come from a limit on the starts of actions."""
    if flows.most_starts is None:
        return [], []

    def more() -> bool:
        return not (flows.used_up() and flows.idle())

    more.__name__ = MAX_ACTIONS
    constraint = Property(MAX_ACTIONS, "always", (Element(MAX_ACTIONS, (), more),), more)
    used = Property(MAX_ACTIONS, "always", (), flows.used_up)
    return [constraint], [used]
