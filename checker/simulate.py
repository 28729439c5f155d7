"""Random walks: many behaviours looked at quickly, none proved.

A walk starts in a random initial state and takes random steps, every (action, choices) that is
possible with equal chance. Equal seeds give equal walks. A simulation can find a violation; it
never says "holds".
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from checker.attempts import attempts
from checker.engine import ASSERTION, DEADLOCK, NO_ERROR, Finding, Step
from dsl.view import PlainView, apply_writes

if TYPE_CHECKING:
    from dsl.model import Model, Property


@dataclass
class Simulation:
    """What some walks met. ``findings`` hold a violation of each property that was violated."""

    seed: int
    runs: int = 0
    steps: int = 0
    longest: int = 0
    fired: Counter[str] = field(default_factory=Counter)
    ended: int = 0
    findings: dict[str, Finding] = field(default_factory=dict)
    witnesses: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class _Move:
    step: Step
    after: Any = None
    error: BaseException | None = None


def simulate(
    model: Model,
    *,
    runs: int = 100,
    depth: int = 100,
    seed: int = 0,
    interrupted: Callable[[], bool] = lambda: False,
) -> Simulation:
    """Walk ``runs`` times, up to ``depth`` steps each; stops at the end of a walk that found a
    violation.
    """
    result = Simulation(seed)
    source = random.Random(seed)
    while result.runs < runs and not result.findings and not interrupted():
        result.runs += 1
        _walk(model, source, depth, result)
    return result


def _walk(model: Model, source: random.Random, depth: int, result: Simulation) -> None:
    initial = source.randrange(len(model.initial_states))
    state: Any = dict(model.initial_states[initial])
    steps: list[Step] = []
    met: set[str] = set()
    _look(model, state, initial, steps, result, met)
    while len(steps) < depth and not result.findings:
        moves = _moves(model, state)
        if not moves:
            result.ended += 1
            stopping = any(model.holds(t.whole, PlainView(state)) for t in model.terminal)
            if model.check_deadlock and not stopping:
                result.findings[DEADLOCK] = Finding(DEADLOCK, "deadlock", initial, tuple(steps))
            break
        move = source.choice(moves)
        result.steps += 1
        if move.error is not None:
            failed = isinstance(move.error, AssertionError)
            name, kind = (ASSERTION, "assertion") if failed else (NO_ERROR, "error")
            result.findings[name] = Finding(
                name, kind, initial, tuple(steps), move.step, move.error
            )
            break
        result.fired[model.actions[move.step.action].name] += 1
        _look_at_step(model, state, move, initial, steps, result)
        steps.append(move.step)
        state = move.after
        _look(model, state, initial, steps, result, met)
    result.longest = max(result.longest, len(steps))
    result.witnesses.update(met)


def _moves(model: Model, state: Any) -> list[_Move]:
    """Every possible step, in the order of actions and choices."""
    moves = []
    for action in model.actions:
        for attempt in attempts(model, action, state):
            after = None if attempt.error else apply_writes(state, attempt.writes)
            moves.append(_Move(Step(action.index, attempt.choices), after, attempt.error))
    inside = [m for m in moves if m.error is not None or _inside(model, state, m.after)]
    return inside if model.constraints or model.step_constraints else moves


def _inside(model: Model, before: Any, after: Any) -> bool:
    view = PlainView(after)
    return all(model.holds(c.whole, view) for c in model.constraints) and all(
        model.holds(c.whole, view, PlainView(before)) for c in model.step_constraints
    )


def _look(
    model: Model, state: Any, initial: int, steps: list[Step], result: Simulation, met: set[str]
) -> None:
    for prop in model.properties:
        if prop.kind not in ("always", "exists"):
            continue
        held = _truth(model, prop, state, initial, steps, result)
        if held is None:
            return
        if prop.kind == "exists" and held:
            met.add(prop.name)
        elif prop.kind == "always" and not held:
            result.findings[prop.name] = Finding(prop.name, "always", initial, tuple(steps))


def _truth(
    model: Model, prop: Property, state: Any, initial: int, steps: list[Step], result: Simulation
) -> bool | None:
    try:
        return model.holds(prop.whole, PlainView(state))
    except Exception as error:
        result.findings[NO_ERROR] = Finding(NO_ERROR, "error", initial, tuple(steps), error=error)
        return None


def _look_at_step(
    model: Model, state: Any, move: _Move, initial: int, steps: list[Step], result: Simulation
) -> None:
    for prop in model.properties:
        if prop.kind == "on_step":
            held = model.holds(prop.whole, PlainView(move.after), PlainView(state))
            if not held:
                result.findings[prop.name] = Finding(
                    prop.name, "on_step", initial, tuple(steps), failing=move.step
                )
