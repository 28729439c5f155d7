"""The evidence of a check besides its verdict: the figures and findings that a report is made
of.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, Literal

from statewalk.checker.contract.options import CheckOptions
from statewalk.checker.contract.stops import StoppedBy, from_outside
from statewalk.checker.states.shortening import fit
from statewalk.checker.traces.trace import final_states, take_step
from statewalk.checker.verdict.explain import Explanation, Layer, explain_assert
from statewalk.checker.verdict.spec_text import assert_at, line_of
from statewalk.dsl.errors import Span, StatewalkError, meant
from statewalk.dsl.kinds import OfKind
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.view import Disabled

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Finding
    from statewalk.checker.traces.trace import Trace
    from statewalk.checker.verdict.fields import FieldCost
    from statewalk.dsl.declared import Expectation
    from statewalk.dsl.errors import RunError
    from statewalk.dsl.model import Dialect, Model


_BUSY = "a run is suspended, and no more may be at a time"
_IDLE = "it does nothing, and what does nothing is no step"


def disables(text: str, false: str, empty: str) -> str:
    """Return ``false`` for a guard, ``empty`` for a choice, by the text of its line."""
    return empty if "any_of(" in text and not text.startswith("require") else false


@dataclass(frozen=True)
class Guard:
    """The line that stops an action, and the values it looked at: (text, value).

    Without a file it is no line of the spec: ``why``, or so many runs are suspended that none may
    begin.
    ``idle``: no guard is false, but a step of a text spec comes to its end and has done nothing.
    """

    file: str
    line: int
    values: tuple[tuple[str, Any], ...] = ()
    idle: bool = False
    why: str = ""

    @property
    def text(self) -> str:
        """The line as it is written."""
        return line_of(self.file, self.line) if self.file else ""

    @property
    def said(self) -> str:
        """Return what stops the action, in a sentence: the line in back-quotes."""
        if self.idle:
            return _IDLE
        return f"`{self.text}`" if self.file else self.why or _BUSY

    @property
    def fails(self) -> str:
        """Return how a line disables the action; empty where no line does."""
        return disables(self.text, "is false", "has no option") if self.file else ""

    @property
    def shown(self) -> str:
        """The values in words; empty where none are known."""
        return " · ".join(f"{name} = {fit(v, 60)}" for name, v in self.values)


@dataclass(frozen=True)
class Violation(OfKind):
    """A violated property, with what is false and how it comes about.

    ``blocked`` says for a deadlock what stops each action there, ``not_taken`` for a lasso what is
    enabled on its cycle and never taken.
    """

    property: str
    kind: str
    trace: Trace
    explanation: Explanation | None = None
    doc: str = ""
    span: Span | None = None
    blocked: tuple[tuple[str, Guard | None], ...] = ()
    not_taken: tuple[str, ...] = ()
    dialect: Dialect = "python"


@dataclass(frozen=True)
class Failure:
    """An exception of the spec: what it says, where, and the way there."""

    title: str
    trace: Trace
    where: str = ""
    frames: tuple[Span, ...] = ()
    why: str = ""
    help: str = ""


@dataclass(frozen=True)
class NeverFired:
    """An action that made no transition. ``guard`` is the line that stopped it, in ``states``
    states tried; there is none where it is ``idle``: in some of them no guard did, and it would
    do nothing.
    """

    name: str
    span: Span | None = None
    guard: str = ""
    line: int = 0
    states: int = 0
    all_states: bool = False
    idle: bool = False


@dataclass(frozen=True)
class Graph:
    """The state graph that was written; or ``problem``, what kept that from being done."""

    folder: str
    states: int = 0
    transitions: int = 0
    problem: RunError | None = None

    @property
    def unwritable(self) -> bool:
        """Return whether it was lost for want of a place, which takes nothing from the verdict."""
        return self.problem is not None and self.problem.code == "SW403"


NoticeKind = Literal[
    "error", "unchecked", "bounded", "never", "vacuous", "nothing", "spec", "search", "saving"
]


@dataclass(frozen=True)
class Notice:
    """A warning, which counts with --strict: what kind it is, what property, action or code it is
    about, and how it reads.

    Kinds: the ``error`` that ended the run; a property left ``unchecked``; what the search was
    ``bounded`` by; an action that ``never`` fired; a property that held in a ``vacuous`` way;
    ``nothing`` was checked; what the text of the ``spec`` gives reason for; what to know of the
    ``search``; and of ``saving`` its results.
    """

    kind: NoticeKind
    subject: str
    text: str
    span: Span | None = None


@dataclass(frozen=True)
class Evidence:
    """See the fields.

    ``collision`` is the probability that two different states were taken for one; None where states
    are compared whole. ``bounds`` says in words what limited the search. ``unchecked`` are
    properties that nobody looked at, with the reason. ``expectation`` is None where nothing of it
    was compared; ``left_out`` is what it speaks of and nobody asked for. ``hidden`` are
    fields that the view left out.
    ``compared`` names the fields through which each refinement was decided.
    ``symmetry`` says in words who changes places, and how many states the orbits stand for.
    ``fields`` are those that make the states, as far as that was counted, the most first.
    ``unfinished``: a bound ended what came after the search.
    """

    options: CheckOptions = field(default_factory=CheckOptions)
    stopped: StoppedBy | None = None
    bounds: tuple[str, ...] = ()
    levels: tuple[int, ...] = ()
    queue: int = 0
    violations: tuple[Violation, ...] = ()
    failure: Failure | None = None
    witnesses: tuple[tuple[str, int], ...] = ()
    unreached: tuple[str, ...] = ()
    unchecked: tuple[tuple[str, str], ...] = ()
    never: tuple[NeverFired, ...] = ()
    cut: Mapping[str, int] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    collision: float | None = None
    fairness: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    symmetry: tuple[str, ...] = ()
    fields: tuple[FieldCost, ...] = ()
    expectation: Expectation | None = None
    unexpected: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    statistics: Mapping[str, Any] = field(default_factory=dict)
    graph: Graph | None = None
    compared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    warnings: tuple[Notice, ...] = ()
    folder: str | None = None
    command: tuple[str, ...] = ()
    unfinished: bool = False

    @property
    def cut_short(self) -> bool:
        """Return whether a limit ended the run at a point that nobody chose."""
        return from_outside(self.stopped) or self.unfinished

    @property
    def error(self) -> Notice | None:
        """Return what ended the run, if it was an error."""
        return next((n for n in self.warnings if n.kind == "error"), None)


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
    """Return an exception of the spec, repeated to learn where it was raised."""
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
    """Return the ``assert`` that a step failed, and why it is false."""
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
    """Return an exception in words."""
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
    """Return the places of a traceback that lie in the spec's files, innermost last, repeats
    left out.
    """
    places: dict[Span, None] = {}
    trace = error.__traceback__ if error is not None else None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file in model.sources:
            places[Span(file, trace.tb_lineno)] = None
        trace = trace.tb_next
    return tuple(places)[-8:]


def _within_itself(error: BaseException, model: Model) -> str:
    """Return the mutant that was called while it ran, if one was."""
    frames = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    names = [code.co_name for code in frames if code.co_filename in model.sources]
    return next((mutant for mutant in model.mutants if names.count(mutant) > 1), "")


def raised_in(model: Model, state: Any, before: Any) -> tuple[str, BaseException] | None:
    """Return which property raises in a state (or in the step to it from ``before``), and what."""
    kinds = (
        ("the property", sorted(model.properties, key=lambda p: not p.of_kind.searched)),
        ("the constraint", (*model.constraints, *model.step_constraints)),
        ("the assumption", model.assumptions),
        ("the terminal predicate", model.terminal),
    )
    for word, properties in kinds:
        for prop in (unit for p in properties for unit in p.units):
            on_step = prop.of_kind.of_steps
            if on_step and before is None:
                continue
            old = PlainView(before) if on_step and before is not None else None
            for predicate in (prop.whole, *([prop.premise] if prop.premise else [])):
                try:
                    model.holds(predicate, PlainView(state), old)
                except (Exception, Disabled) as error:
                    return f"in {word} '{prop.name}'", error
    return None
