"""The lines of a spec that a step ran: of its action, and of the functions that it called."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

from statewalk.checker.page.about import first_of
from statewalk.checker.page.beside import Values, result_of, said, values_in, values_of
from statewalk.checker.states.shortening import place
from statewalk.checker.traces.trace import take_step
from statewalk.checker.verdict.reasons import reads_of
from statewalk.checker.verdict.spec_text import line_of, parsed
from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.source.networks import handler_of
from statewalk.dsl.view import Endless

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.model import Model, Property
    from statewalk.dsl.view import State


Ran = list[tuple[str, int, dict[int, str]]]
"""Functions by file and first line, with the lines of each that ran, and the values beside them"""

_STEPS = 60  # of a trace: following lines takes ten times as long
FUNCTIONS = 12  # of a step


@dataclass
class _Lines:
    """The trail of a call: lines of sources by file and number, in the order in which they ran
    first, and the names of each file's module.
    """

    sources: Any
    seen: dict[tuple[str, int], Values] = field(default_factory=dict)
    modules: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def watch(self, call: Callable[[], Any]) -> Any:
        """Make a call; note the lines that it runs."""
        before: dict[FrameType, int] = {}

        def trace(frame: FrameType, event: str, argument: Any) -> Any:
            file = frame.f_code.co_filename
            if file not in self.sources:
                return None
            self.modules[file] = frame.f_globals
            if (number := before.pop(frame, None)) is not None:
                self.seen[file, number] |= values_of(frame, file, number)
                if event == "return":
                    self.seen[file, number] |= result_of(frame, file, number, argument)
            if event == "line":
                self.seen.setdefault((file, frame.f_lineno), {})
                before[frame] = frame.f_lineno
            return trace

        saved = sys.gettrace()
        sys.settrace(trace)
        try:
            return call()
        finally:
            sys.settrace(saved)


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
        found = _Lines(model.sources)
        take = partial(take_step, model, state, action, choices)
        try:
            taken = found.watch(take) if number < _STEPS else take()
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
    found = _Lines(model.sources)
    found.watch(lambda: reads_of(model, prop, states[-1], before))
    return _functions(found, "", 0)


def _functions(found: _Lines, file: str, line: int) -> Ran:
    """Return the functions that lines are in, that of the step first: of a message, its handler."""
    taken: dict[tuple[str, int], dict[int, str]] = {}
    nodes: dict[tuple[str, int], ast.FunctionDef] = {}
    spans = {of: [*_spans(of)] for of in found.modules}
    for (of, number), values in found.seen.items():
        if inner := [one for one in spans.get(of, ()) if one[0] < number <= one[1]]:
            _, _, first, node = max(inner, key=lambda one: one[0])
            taken.setdefault((of, first), {})[number] = said(values)
            nodes[of, first] = node
    for (of, first), node in nodes.items():
        for number in folded(node.body, taken[of, first].keys()):
            taken[of, first][number] = said(values_in(of, number, {}, found.modules[of]))
    own = {key for key in taken if _is_of(key, taken[key], file, line)}
    handlers = {handler_of(nodes[key].name) for key in own}
    own |= {key for key in taken if key[0] == file and nodes[key].name in handlers}
    order = sorted(taken, key=lambda key: (key not in own, not _stands_in(key), key[0] != file))
    written = [key for key in order if not handler_of(nodes[key].name)]  # by the author
    return [(of, first, dict(sorted(taken[of, first].items()))) for of, first in written or order]


def _spans(file: str) -> Iterator[tuple[int, int, int, ast.FunctionDef]]:
    """Yield the functions of a file: of each its line, its last line and that of its decorator."""
    tree = parsed(file)
    for n in ast.walk(tree) if tree is not None else ():
        if isinstance(n, ast.FunctionDef):
            yield n.lineno, n.end_lineno or n.lineno, first_of(n), n


def folded(body: Sequence[ast.stmt], taken: Set[int]) -> list[int]:
    """Return the lines of conditions that were decided before the steps, as those of constants
    are, where what was taken has come past them.
    """
    found = list[int]()
    came = [bool(taken & {*range(one.lineno, (one.end_lineno or one.lineno) + 1)}) for one in body]
    for at, one in enumerate(body):
        for inner in (getattr(one, name, ()) for name in ("body", "orelse", "finalbody")):
            if came[at]:
                found += folded(inner, taken)
        past = any(came[at:]) or (at > 0 and came[at - 1] and not _leaves(body[at - 1]))
        if isinstance(one, ast.If) and past and one.lineno not in taken:
            found.append(one.lineno)
    return found


def _leaves(node: ast.stmt) -> bool:
    """Return whether a statement may end its block."""
    kinds = (ast.Return, ast.Raise, ast.Continue, ast.Break)
    return any(isinstance(inner, kinds) for inner in ast.walk(node))


def _is_of(function: tuple[str, int], lines: Iterable[int], file: str, line: int) -> bool:
    return function[0] == file and function[1] <= line <= max(lines)


def _stands_in(function: tuple[str, int]) -> bool:
    """Return whether a function is a mutant."""
    return line_of(*function).startswith("@mutant")


def functions_of(ran: Ran) -> list[Any]:
    """Return functions as a page reads them: the place, the lines that ran, values beside them."""
    return [
        [place(file, first), [*lines], {n: text for n, text in lines.items() if text}]
        for file, first, lines in ran[:FUNCTIONS]
    ]
