"""Traces: what happened, step by step, with the whole state at each point.

A `Trace` is made by repeating steps over a plain View from an initial state of the model, so what
it shows is what the spec does, whichever engine found the way.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import groupby, pairwise
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from statewalk.checker.contract.late import ShownPage, named
from statewalk.checker.machine.turns import in_turn
from statewalk.checker.states.attempts import unrepeatable
from statewalk.checker.states.content import (
    Content,
    choice_shown,
    choice_text,
    content_of,
    short_names,
    show_field,
)
from statewalk.checker.states.diff import Change, changes
from statewalk.checker.states.shortening import fit, fit_in_lines, text_of
from statewalk.checker.traces.clauses import Reason
from statewalk.dsl.declared import Fairness
from statewalk.dsl.errors import StatewalkError, printable
from statewalk.dsl.kinds import OfKind
from statewalk.dsl.state.plain_view import PlainView, apply_writes
from statewalk.dsl.values.stored import freeze
from statewalk.dsl.view import Disabled

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Finding
    from statewalk.dsl.model import Action, Model
    from statewalk.dsl.view import State


_NOTEBOOK = "statewalk.checker.traces.exports.notebook"
_PICTURES = "statewalk.checker.traces.exports.pictures"
_LOOP = 40  # characters of the value of a comprehension's variable


@dataclass(frozen=True)
class Choice:
    """An option taken: which (counted from 0) of how many, its value, and the name it was given.

    In a comprehension the name tells the element: ``i=1``.
    """

    index: int
    options: int
    value: Any
    name: str = ""

    def __str__(self) -> str:
        return choice_text(self.name, text_of(self.value))


@dataclass(frozen=True)
class TraceStep:
    """One transition. ``completed`` is false for a last step that the spec could not finish.

    ``only`` are the choices that had one option: shown, but nothing that a step is repeated by.
    ``made`` are all, those without a name too, in order; no file has them.
    """

    action: str
    index: int
    actor: Any | None
    arguments: tuple[tuple[str, Any], ...]
    choices: tuple[Choice, ...]
    completed: bool = True
    file: str = ""
    line: int = 0
    returned: Any = None
    only: tuple[Choice, ...] = ()
    made: tuple[Choice, ...] = field(default=(), compare=False, repr=False)

    @property
    def call(self) -> str:
        """``send(broker=Broker#1)``; without arguments ``send``."""
        shown = ", ".join(f"{n}={text_of(v)}" for n, v in self.arguments)
        return f"{self.action}({shown})" if shown else self.action

    @property
    def label(self) -> str:
        """``Client#0 · send(broker=Broker#1) · tid=0``"""
        actor = [text_of(self.actor)] if self.actor is not None else []
        named = [*self.choices, *self.only]
        chosen = [", ".join(map(str, named))] if named else []
        return " · ".join([*actor, self.call, *chosen])


@dataclass(frozen=True)
class Abstract:
    """A trace as the model sees it that it is to refine: of each state, the fields looked at there.

    ``allowed`` is what would be possible instead of the last step. Where the model allows all of
    it, ``breaks`` is the property of that model that it violates.
    """

    name: str
    contents: tuple[Content, ...]
    allowed: tuple[str, ...] = ()
    breaks: str = ""

    @property
    def seen(self) -> tuple[tuple[int, tuple[Change, ...]], ...]:
        """The steps that change something there, by number, with the changes."""
        moves = enumerate(pairwise(self.contents), 1)
        told = [(number, tuple(changes(*pair))) for number, pair in moves]
        return tuple((number, found) for number, found in told if found)


@dataclass(frozen=True, repr=False)
class Trace(OfKind):
    """A finite sequence of states and steps: ``contents[i]`` is the state before ``steps[i]``.

    ``loop`` is the index of the state to which the last step of a lasso returns. ``truths`` holds
    the truth of properties in each state. ``error`` is the exception that ended it; an incomplete
    last step has no successor. ``names`` shows shared state, ``abstract`` the refined view,
    ``reason`` why it is a counterexample. ``model`` took the steps; a trace from a file has none.
    """

    spec: str
    constants: Mapping[str, Any]
    sources: Mapping[str, str]
    property: str
    kind: str
    contents: tuple[Content, ...]
    steps: tuple[TraceStep, ...]
    initial: int = 0
    loop: int | None = None
    error: str = ""
    error_type: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    truths: Mapping[str, Truth] = field(default_factory=dict)
    abstract: Abstract | None = None
    reason: Reason | None = None
    classes: Mapping[str, type] = field(default_factory=dict, compare=False, repr=False)
    file: FilePath | None = field(default=None, compare=False)
    model: Model | None = field(default=None, compare=False, repr=False)

    @builtins.property
    def length(self) -> int:
        """Transitions, one that could not be completed included."""
        return len(self.steps)

    @builtins.property
    def last(self) -> Content:
        """The state at the end."""
        return self.contents[-1]

    @cached_property
    def states(self) -> tuple[TraceState, ...]:
        """The states as they are to be looked at: ``trace.states[2]["Client#0.inbox"]``."""
        return tuple(
            TraceState(at, found, self.names, self) for at, found in enumerate(self.contents)
        )

    @cached_property
    @in_turn
    def diffs(self) -> tuple[tuple[Change, ...], ...]:
        """Per step, what it changed."""
        pairs = zip(self.contents, self.contents[1:], strict=False)
        found = [tuple(changes(a, b, self.names)) for a, b in pairs]
        return (*found, *(() for _ in range(len(self.steps) - len(found))))

    def __iter__(self) -> Iterator[tuple[TraceStep, tuple[Change, ...]]]:
        return iter(zip(self.steps, self.diffs, strict=True))

    def __len__(self) -> int:
        return self.length

    def __bool__(self) -> bool:
        return True  # also where nothing had to happen

    def __str__(self) -> str:
        """Return the steps, a line each, with what they changed below; reports show more."""
        lines = ["0  init" + (f" ({self.initial + 1})" if self.initial else "")]
        for number, (step, found) in enumerate(self, 1):
            lines += [f"{number}  {step.label}", *(f"     {change}" for change in found)]
        return "\n".join(printable(line) for line in [*lines, self.error] if line)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a table and a diagram, without scripts."""
        return str(named(_NOTEBOOK, "html_of")(self))

    def _repr_markdown_(self) -> str:
        """Return the same as Markdown."""
        return str(named(_PICTURES, "fenced")(str(self)))

    def explore(self) -> ShownPage:
        """Return the page to look at, within a notebook."""
        page: ShownPage = named("statewalk.checker.page.html", "page")(self)
        return page


class TellingView(PlainView):
    """A plain view that also notes choices, by both of their names: for logs, and as a trace tells
    them. Those at the places ``alone`` had one option.
    """

    __slots__ = ("alone", "model", "told")

    def __init__(self, base: State, script: Sequence[int], model: Model) -> None:
        super().__init__(base, script)
        self.model = model
        self.told: list[tuple[Choice, Choice]] = []
        self.alone: list[int] = []

    def choose(self, options: Sequence[Any], fair: Fairness = "none") -> Any:
        """As in `PlainView`; notes the names at the innermost line of the spec that asks."""
        chosen = super().choose(options, fair)
        self._tell(*self.choices[-1], self.chosen[-1])
        return chosen

    def only(self, option: Any) -> None:
        """Notes a choice with one option, which is none to repeat a step by."""
        self.alone.append(len(self.told))
        self._tell(0, 1, freeze(option))

    def _tell(self, index: int, of: int, value: Any) -> None:
        given, told = (
            Choice(index, of, *choice_shown(self.model, value, name)) for name in self._names()
        )
        self.told.append((given, told))

    def _names(self) -> tuple[str, str]:
        frame = sys._getframe(2)
        while frame.f_back is not None and frame.f_code.co_filename not in self.model.sources:
            frame = frame.f_back
        place = frame.f_code.co_filename, frame.f_lineno
        given = self.model.choice_names.get(place, "")
        loops, values = self.model.choice_loops.get(place, ()), frame.f_locals
        if not loops or any(name not in values for name in loops):
            return given, given
        told = ", ".join(f"{name}={fit(values[name], _LOOP)}" for name in loops)
        return given, told if len(loops) == 1 else f"({told})"


def said_of(error: BaseException | None) -> str:
    """Return what a trace tells of an exception: of an error of ours one line, as the report tells
    it.
    """
    if isinstance(error, StatewalkError):
        return error.one_line
    return str(error) if error else ""


@dataclass(frozen=True)
class Taken:
    """The result of taking a step in a state: the state after it, or why there is none."""

    step: TraceStep
    state: dict[Any, Any] | None
    error: BaseException | None = None


def take_step(model: Model, state: State, action: Action, choices: Sequence[int]) -> Taken | None:
    """Take one step in a state; None where it is not possible there."""
    view = TellingView(state, choices, model)
    error: BaseException | None = None
    returned: Any = None
    try:
        returned = model.take(action, view)
    except Disabled:
        return None
    except Exception as raised:
        error = raised
    if tuple(index for index, _ in view.choices) != tuple(choices):
        return None
    made = tuple(told for _, told in view.told)
    unnamed = ("", "statement") if model.dialect == "python" else {c.name for c in made}
    step = TraceStep(
        action.name,
        action.index,
        action.actor,
        action.arguments,
        tuple(choice for at, choice in enumerate(made) if at not in view.alone),
        error is None,
        action.span.file if action.span else "",
        action.span.line if action.span else 0,
        returned,
        tuple(made[at] for at in view.alone if made[at].name not in unnamed),
        made,
    )
    return Taken(step, None if error else apply_writes(state, view.writes), error)


def build(model: Model, finding: Finding, loop: int | None = None, *, told: bool = True) -> Trace:
    """Return the trace of a finding; unless ``told``, without what properties say along it.

    Raises:  EngineError[SW903] when the spec does not go that way
    """
    state = dict(model.initial_states[finding.initial])
    states = [state]
    steps: list[TraceStep] = []
    error = finding.error
    wanted = [*finding.steps, *([finding.failing] if finding.failing else [])]
    for number, step in enumerate(wanted):
        action = model.actions[step.action]
        taken = take_step(model, state, action, step.choices)
        failing = finding.failing is not None and number == len(wanted) - 1
        if taken is None or (taken.state is None and not failing):
            raise unrepeatable(
                "SW903",
                f"Step {number + 1} of the trace of {finding.property}, {action.label}, cannot be "
                "repeated.",
            )
        steps.append(taken.step)
        if taken.state is not None:
            state = taken.state
            states.append(state)
        error = taken.error or error
    return Trace(
        spec=model.path,
        constants=model.constants,
        sources=model.origins,
        property=finding.property,
        kind=finding.kind,
        contents=tuple(content_of(model, s) for s in states),
        steps=tuple(steps),
        initial=finding.initial,
        loop=loop,
        error=said_of(error),
        error_type=type(error).__name__ if error else "",
        names=short_names(model),
        truths=truths(model, states) if told else {},
        classes=model.classes,
        model=model,
    )


def final_states(model: Model, finding: Finding) -> tuple[State, State]:
    """Return the last state of a finding's trace that was completed, and the one before it."""
    states = states_of(model, finding)
    return states[-1], states[max(0, len(states) - 2)]


def states_of(model: Model, finding: Finding) -> list[State]:
    """Return the states of a finding's trace, as far as it was completed."""
    states: list[State] = [model.initial_states[finding.initial]]
    for step in [*finding.steps, *([finding.failing] if finding.failing else [])]:
        taken = take_step(model, states[-1], model.actions[step.action], step.choices)
        if taken is None or taken.state is None:
            break
        states.append(taken.state)
    return states


_LEFT = ' style="text-align: left"'  # notebooks align cells themselves


class TraceState(Mapping[str, Any]):
    """A state by the names of its fields, as reports show them: ``state["Client#0.inbox"]``."""

    def __init__(
        self, at: int, content: Content, names: Mapping[str, str], trace: Trace | None = None
    ) -> None:
        self.at = at
        self._trace = trace
        self._fields = {show_field(path, names): value for path, value in content.items()}

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __str__(self) -> str:
        wide = max(map(len, self), default=0)
        lines = (f"{name:<{wide}}  {text_of(value)}" for name, value in self.items())
        return "\n".join(printable(line) for line in lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td{_LEFT}>{_safe(name)}</td>"
            f"<td{_LEFT}><code>{_safe(text_of(value))}</code></td></tr>"
            for name, value in self.items()
        )
        drawn = named(_NOTEBOOK, "pictures_at")(self._trace, self.at) if self._trace else ""
        return f"<p>state {self.at}</p>{drawn}<table>{rows}</table>"

    def _repr_markdown_(self) -> str:
        lines = [f"| state {self.at} | |", "| --- | --- |"]
        lines += [f"| {_cell(name)} | {_cell(text_of(value))} |" for name, value in self.items()]
        return "\n".join(lines) + "\n"


def _safe(text: str) -> str:
    return escape(printable(text))


def _cell(text: str) -> str:
    """Return a text in a table of Markdown: nothing in it ends the cell or is markup."""
    found = _safe(text)
    for sign in "\\`*_[]|~":
        found = found.replace(sign, f"&#{ord(sign)};")
    return found


Truth = tuple[bool | None, ...]
"""Per state of a trace; None where the property raises, or where there is no step to speak of"""


def truths(model: Model, states: Sequence[State]) -> dict[str, Truth]:
    """Per property its truth in each of these states.

    A property of steps has it at the state that the step leads to. Of a liveness property it is
    what should come true in the end; its premise, if it has one, is listed apart.
    """
    found: dict[str, Truth] = {}
    for prop in (unit for p in model.properties for unit in p.units):
        if prop.of_kind.over == "specs":  # true of behaviors only
            continue
        on_step = prop.of_kind.of_steps
        predicates = {prop.name: prop.whole}
        if prop.premise is not None:
            predicates = {f"{prop.name} (premise)": prop.premise, **predicates}
        for name, predicate in predicates.items():
            values: list[bool | None] = []
            for at, state in enumerate(states):
                before = states[at - 1] if on_step and at else None
                try:
                    values.append(
                        None
                        if on_step and before is None
                        else model.holds(
                            predicate,
                            PlainView(state),
                            PlainView(before) if before is not None else None,
                        )
                    )
                except Exception:
                    values.append(None)
            found[name] = tuple(values)
    return found


def runs(truth: Truth) -> Mapping[bool, list[str]]:
    """Return where a property is true and where false, as ``0-3`` and ``5``."""
    result: dict[bool, list[str]] = {True: [], False: []}
    for value, (first, last) in _stretches(truth):
        if value is not None:
            result[value].append(str(first) if first == last else f"{first}-{last}")
    return result


def _stretches(truth: Truth) -> Iterator[tuple[bool | None, tuple[int, int]]]:
    for value, group in groupby(enumerate(truth), key=lambda pair: pair[1]):
        places = [at for at, _ in group]
        yield value, (places[0], places[-1])


_LABEL, _ONLY = 240, 60  # characters of a choice, and of one that had no other option
Part = tuple[str, str]
"""A text, and what it is: "actor", "action", or anything else ("")."""


def label_of(trace: Trace, step: TraceStep) -> str:
    """Return a step on one line."""
    return "".join(text for text, _ in label_parts(trace, step))


def label_parts(trace: Trace, step: TraceStep, only: int = _ONLY) -> list[Part]:
    """Return the parts of a step's line; choices with no other option have ``only`` characters."""
    parts: list[Part] = []
    actor = "" if step.actor is None else repr(step.actor)
    if actor := trace.names.get(actor.partition("#")[0], actor):
        parts += [(actor, "actor"), (" · ", "dim")]
    arguments = ", ".join(f"{n}={_chosen(v)}" for n, v in step.arguments)
    parts.append((step.action, "action"))
    if arguments:
        parts.append((f"({arguments})", ""))
    chosen = [choice_text(c.name, _chosen(c.value)) for c in step.choices]
    chosen += [choice_text(c.name, fit(c.value, only)) for c in step.only]
    if chosen:
        parts += [(" · ", "dim"), (", ".join(chosen), "")]
    return parts


def _chosen(value: Any) -> str:
    """Return what tells a step from others: broken into lines later rather than cut."""
    return fit_in_lines(value, _ONLY, _LABEL)
