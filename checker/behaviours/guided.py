"""Guided traces: follow steps that a person names, and say what was possible where that fails.

A steps file has one step per line, as reports show them, and ``#`` comments:

    Client#0 · send_init_pid(broker=Broker#0) · tid=0
    Broker#0.receive_init_pid_request
    receive_init_pid_response            # enough where only one instance can

Choices may be given by name (``tid=0``) or as ``[2]`` for the third option; the first way that fits
is taken. A trace may be copied whole from a report: then its numbered lines are the steps, and the
constants are those of its first line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from statewalk.checker.contract.search import Finding, Step
from statewalk.checker.states.attempts import attempts
from statewalk.checker.states.content import content_of
from statewalk.checker.states.diff import changes
from statewalk.checker.states.shortening import place
from statewalk.checker.traces.trace import (
    Choice,
    Taken,
    Trace,
    TraceStep,
    build,
    label_of,
    take_step,
)
from statewalk.checker.verdict.guards import guard_of

if TYPE_CHECKING:
    from statewalk.dsl.model import Action, Model

_COMMA = re.compile(r", (?=\(?[\w.]+=)")  # and not within brackets
_ACTOR = re.compile(r"\w+#\d+")
_NUMBERED = re.compile(r"^!? *\d+  (\S.*)$")
_GOES_ON = re.compile(r"^ {7}(\S.*)$")
_INIT = "init"
_START = re.compile(r"init(?: \((\d+)\))?(?:  .*)?$")
_CONSTANTS = re.compile(r"^!? *0  init(?: \(\d+\))?  (?=\S)")
_CONSTANT = re.compile(r"[A-Za-z_][\w.]*=")


@dataclass(frozen=True)
class Wanted:
    """A line of a steps file: the action as written, and the choices asked for."""

    text: str
    line: int
    action: str
    choices: tuple[str, ...]


@dataclass
class Guided:
    """The end of a followed trace: the steps taken, the state reached, and the line that failed."""

    model: Model
    steps: list[Step] = field(default_factory=list)
    state: Any = None
    initial: int = 0
    failed: Wanted | None = None
    why: str = ""

    def trace(self) -> Trace:
        """Return the steps taken, as a trace."""
        return build(self.model, Finding("guided", "exists", self.initial, tuple(self.steps)))


def read_steps(text: str) -> list[Wanted]:
    """Return the steps that a file names."""
    lines = list(enumerate(text.splitlines(), 1))
    numbered: list[tuple[int, str]] = []
    for number, line in lines:
        if (match := _NUMBERED.match(line)) is not None:
            numbered.append((number, match[1]))
        elif numbered and (match := _GOES_ON.match(line)) is not None:  # it was too long for a line
            first, begun = numbered[-1]
            numbered[-1] = (first, f"{begun} {match[1]}")
    found = []
    for number, line in numbered or lines:
        content = line.split(" #", 1)[0] if not line.lstrip().startswith("#") else ""
        content = content.strip()
        if numbered:  # what a step changes may stand beside it
            content = content.split("   ", 1)[0]
        if content:
            found.append(_wanted(content, number))
    return found


def read_constants(text: str) -> list[str]:
    """Return the constants that a trace copied from a report was made with, each as NAME=VALUE."""
    lines = text.splitlines()
    start = next(((i, m) for i, line in enumerate(lines) if (m := _CONSTANTS.match(line))), None)
    if start is None:
        return []
    column = start[1].end()
    words = lines[start[0]][column:].split()
    for line in lines[start[0] + 1 :]:
        if line[:column].strip() or not line[column:].strip():
            break
        words += line.split()
    found: list[list[str]] = []
    left = 0
    for word in words:
        if found and (left or not _CONSTANT.match(word)):
            found[-1].append(word)
            left += _open(word)
        else:
            found.append([word])
            left = _open(word)
    return [" ".join(constant) for constant in found]


def _wanted(content: str, number: int) -> Wanted:
    if (start := _START.match(content)) is not None:
        return Wanted(content, number, _INIT, (start[1] or "1",))
    parts = content.split(" · ")
    if len(parts) == 1:
        action, *choices = _whole(content.split(), " ")
        return Wanted(content, number, action, tuple(choices))
    has_actor = "(" not in parts[0] and _ACTOR.fullmatch(parts[0]) is not None
    action = ".".join(parts[: 1 + has_actor])
    choices = [c for part in parts[1 + has_actor :] for c in _whole(_COMMA.split(part), ", ")]
    return Wanted(content, number, action, tuple(choices))


def _whole(parts: Iterable[str], glue: str) -> Iterator[str]:
    """Join parts as long as a bracket is open: a value has spaces and commas of its own."""
    begun: list[str] = []
    left = 0
    for part in parts:
        begun.append(part)
        left += _open(part)
        if not left:
            yield glue.join(begun)
            begun = []
    if begun:
        yield glue.join(begun)


def _open(text: str) -> int:
    """Return how many more brackets are opened in a text than closed."""
    return sum(text.count(c) for c in "([{") - sum(text.count(c) for c in ")]}")


def follow(model: Model, wanted: Sequence[Wanted]) -> Guided:
    """Take the wanted steps from the first initial state, as far as that goes."""
    guided = Guided(model, state=dict(model.initial_states[0]))
    shown = guided.trace()  # says how roles are shown
    for at, one in enumerate(wanted):
        if one.action == _INIT and at == 0 and int(one.choices[0]) <= len(model.initial_states):
            guided.initial = int(one.choices[0]) - 1
            guided.state = dict(model.initial_states[guided.initial])
            continue
        taken = _as_shown(model, shown, guided.state, one) or _take(model, guided.state, one)
        if isinstance(taken, str):
            guided.failed, guided.why = one, taken
            return guided
        step, after = taken
        guided.steps.append(step)
        guided.state = after
    return guided


def _as_shown(model: Model, trace: Trace, state: Any, wanted: Wanted) -> tuple[Step, Any] | None:
    """Return the step that a report would show like this, its choices left out perhaps."""
    first: tuple[Step, Any] | None = None
    for action in model.actions:
        for choices, taken in ways(model, state, action):
            if taken.error is not None:
                continue
            found, less = taken.step, replace(taken.step, choices=())
            if wanted.text in (found.label, label_of(trace, found)):
                return Step(action.index, choices), taken.state
            if wanted.text in (less.label, label_of(trace, less)):
                first = first or (Step(action.index, choices), taken.state)
    return first


def _named(model: Model, name: str) -> list[Action]:
    """Return the action instances that a name may mean."""
    whole = [a for a in model.actions if a.label == name]
    return whole or [
        a
        for a in model.actions
        if name in (a.name, a.label.partition("(")[0]) or a.label.endswith("." + name)
    ]


def _take(model: Model, state: Any, wanted: Wanted) -> tuple[Step, Any] | str:
    """Return the step taken and the state after it, or why there is none."""
    actions = _named(model, wanted.action)
    if not actions:
        return f"there is no action {wanted.action}"
    reason = ""
    for action in actions:
        for choices, taken in ways(model, state, action):
            if taken.error is not None:
                reason = f"it raises {type(taken.error).__name__}: {taken.error}"
            elif _makes(taken.step, wanted.choices):
                return Step(action.index, choices), taken.state
            else:
                reason = "no way of taking it makes the choices " + " ".join(wanted.choices)
                if not taken.step.choices:
                    reason = "it has no choice to make here: leave out " + " ".join(wanted.choices)
        guard = guard_of(model, action, state)
        if guard is not None and not reason:
            because = f", with {guard.shown}" if guard.shown else ""
            where = f" ({place(guard.file, guard.line)})" if guard.file else ""
            reason = f"{action.label}: {guard.said}{where and f' {guard.fails}'}{because}{where}"
    return reason or "it is disabled here"


def ways(model: Model, state: Any, action: Action) -> Iterator[tuple[tuple[int, ...], Taken]]:
    """Every way an action can go in a state."""
    for attempt in attempts(model, action, state):
        taken = take_step(model, state, action, attempt.choices)
        if taken is not None:
            yield attempt.choices, taken


def _makes(step: TraceStep, wanted: Sequence[str]) -> bool:
    """Return whether a step makes these choices; those of one name in this order."""
    last: dict[str, int] = {}
    for text in wanted:
        found = (
            at
            for at, choice in enumerate(step.made)
            if at > last.get(choice.name, -1) and _fits(step, choice, text)
        )
        if (at := next(found, None)) is None:
            return False
        last[step.made[at].name] = at
    return True


def _fits(step: TraceStep, choice: Choice, wanted: str) -> bool:
    if re.fullmatch(r"\[\d+\]", wanted):
        return choice in step.choices and choice.index == int(wanted[1:-1])
    name, _, value = wanted.partition("=")
    shown = repr(choice.value).strip("'")
    return (
        (choice.name in (name, f"self.{name}") and shown == value.strip("'"))
        or (not value and shown == wanted.strip("'"))
        or str(choice) == wanted
    )


def possible(model: Model, state: Any) -> list[Taken]:
    """Return every step that is possible in a state, in the order of actions and choices."""
    return [taken for action in model.actions for _, taken in ways(model, state, action)]


def extension(model: Model, state: Any, depth: int, limit: int = 200) -> Iterator[str]:
    """Yield what comes next, ``depth`` steps far, a line per step; at most ``limit`` lines."""
    left = [limit]
    yield from _extended(model, state, depth, "", left)
    if left[0] <= 0:
        yield f"... (only the first {limit} are shown)"


def _extended(model: Model, state: Any, depth: int, indent: str, left: list[int]) -> Iterator[str]:
    if not depth:
        return
    for taken in possible(model, state):
        if left[0] <= 0:
            return
        left[0] -= 1
        if taken.state is None:
            yield f"{indent}{taken.step.label}   raises {type(taken.error).__name__}"
            continue
        before, after = content_of(model, state), content_of(model, taken.state)
        changed = "; ".join(str(c) for c in changes(before, after)) or "changes nothing"
        yield f"{indent}{taken.step.label}   {changed}"
        yield from _extended(model, taken.state, depth - 1, indent + "    ", left)
