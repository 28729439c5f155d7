"""The lines of a spec that a step ran: of its action, and of the functions that it called."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

from statewalk.checker.states.shortening import fit, place
from statewalk.checker.traces.trace import take_step
from statewalk.checker.verdict.reasons import reads_of
from statewalk.checker.verdict.spec_text import line_of, parsed
from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.source.networks import handler_of
from statewalk.dsl.values.stored import freeze
from statewalk.dsl.view import Endless

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.model import Model, Property
    from statewalk.dsl.view import State


Lines = dict[str, dict[int, str]]
"""By file the numbers of lines, and the values of the names in each after it ran last"""

Ran = list[tuple[str, int, dict[int, str]]]
"""Functions by file and first line, with the lines of each that ran"""

_STEPS = 60  # of a trace: following lines takes ten times as long
_FUNCTIONS = 10  # of a step
_VALUE, _VALUES = 40, 4  # letters of a value, values of a line
_NAME = re.compile(r"(?<![.\w])(?:self\.)?[a-z_]\w*")


def states_and_lines(model: Model, trace: Trace) -> tuple[list[State], list[Ran]] | None:
    """Return the states of a trace as the model has them, and what each step ran; None where the
    model goes another way.
    """
    state: State = model.initial_states[trace.initial]
    states, lines = [state], list[Ran]()
    for number, step in enumerate(trace.steps):
        action = model.actions[step.index] if step.index < len(model.actions) else None
        if action is None or action.name != step.action:
            return None
        choices = [c.index for c in step.choices]
        found: Lines = {}
        take = partial(take_step, model, state, action, choices)
        try:
            taken = _watched(take, model.sources, found) if number < _STEPS else take()
        except (StatewalkError, Endless):
            return None
        lines.append(_functions(found, step.file, step.line))
        if taken is None:
            return None
        if taken.state is None:
            break
        state = taken.state
        states.append(state)
    return states, lines


def judged(model: Model, prop: Property, states: Sequence[State]) -> Ran:
    """Return the functions with which a property is judged at the end of a path."""
    before = states[-2] if prop.of_kind.over == "steps" and len(states) > 1 else None
    found: Lines = {}
    _watched(lambda: reads_of(model, prop, states[-1], before), model.sources, found)
    return _functions(found, "", 0)


def _watched(call: Callable[[], Any], sources: Any, found: Lines) -> Any:
    """Make a call; note the lines of the spec that it runs."""
    before: dict[FrameType, int] = {}

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        file = frame.f_code.co_filename
        if file not in sources:
            return None
        if (number := before.pop(frame, None)) is not None:
            found[file][number] = _values(frame, file, number)
        if event == "line":
            found.setdefault(file, {}).setdefault(frame.f_lineno, "")
            before[frame] = frame.f_lineno
        return trace

    saved = sys.gettrace()
    sys.settrace(trace)
    try:
        return call()
    finally:
        sys.settrace(saved)


def _values(frame: FrameType, file: str, number: int) -> str:
    """Return the values that names of a line have: local ones, and fields of the role that acts."""
    known = frame.f_locals
    told = {}
    for name in dict.fromkeys(_NAME.findall(line_of(file, number).partition("#")[0])):
        owner, _, own = name.rpartition(".")
        if owner and (role := known.get(owner)) is not None and own in _fields(role):
            told[name] = _shown(getattr(role, own, None))
        elif not owner and name in known and not callable(known[name]):
            told[name] = _shown(known[name])
    return " · ".join(f"{n} = {v}" for n, v in told.items() if n != "self" and v)[:200]


def _fields(role: Any) -> tuple[str, ...]:
    return getattr(type(role), "_fields", ())


def _shown(value: Any) -> str:
    try:
        return fit(freeze(value), _VALUE)
    except Exception:  # no value of a state
        return ""


def _functions(found: Lines, file: str, line: int) -> Ran:
    """Return the functions that lines are in, that of the step first: of a message, its handler."""
    ran: dict[tuple[str, int], dict[int, str]] = {}
    names: dict[tuple[str, int], str] = {}
    for of, numbers in found.items():
        tree = parsed(of)
        spans = [
            (n.lineno, n.end_lineno or n.lineno, min([n.lineno, *_decorated(n)]), n.name)
            for n in (ast.walk(tree) if tree is not None else ())
            if isinstance(n, ast.FunctionDef)
        ]
        for number in sorted(numbers):
            inner = [(a, first, name) for a, b, first, name in spans if a < number <= b]
            if inner:
                _, first, name = max(inner)
                ran.setdefault((of, first), {})[number] = numbers[number]
                names[of, first] = name
    own = {key for key in ran if _is_of(key, ran[key], file, line)}
    handlers = {handler_of(names[key]) for key in own}
    own |= {key for key in ran if key[0] == file and names[key] in handlers}
    order = sorted(
        ran, key=lambda key: (bool(handler_of(names[key])), key not in own, not _stands_in(key))
    )
    return [(of, first, ran[of, first]) for of, first in order[:_FUNCTIONS]]


def _is_of(function: tuple[str, int], lines: Iterable[int], file: str, line: int) -> bool:
    return function[0] == file and function[1] <= line <= max(lines)


def _stands_in(function: tuple[str, int]) -> bool:
    """Return whether a function is a mutant."""
    return line_of(*function).startswith("@mutant")


def _decorated(node: ast.FunctionDef) -> list[int]:
    return [d.lineno for d in node.decorator_list]


def functions_of(ran: Ran) -> list[Any]:
    """Return functions as a page reads them: the place, the lines that ran, values beside them."""
    return [
        [place(file, first), [*lines], {n: text for n, text in lines.items() if text}]
        for file, first, lines in ran
    ]
