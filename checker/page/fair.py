"""Why no fair action ends a lasso: by action, the guard that is false in each state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from statewalk.checker.states.shortening import place
from statewalk.checker.verdict.guards import guard_of
from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.view import Endless

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.model import Model
    from statewalk.dsl.view import State


_STATES, _ACTIONS = 6, 40


def fair_in(trace: Trace, states: Sequence[State]) -> dict[str, Any]:
    """Return the table of a lasso whose model is known: states of the cycle, a row per action."""
    model = trace.model
    if model is None or trace.loop is None or len(states) <= trace.loop:
        return {}
    try:
        cycle = list(range(trace.loop, max(trace.loop + 1, trace.length)))
        shown = cycle[:_STATES]
        rows = []
        for action in [a for a in model.actions if a.fairness != "none"][:_ACTIONS]:
            cells = [_cell(model, action, states[at]) for at in shown]
            rows.append([action.label, action.fairness, cells])
    except (StatewalkError, Endless):  # the table is a courtesy
        return {}
    return {"fair": {"states": shown, "more": len(cycle) > len(shown), "rows": rows}}


def _cell(model: Model, action: Any, state: State) -> list[str]:
    """Return the guard, its values and its place; empty where the action is enabled."""
    guard = guard_of(model, action, state)
    if guard is None:
        return ["", "", ""]
    text = guard.text or guard.said
    return [text, guard.shown, place(guard.file, guard.line) if guard.file else ""]
