"""The graph of a model's states, and what engines say of it, to be compared."""

from __future__ import annotations

from typing import Any

from statewalk.dsl.flows.run import STARTS
from statewalk.dsl.model import Model
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.stored import FrozenBag, FrozenList, intern_key
from tests.dsl.flows.bisimilar import Graph


def graph_of(model: Model) -> Graph:
    """All states of a model by plain evaluation."""
    graph = Graph()
    todo: list[Any] = [dict(s) for s in model.initial_states]
    graph.initial = [_key(s) for s in todo]
    while todo:
        state = todo.pop()
        key = _key(state)
        if key in graph.steps:
            continue
        steps = graph.steps[key] = []
        graph.labels[key] = _seen(model, state)
        if not all(model.holds(c.whole, PlainView(state)) for c in model.constraints):
            continue
        for action in model.actions:
            name = action.name.replace(" (continued)", " goes on").replace(" (crashed)", " crashes")
            label = name if action.actor is None else f"{action.actor!r}.{name}"
            if action.fault and action.name.startswith("crash"):
                label = f"{action.actor!r} crashes"
            for outcome in model.outcomes(action, state):
                after = model.successor(state, outcome)
                steps.append((label, _key(after)))
                todo.append(after)
    return graph


def _key(state: Any) -> Any:
    return frozenset((path, intern_key(value)) for path, value in state.items())


def _seen(model: Model, state: Any) -> Any:
    """Return what can be seen of a state: everything but where its threads are."""
    seen = {}
    for path, value in {**model.fixed, **state}.items():
        if "@flow" in path or path[2].endswith(("_at_start", " at start")) or _is_actor(value):
            continue
        owner = "" if path[0] == "Shared" else path[0]
        seen[(owner, *path[1:])] = _plain(value)
    return tuple(sorted(seen.items())), _in_flight(state), state.get(STARTS, 0)


def _in_flight(state: Any) -> int:
    held = [v for p, v in state.items() if "@flow" in p and not p[3].startswith("@")]
    return sum(len(v) if isinstance(v, FrozenBag) else 1 for v in held)


def _is_actor(value: Any) -> bool:
    return isinstance(value, Role) or (isinstance(value, FrozenList) and any(map(_is_actor, value)))


def _plain(value: Any) -> Any:
    return ("@list", *map(_plain, value)) if isinstance(value, FrozenList) else value
