"""A trace of one model tried on another: how far that goes, and what stops it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from statewalk.checker.behaviours.guided import ways
from statewalk.checker.states.content import Content, content_of
from statewalk.checker.states.diff import Change, changes
from statewalk.checker.states.showing import text_of
from statewalk.checker.traces.trace import Taken, Trace, TraceStep
from statewalk.checker.traces.truths import truths
from statewalk.checker.verdict.evidence import Guard
from statewalk.checker.verdict.guards import guard_of
from statewalk.dsl.model import SEARCH_KINDS, WITNESS_KINDS, Action, Model
from statewalk.dsl.values.stored import ABSENT, encode, freeze
from statewalk.dsl.view import State

_BROKEN = SEARCH_KINDS - WITNESS_KINDS
_SHOWN = 3
_MOST = 64  # ways at a time that fit the steps so far


@dataclass(frozen=True)
class Crossing:
    """What came of trying a trace.

    ``step`` is the first that is not possible, counted from 1, None where all are: then ``broken``
    are the properties that are false at the end. ``guard`` stops it, or ``why`` says what does.
    ``differs`` is the first step after which fields that both have are not the same, with the
    changes from the trace's state to the other's.
    """

    trace: Trace
    step: int | None = None
    why: str = ""
    action: str = ""
    guard: Guard | None = None
    broken: tuple[str, ...] = ()
    differs: tuple[int, tuple[Change, ...]] | None = None


def cross(trace: Trace, model: Model) -> Crossing:
    """Try the steps of a trace on another model; any way of taking them will do."""
    states = [(state, state) for state in _starts(trace, model)]
    differs = _differs(trace, model, 0, states[0][1])
    for number, step in enumerate(trace.steps, 1):
        after = trace.contents[min(number, len(trace.contents) - 1)]
        found: list[tuple[State, State]] = []
        for _, state in states:
            for taken in _fitting(model, state, step):
                if taken.state is not None and all(taken.state != known for _, known in found):
                    found.append((state, taken.state))
        if not found:
            return replace(_stopped(trace, model, number, step, states[0][1]), differs=differs)
        found.sort(key=lambda pair: _far(content_of(model, pair[1]), after))
        states = found[:_MOST]
        differs = differs or _differs(trace, model, number, states[0][1])
    return Crossing(trace, broken=_broken(model, *states[0]), differs=differs)


def _differs(
    trace: Trace, model: Model, number: int, state: State
) -> tuple[int, tuple[Change, ...]] | None:
    """In what the state after so many steps is another than the trace's; None where in nothing."""
    if number >= len(trace.contents):
        return None
    other, own = content_of(model, state), trace.contents[number]
    common = [path for path in own if path in other]
    was, now = ({path: content[path] for path in common} for content in (own, other))
    found = tuple(changes(was, now, trace.names))
    return (number, found) if found else None


def _starts(trace: Trace, model: Model) -> list[State]:
    """The initial states, those most like the trace's first."""
    wanted = trace.contents[0]
    states = sorted(model.initial_states, key=lambda s: _far(content_of(model, s), wanted))
    return states[:_MOST]


def _far(content: Content, wanted: Content) -> int:
    """In how many common fields two contents differ."""
    return sum(
        path in content and encode(freeze(content[path])) != encode(freeze(value))
        for path, value in wanted.items()
        if value is not ABSENT and content.get(path, ABSENT) is not ABSENT
    )


def _fitting(model: Model, state: State, step: TraceStep) -> Iterator[Taken]:
    """The ways of taking a step that contradict none of its choices."""
    wanted = _choices(step)
    for action in _called(model, step):
        for _, taken in ways(model, state, action):
            own = _choices(taken.step)
            if taken.error is None and all(own.get(n, v) == v for n, v in wanted.items()):
                yield taken


def _choices(step: TraceStep) -> dict[str, str]:
    """What was chosen, by name; by place where there is none."""
    named = [*step.choices, *step.only]
    return {c.name or f"[{at}]": text_of(c.value) for at, c in enumerate(named)}


def _chosen(step: TraceStep) -> str:
    return ", ".join(str(choice) for choice in (*step.choices, *step.only))


def _called(model: Model, step: TraceStep) -> list[Action]:
    """The action instances that a step names."""
    wanted = step.action, repr(step.actor), _shown(step.arguments)
    return [a for a in model.actions if (a.name, repr(a.actor), _shown(a.arguments)) == wanted]


def _shown(arguments: tuple[tuple[str, Any], ...]) -> list[str]:
    return [f"{name}={text_of(value)}" for name, value in arguments]


def _stopped(trace: Trace, model: Model, number: int, step: TraceStep, state: State) -> Crossing:
    """Why a step is not possible in a state."""
    actions = _called(model, step)
    if not actions:
        return Crossing(trace, number, f"there is no {step.call} here", step.label)
    for action in actions:
        possible = [taken for _, taken in ways(model, state, action)]
        if any(taken.error is not None for taken in possible):
            error = next(taken.error for taken in possible if taken.error is not None)
            return Crossing(trace, number, f"it raises {type(error).__name__}", step.label)
        if possible:
            other = " or ".join(_chosen(taken.step) for taken in possible[:_SHOWN])
            why = f"there it is {other}" if other else "it has no such choice there"
            return Crossing(trace, number, why, step.label)
        guard = guard_of(model, action, state)
        if guard is not None:
            return Crossing(trace, number, "", step.label, guard)
    return Crossing(trace, number, "it is not possible", step.label)


def _broken(model: Model, before: State, state: State) -> tuple[str, ...]:
    """The properties that are false in a state, or in the step that led there."""
    told = truths(model, [before, state])
    asked = [p.name for p in model.properties if p.kind in _BROKEN]
    return tuple(name for name in asked if told[name][-1] is False)
