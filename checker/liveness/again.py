"""Whether a behaviour that goes round for ever still violates a property: what `replay` asks.

The slow twin of the search for such behaviours: plain Python, one state of the cycle at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, assert_never

from statewalk.checker.liveness.conditions import (
    PREMISE,
    Condition,
    Label,
    conditions,
    predicates,
)
from statewalk.checker.states.content import Content, content_of
from statewalk.dsl.kinds import PropertyKind
from statewalk.dsl.model import Model, Property
from statewalk.dsl.state.plain_view import PlainView, apply_writes
from statewalk.dsl.values.stored import same_state
from statewalk.dsl.view import State

if TYPE_CHECKING:
    from statewalk.checker.liveness.graph import Bools

Move = tuple[Label, Content]


def why_not(
    model: Model,
    prop: Property,
    states: Sequence[State],
    loop: int,
    truth: Mapping[str, Sequence[bool] | Bools] | None = None,
) -> str:
    """Why states that return to the one at ``loop`` violate a liveness property no more; empty
    where they do. The last is that state again; with only that one, nothing happens any more.

    ``truth`` holds what the `predicates` say in each state, where they are not the model's own.
    """
    path = list(states[:-1]) if loop < len(states) - 1 else list(states)
    told = truth or {
        key: [bool(model.holds(predicate, PlainView(state))) for state in path]
        for key, predicate in predicates([prop]).items()
    }
    goal = list(told[prop.name])[: len(path)]
    premise = list(told.get(prop.name + PREMISE, [True] * len(path)))[: len(path)]
    if _satisfied(prop.kind, goal, premise, loop):
        return f"{prop.name} holds of it now"
    contents = [content_of(model, state) for state in path[loop:]]
    moves = [_moves(model, s, c) for s, c in zip(path[loop:], contents, strict=True)]
    goals = [*contents[1:], contents[0]]
    steps = [
        label
        for at, goal in zip(moves, goals, strict=True)
        for label, to in at
        if same_state(to, goal)
    ]
    found = conditions(model, tuple({label: None for at in moves for label, _ in at}))
    for condition in found:
        if not any(condition.takes(label) for label in steps) and _owed(condition, moves):
            when = "again and again" if condition.fairness == "strong" else "all along"
            return (
                f"its cycle is not fair: {condition.label} is {condition.fairness}ly fair, "
                f"possible {when} and never taken"
            )
    return ""


def _owed(condition: Condition, moves: Sequence[Sequence[Move]]) -> bool:
    """Whether a condition that a cycle does not take has to be taken there."""
    enabled = [any(condition.takes(label) for label, _ in at) for at in moves]
    match condition.fairness:
        case "strong":
            return any(enabled)
        case "weak":
            return all(enabled)
        case _:
            assert_never(condition.fairness)


def _moves(model: Model, state: State, content: Content) -> list[Move]:
    """The steps out of a state that change it, by what they are called, and where they lead."""
    found: list[Move] = []
    for action in model.actions:
        for outcome in model.outcomes(action, state, []):
            to = content_of(model, apply_writes(state, outcome.writes))
            if not same_state(content, to):
                found.append((Label(action.index, 0, outcome.fair), to))
    return found


def _satisfied(
    kind: PropertyKind, goal: Sequence[bool], premise: Sequence[bool], loop: int
) -> bool:
    if kind == "eventually":
        return any(goal)
    if kind == "always_eventually":
        return any(goal[loop:])
    if kind == "eventually_always":
        return all(goal[loop:])
    if kind == "leads_to":
        last = max((i for i, met in enumerate(goal) if met), default=-1)
        return any(goal[loop:]) or not any(premise[last + 1 :])
    for waits, met in zip(premise, goal, strict=True):  # until
        if met or not waits:
            return met
    return False
