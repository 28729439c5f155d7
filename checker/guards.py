"""Which guard keeps an action from happening."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from checker.evidence import NeverFired
from checker.judge import action_names
from checker.layout import Layout
from checker.spec_text import line_of
from dsl.errors import Span
from dsl.view import Disabled, PlainView, State, next_script

if TYPE_CHECKING:
    from dsl.model import Action, Model

Place = tuple[str, int]
_SECONDS = 0.25
_STATES = 2000


def guard_of(model: Model, action: Action, state: State) -> Place | None:
    """The furthest line at which every way of taking an action ends in a state; None where it is
    possible.
    """
    furthest: Place | None = None
    script: list[int] | None = []
    while script is not None:
        view = PlainView(state, script)
        try:
            model.take(action, view)
        except Disabled as disabled:
            place = _place(disabled, model)
            if place is not None and (furthest is None or place[1] > furthest[1]):
                furthest = place
        except Exception:
            return None
        else:
            return None
        script = next_script(view.choices)
    return furthest


def _place(error: BaseException, model: Model) -> Place | None:
    found = None
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file in model.sources:
            found = (file, trace.tb_lineno)
        trace = trace.tb_next
    return found


def never_fired(model: Model, fired: Iterable[int], distinct: int | None) -> tuple[NeverFired, ...]:
    """The actions of which no instance fired, each with the guard that got furthest.

    ``distinct`` is the number of reachable states, where that is known. A small search of its own
    finds states to try them in, for a quarter of a second at most.
    """
    names = action_names(model)
    done = {names[index] for index in fired}
    idle = [a for a in model.actions if names[a.index] not in done]
    if not idle:
        return ()
    guards: dict[str, Place] = {}
    possible: set[str] = set()
    tried = 0
    for state in some_states(model):
        tried += 1
        for action in idle:
            name, place = names[action.index], guard_of(model, action, state)
            if place is None:
                possible.add(name)
            elif place[1] > guards.get(name, ("", 0))[1]:
                guards[name] = place
    result = []
    for name in dict.fromkeys(names[a.index] for a in idle):
        span = next(a.span for a in idle if names[a.index] == name)
        file, line = guards.get(name, ("", 0)) if name not in possible else ("", 0)
        result.append(
            NeverFired(
                name,
                span,
                line_of(file, line),
                line,
                tried,
                distinct is not None and tried >= distinct,
            )
        )
    return tuple(result)


def some_states(model: Model) -> Iterable[State]:
    """Reachable states, the nearest first."""
    layout = Layout(model)
    ended = time.monotonic() + _SECONDS
    queue: list[Any] = []
    seen: set[tuple[int, ...]] = set()

    def meet(state: State) -> None:
        row = layout.row(state)
        if row not in seen and len(seen) < _STATES:
            seen.add(row)
            queue.append(state)

    for state in model.initial_states:
        meet(state)
    at = 0
    while at < len(queue) and time.monotonic() < ended:
        state = queue[at]
        at += 1
        yield state
        for action in model.actions:
            try:
                for outcome in model.outcomes(action, state):
                    meet(model.successor(state, outcome))
            except Exception:  # the search reports what raises; here it is only left out
                continue


def blocked(model: Model, state: State) -> tuple[tuple[str, Span | None], ...]:
    """What stops each action instance in a state (of a deadlock): its label and the place of the
    guard.
    """
    found = []
    for action in model.actions:
        place = guard_of(model, action, state)
        found.append((action.label, Span(*place) if place else None))
    return tuple(found)
