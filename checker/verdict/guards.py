"""Which guard keeps an action from happening."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from statewalk.checker.engines.layout import Layout
from statewalk.checker.states.content import content_of, short_names, value_of
from statewalk.checker.verdict.evaluate import values_in
from statewalk.checker.verdict.evidence import Guard, NeverFired
from statewalk.checker.verdict.spec_text import line_of, parsed
from statewalk.dsl.state.plain_view import PlainView, apply_writes
from statewalk.dsl.view import Disabled, State

if TYPE_CHECKING:
    from statewalk.dsl.model import Action, Model

# what text specs have where a step ends, which is possible only if it did something
_NO_GUARD = re.compile(r"((atomic|serial|parallel|oneof|fair(<\w+>)?)\s+)*action\b|return\b")
_FAULT = Guard("", 0, why="possible, but a fault is no way out of a deadlock")
RUNS = 1000  # of actions, which take some ten milliseconds in most specs
_STATES = 1000


def guard_of(model: Model, action: Action, state: State, *, values: bool = True) -> Guard | None:
    """The furthest line at which every way of taking an action ends in a state; None where it is
    possible. Without ``values`` it is only said where.
    """
    furthest: Guard | None = None
    for view in PlainView.runs(state):
        try:
            model.take(action, view)
        except Disabled as disabled:
            found = _guard(disabled, model, action, view, values)
            furthest = found if furthest is None else _further(furthest, found)
        except Exception:
            return None
        else:
            return None
    return furthest


def _further(one: Guard, other: Guard) -> Guard:
    """Which of two got further: where a step does nothing, it went past every guard."""
    return other if (other.idle, other.line) > (one.idle, one.line) else one


def _guard(
    error: BaseException, model: Model, action: Action, view: PlainView, values: bool
) -> Guard:
    """The innermost line of the spec that a traceback passes through, with its values."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in model.sources:
            found = (trace.tb_frame, trace.tb_lineno, _column(trace))
        trace = trace.tb_next
    if found is None:
        return Guard("", 0, why=str(error))
    frame, line, column = found
    file = frame.f_code.co_filename
    if model.dialect == "fizz" and _NO_GUARD.match(line_of(file, line, column)):
        return Guard(file, line, idle=True)
    if not values:
        return Guard(file, line)
    if model.dialect == "fizz":
        return Guard(file, line, _named(model, action, line_of(file, line), view))
    return Guard(file, line, _values(model, frame, line, view))


def _column(trace: TracebackType) -> int:
    """Where on its line what raised begins."""
    places = trace.tb_frame.f_code.co_positions()
    return next(itertools.islice(places, trace.tb_lasti // 2, None))[2] or 0


def _named(model: Model, action: Action, text: str, view: PlainView) -> tuple[tuple[str, Any], ...]:
    """The variables, and the actor's fields, that a line of a text spec speaks of."""
    names, actor = short_names(model), action.actor
    found = []
    for path, value in content_of(model, apply_writes(view.base, view.writes)).items():
        if names.get(path[0]) == "" and re.search(rf"(?<![.\w]){re.escape(path[2])}\b", text):
            found.append((path[2], value))
        elif actor is not None and path[:2] == (type(actor).__name__, actor.index):
            if re.search(rf"\bself\.{re.escape(path[2])}\b", text):
                found.append((f"self.{path[2]}", value))
    return tuple(found)


def _values(
    model: Model, frame: FrameType, line: int, view: PlainView
) -> tuple[tuple[str, Any], ...]:
    """What the condition on a line is made of, in the state in which it was false."""
    node = condition_at(frame.f_code.co_filename, line)
    if node is None:
        return ()
    found: list[tuple[str, Any]] = []

    def look() -> bool:
        values = values_in(node, frame.f_globals, frame.f_locals)
        state = apply_writes(view.base, view.writes)
        found.extend((text, value_of(value, model, state)) for text, value in values)
        return True

    try:
        model.holds(look, view)
    except Exception:  # the values are a courtesy: the guard is named without them
        return ()
    return tuple(found)


def condition_at(file: str, line: int) -> ast.expr | None:
    """What a line of a Python spec asks for: the condition of ``require``, the options of a choice,
    the test of an ``if``.
    """
    tree = parsed(file)
    for node in ast.walk(tree) if tree is not None else ():
        if not getattr(node, "lineno", 0) <= line <= (getattr(node, "end_lineno", 0) or 0):
            continue
        if isinstance(node, ast.Call) and node.args:
            if getattr(node.func, "id", "") in ("require", "any_of", "oneof"):
                return node.args[0]
    return None


def never_fired(
    model: Model, fired: Iterable[int], distinct: int, *, whole: bool
) -> tuple[NeverFired, ...]:
    """The actions of which no instance fired, each with the guard that got furthest.

    ``distinct`` states were searched, all there are if ``whole``. A small search of its own finds
    some of them again to try the actions in.
    """
    names = model.action_names()
    done = {names[index] for index in fired}
    idle = [a for a in model.actions if names[a.index] not in done]
    if not idle:
        return ()
    guards: dict[str, Guard] = {}
    possible: set[str] = set()
    tried = 0
    for state in itertools.islice(some_states(model), distinct):
        tried += 1
        for action in idle:
            if not _has_run(action, state):
                continue
            name, guard = names[action.index], guard_of(model, action, state, values=False)
            if guard is None:
                possible.add(name)
            elif guard.file:
                guards[name] = _further(guards.get(name, guard), guard)
    result = []
    unbegun = {a.slot for a in idle if not a.continues and not a.fault} - {None}
    told = [a for a in idle if a.slot not in unbegun or not (a.continues or a.fault)]
    for name in dict.fromkeys(names[a.index] for a in told):
        span = next(a.span for a in idle if names[a.index] == name)
        guard = guards.get(name) if name not in possible else None
        idle_ = guard is not None and guard.idle
        text, line = (guard.text, guard.line) if guard and not idle_ else ("", 0)
        found = NeverFired(name, span, text, line, tried, whole and tried >= distinct, idle_)
        result.append(found)
    return tuple(result)


def _has_run(action: Action, state: State) -> bool:
    """Whether there is a suspended run to go on with, or to crash, where an action does that."""
    return action.slot is None or not (action.continues or action.fault) or action.slot in state


def some_states(model: Model) -> Iterable[State]:
    """Reachable states, the nearest first: those that the first `RUNS` runs of actions lead to.

    A count bounds the search, and no clock: results depend on which states these are.
    """
    layout = Layout(model)
    left = RUNS
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
    while at < len(queue) and left > 0:
        state = queue[at]
        at += 1
        yield state
        for action in model.actions:
            try:
                for after in _after_runs(model, action, state):
                    if after is not None:
                        meet(after)
                    left -= 1
                    if left <= 0:  # one step may have millions of outcomes
                        return
            except Exception:  # the search reports what raises; here it is only left out
                continue


def _after_runs(model: Model, action: Action, state: State) -> Iterator[State | None]:
    """Yield the state after each run of an action; None for a run that is disabled."""
    for view in PlainView.runs(state):
        try:
            model.take(action, view)
        except Disabled:
            yield None
        else:
            yield apply_writes(state, view.writes)


def blocked(model: Model, state: State) -> tuple[tuple[str, Guard | None], ...]:
    """What stops each action instance in a state (of a deadlock): its label and the guard.

    Going on with a run is left out where none is suspended. A fault may be possible there.
    """
    found = []
    for action in model.actions:
        if _has_run(action, state):
            guard = guard_of(model, action, state)
            found.append((action.label, _FAULT if guard is None and action.fault else guard))
    return tuple(found)
