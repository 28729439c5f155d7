"""Properties and bounds that a spec with suspended runs has without saying so."""

from __future__ import annotations

from statewalk.dsl.flows.run import Flows
from statewalk.dsl.model import Element, Property

MAX_ACTIONS = "max_actions"


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
