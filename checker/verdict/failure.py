"""What an exception of the spec was: said in the spec's terms, with places in the spec's files
only.
"""

from __future__ import annotations

import re
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

from statewalk.checker.traces.trace import final_states, take_step
from statewalk.checker.verdict.evidence import Failure
from statewalk.checker.verdict.explain import Explanation, Layer, explain_assert
from statewalk.checker.verdict.spec_text import assert_at, line_of
from statewalk.dsl.errors import Span, StatewalkError, meant
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.view import Disabled

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Finding
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.model import Model

# A function in C that wants Python's own says that it got another thing of the same name.
_OURS = re.compile(
    r"for '(\w+)' objects doesn't apply to a '\1' object|must be (?:a )?(\w+), not \2\b|Reference\b"
)
_ABOUT_C = (
    "What is in the state is a reference. It does what a list, set or dict does, but a few "
    "functions written in C, such as heapq's and list.append, take nothing but Python's own.",
    "Let it change a copy, and store that: queue = list(self.queue), ..., self.queue = queue.",
)
_ABOUT_MUTANTS = (
    "It stands in for what its @mutant names, whoever calls that, and so for its own calls too.",
    "Write the lines of that function again in the mutant, or give them a name of their own that "
    "both call.",
)


def failure_of(model: Model, finding: Finding, trace: Trace) -> Failure:
    """An exception of the spec, repeated to learn where it was raised."""
    state, before = final_states(model, finding)
    error, where = finding.error, ""
    if trace.steps and not trace.steps[-1].completed and finding.failing is not None:
        action = model.actions[finding.failing.action]
        taken = take_step(model, state, action, finding.failing.choices)
        if taken is not None and taken.error is not None:
            error, where = taken.error, f"in the action {taken.step.label}"
    if not where:
        found = raised_in(model, state, before if finding.failing is not None else None)
        if found is not None:
            where, error = found
    return describe(error, where, model, trace)


def failed_assertion(model: Model, finding: Finding) -> Explanation | None:
    """The ``assert`` that a step failed, and why it is false."""
    if finding.failing is None:
        return None
    state, _ = final_states(model, finding)
    view = PlainView(state, finding.failing.choices)
    try:
        model.take(model.actions[finding.failing.action], view)
    except AssertionError as error:
        frames = [
            f for f in walk_tb(error.__traceback__) if f[0].f_code.co_filename in model.sources
        ]
        if not frames:
            return None
        frame, line = frames[-1]
        file = frame.f_code.co_filename
        node = assert_at(file, line)
        if node is not None:
            return Explanation(explain_assert(model, node, frame, view))
        return Explanation((Layer(line_of(file, line), False, span=Span(file, line)),))
    return None


def describe(error: BaseException | None, where: str, model: Model, trace: Trace) -> Failure:
    """An exception in words."""
    frames = user_frames(error, model)
    if isinstance(error, StatewalkError):
        places = (error.at,) if error.at is not None else frames
        return Failure(f"{error.code} {error.message}", trace, where, places, error.why, error.help)
    text = str(error) if error is not None else ""
    title = f"{type(error).__name__}: {text}" if text else type(error).__name__
    why, do = _ABOUT_C if isinstance(error, TypeError) and _OURS.search(text) else ("", "")
    if isinstance(error, NameError):
        do = meant(error, {})
    if isinstance(error, RecursionError) and (mutant := _within_itself(error, model)):
        title, (why, do) = f"RecursionError: the mutant {mutant} calls itself", _ABOUT_MUTANTS
    return Failure(f"SW205 {title}", trace, where, frames, why, do)


def user_frames(error: BaseException | None, model: Model) -> tuple[Span, ...]:
    """The places of a traceback that lie in the spec's files, innermost last, repeats left out."""
    places: dict[Span, None] = {}
    trace = error.__traceback__ if error is not None else None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file in model.sources:
            places[Span(file, trace.tb_lineno)] = None
        trace = trace.tb_next
    return tuple(places)[-8:]


def _within_itself(error: BaseException, model: Model) -> str:
    """The mutant that was called while it ran, if one was."""
    frames = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    names = [code.co_name for code in frames if code.co_filename in model.sources]
    return next((mutant for mutant in model.mutants if names.count(mutant) > 1), "")


def raised_in(model: Model, state: Any, before: Any) -> tuple[str, BaseException] | None:
    """Which property raises in a state (or in the step to it from ``before``), and what."""
    kinds = (
        ("the property", sorted(model.properties, key=lambda p: not p.of_kind.searched)),
        ("the constraint", (*model.constraints, *model.step_constraints)),
        ("the terminal predicate", model.terminal),
    )
    for word, properties in kinds:
        for prop in properties:
            on_step = prop.of_kind.over == "steps"
            if on_step and before is None:
                continue
            old = PlainView(before) if on_step and before is not None else None
            for predicate in (prop.whole, *([prop.premise] if prop.premise else [])):
                try:
                    model.holds(predicate, PlainView(state), old)
                except (Exception, Disabled) as error:
                    return f"in {word} '{prop.name}'", error
    return None
