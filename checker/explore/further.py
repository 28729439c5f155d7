"""Looking further than on foot: what is wanted becomes a property, and an engine searches."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.table import choose
from statewalk.checker.explore.seek import SECONDS, Sought
from statewalk.dsl.binding import binding
from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.model import Property
from statewalk.dsl.values.stored import intern_key
from statewalk.dsl.view import Endless

if TYPE_CHECKING:
    from statewalk.dsl.model import Model
    from statewalk.dsl.view import State

STATES = 20_000_000
MEMORY = 4 << 30
_WANTED = "wanted"


def search(
    model: Model,
    starts: tuple[State, ...],
    wanted: Callable[[], bool],
    interrupted: Callable[[], bool] = lambda: False,
    *,
    avoid: Callable[[], bool] | None = None,
    seconds: float = SECONDS,
) -> Sought | None:
    """The nearest state that is wanted, by a search from others; not on from states to ``avoid``.

    None where no engine can tell: the spec raises on the way, or refuses steps, behind which an
    engine looks at one more state.
    """
    if model.step_constraints:
        return None
    inside = [constraint.whole for constraint in model.constraints]

    def missing() -> bool:
        return not (all(holds() for holds in inside) and wanted())

    cuts = model.constraints
    if avoid is not None:
        cuts += (Property("avoided", "always", (), lambda: not avoid()),)
    asked = SearchOptions(
        properties=(_WANTED,),
        max_states=STATES,
        max_memory=MEMORY,
        timeout=seconds,
        threads=os.cpu_count() or 1,
        interrupted=interrupted,
    )
    sought = replace(
        model,
        initial_states=starts,
        properties=(Property(_WANTED, "always", (), missing),),
        constraints=cuts,
    )
    try:
        found = choose("auto", sought, asked)[1].explore(sought, asked)
    except (StatewalkError, Endless):
        return None
    if found.stopped == "error":
        return None
    states, whole = found.counts.distinct, max(0, found.counts.depth - 2)
    for finding in found.findings:
        if finding.property == _WANTED:
            return Sought(finding.initial, finding.steps, states, len(finding.steps), False)
    return Sought(0, None, states, whole, found.complete)


def being(state: State) -> Callable[[], bool]:
    """Whether the state that is bound is this one, as far as this one's slots tell."""
    slots = [(path, intern_key(value)) for path, value in state.items()]

    def is_it() -> bool:
        assert binding.view is not None
        get = binding.view.get
        return all(intern_key(get(path)) == key for path, key in slots)

    return is_it
