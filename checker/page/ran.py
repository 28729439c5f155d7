"""The lines of a spec that a step ran: of its action, and of the functions that it called."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

from statewalk.checker.states.shortening import place
from statewalk.checker.traces.trace import take_step
from statewalk.checker.verdict.spec_text import line_of, parsed
from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.view import Endless

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.model import Model
    from statewalk.dsl.view import State


Lines = dict[str, set[int]]
"""By file the numbers of lines"""

Ran = list[tuple[str, int, list[int]]]
"""Functions by file and first line, with the lines of each that ran"""

_STEPS = 60  # of a trace: following lines takes ten times as long
_FUNCTIONS = 10  # of a step


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


def _watched(call: Callable[[], Any], sources: Any, found: Lines) -> Any:
    """Make a call; note the lines of the spec that it runs."""

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        file = frame.f_code.co_filename
        if file not in sources:
            return None
        if event == "line":
            found.setdefault(file, set()).add(frame.f_lineno)
        return trace

    saved = sys.gettrace()
    sys.settrace(trace)
    try:
        return call()
    finally:
        sys.settrace(saved)


def _functions(found: Lines, file: str, line: int) -> Ran:
    """Return the functions that lines are in, that of the step first."""
    ran: dict[tuple[str, int], list[int]] = {}
    for of, numbers in found.items():
        tree = parsed(of)
        spans = [
            (n.lineno, n.end_lineno or n.lineno, min([n.lineno, *_decorated(n)]))
            for n in (ast.walk(tree) if tree is not None else ())
            if isinstance(n, ast.FunctionDef)
        ]
        for number in sorted(numbers):
            inner = [(a, first) for a, b, first in spans if a < number <= b]
            if inner:
                ran.setdefault((of, max(inner)[1]), []).append(number)
    order = sorted(
        ran, key=lambda key: (not _is_of(key, ran[key], file, line), not _stands_in(key))
    )
    return [(of, first, ran[of, first]) for of, first in order[:_FUNCTIONS]]


def _is_of(function: tuple[str, int], lines: list[int], file: str, line: int) -> bool:
    return function[0] == file and function[1] <= line <= max(lines)


def _stands_in(function: tuple[str, int]) -> bool:
    """Return whether a function is a mutant."""
    return line_of(*function).startswith("@mutant")


def _decorated(node: ast.FunctionDef) -> list[int]:
    return [d.lineno for d in node.decorator_list]


def functions_of(ran: Ran) -> list[Any]:
    """Return functions as a page reads them: the place, and the lines that ran."""
    return [[place(file, first), lines] for file, first, lines in ran]
