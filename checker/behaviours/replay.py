"""Repeating a saved trace: either it happens again, state by state, or it is said where and why
not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.contract.search import ASSERTION, DEADLOCK, NO_ERROR
from statewalk.checker.library import spec_path
from statewalk.checker.liveness.conditions import why_not
from statewalk.checker.machine.turns import in_turn
from statewalk.checker.refinement.in_a_check import why_not_refused
from statewalk.checker.states.content import Content, constants_of, content_of, short_names
from statewalk.checker.states.diff import Change, alike_state, by_names, changes
from statewalk.checker.states.shortening import place
from statewalk.checker.traces.file import check_constants
from statewalk.checker.traces.trace import Trace, TraceStep, said_of, take_step, truths
from statewalk.checker.verdict.evidence import raised_in
from statewalk.checker.verdict.guards import guard_of
from statewalk.dsl.errors import RunError, StatewalkError, did_you_mean, quote
from statewalk.dsl.loader import load
from statewalk.dsl.origins import by_name
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.values.stored import FrozenDict, FrozenList, same_state

if TYPE_CHECKING:
    from statewalk.dsl.model import Action, Model
    from statewalk.dsl.view import Path as FieldPath
    from statewalk.dsl.view import State


# Traces of comparisons and logs: they show steps, and no property.
_STEPS_ALONE = {"beside", "conform", "followed", "only", "refinement", "step"}
_BUILT_IN = {"deadlock": DEADLOCK, "error": NO_ERROR, "assertion": ASSERTION}


@dataclass(frozen=True)
class Replay:
    """The result of a replay. It is true if the spec ``reproduced`` the trace.

    ``step`` is the first that diverges, counted from 0 = the initial state, or None.
    ``differences`` are changes from the trace's state to the spec's there. ``changed`` lists
    changed files of the spec; ``states`` are the states of a whole replay.
    """

    trace: Trace
    spec: str
    step: int | None = None
    why: str = ""
    differences: tuple[Change, ...] = ()
    changed: tuple[str, ...] = ()
    still: bool | None = None
    states: tuple[State, ...] = ()

    @property
    def reproduced(self) -> bool:
        """Return whether the spec goes the whole way, and the property still fails (or is reached)
        at its end.
        """
        return self.step is None

    def __bool__(self) -> bool:
        return self.reproduced


@in_turn
def replay(trace: Trace | str | Path, spec: str | Path | Model | None = None) -> Replay:
    """Replay a trace on its spec, or on another.

    Raises:  RunError for a trace that cannot be read or is of another spec; errors of `load`.
    """
    from statewalk.dsl.model import Model

    if not isinstance(trace, Trace):
        from statewalk.checker.traces.reading import load_trace  # takes long to load

        trace = load_trace(trace)
    if isinstance(spec, Model):
        return _replay(trace, spec)
    return _replay(trace, model_for(trace, str(spec) if spec is not None else None))


def model_for(trace: Trace, spec: str | None, *, listed: bool = False) -> Model:
    """Return the model of a trace, with the trace's constants; ``listed``: see
    `checker.api.load`.
    """
    path = spec_path(spec) if spec is not None else trace.spec
    if not Path(path).exists():
        at = f"\nThe trace was made from {trace.spec}." if spec is not None else ""
        raise RunError(
            "SW405",
            f"The spec of the trace, {path}, is not there.",
            help="Name it with --spec, or run the command where the check ran." + at,
        )
    try:
        check_constants(trace)
        return load(path, trace.constants, listed=listed)
    except StatewalkError as error:
        if error.code == "SW301":
            raise another_spec(trace, path, error.message) from None
        raise


def another_spec(trace: Trace, path: str, why: str) -> RunError:
    """Return the error of a trace that a spec has nothing to do with."""
    return RunError(
        "SW405",
        f"The trace is not of {path}: {why}",
        why=f"It was made from {trace.spec}.",
        help=f"Replay it with --spec {trace.spec}.",
    )


def _replay(trace: Trace, model: Model) -> Replay:
    quote(model.texts)
    changed = _changed(trace, model)
    moved = Moved(bool(changed))
    both = _Both.of(trace, model)
    start = _initial(trace, model, changed, both)
    if isinstance(start, Replay):
        return start
    state: State = model.initial_states[start]
    states, steps, error = [state], list[TraceStep](), trace.error
    ended: BaseException | None = None  # what the last step raised
    for number, step in enumerate(trace.steps, 1):

        def differs(why: str, differences: tuple[Change, ...] = (), number: int = number) -> Replay:
            return Replay(trace, model.path, number, why, differences, changed)

        action = action_of(model, step)
        if action is None:
            return differs(f"the spec has no action {step.label}. {_near(model, step)}")
        taken = take_step(model, state, action, [c.index for c in step.choices])
        if taken is None:
            return differs(_impossible(model, action, state, step))
        if taken.state is None and step.completed:
            return differs(f"{step.label} raises {_told(taken.error)}")
        if taken.state is not None and not step.completed:
            return differs(f"{step.label} no longer raises {trace.error_type}")
        if taken.state is None and type(taken.error).__name__ != trace.error_type:
            raised = f"raises {_told(taken.error)}, in the trace {trace.error_type}"
            return differs(f"{step.label} {raised}")
        if _values(step, taken.step, moved) != _values(taken.step):
            return differs(f"the spec chooses otherwise: {taken.step.label}, not {step.label}")
        steps.append(taken.step)
        if taken.state is None:
            error, ended = said_of(taken.error), taken.error
            break
        state = taken.state
        states.append(state)
        content = both.of_spec(state)
        before = moved.content(both.of_trace(number, states[0]), content)
        if not alike_state(content, before):
            found = tuple(changes(before, content, trace.names))
            return differs(f"{step.label} leads to another state", found)
    expanded = len(states) - _ends_when_reached(trace)
    at, why = _first_cut(model, states, expanded)
    if why:
        return Replay(trace, model.path, at, why, (), changed)
    why = _why_no_more(trace, model, states, ended)
    if why:
        why = f"every step happens again, but {why}"
        return Replay(trace, model.path, trace.length, why, (), changed, False)
    known = None if trace.error_type or _shows_steps(trace, model) else True
    happened = replace(
        trace, initial=start, steps=tuple(steps), error=error, truths=truths(model, states),
        names=short_names(model),
    )  # fmt: skip
    return Replay(happened, model.path, changed=changed, still=known, states=tuple(states))


def _changed(trace: Trace, model: Model) -> tuple[str, ...]:
    """Return the spec's files whose text differs from when the trace was made."""

    def texts(sources: Mapping[str, str], main: str) -> dict[str, str]:
        helpers = {f: digest for f, digest in sources.items() if f != main}
        return {"": sources.get(main, ""), **by_name(helpers)}

    old, new = texts(trace.sources, trace.spec), texts(model.origins, model.path)
    differ = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    return tuple(name or model.path for name in differ)


def _values(step: TraceStep, now: TraceStep | None = None, moved: Moved | None = None) -> bytes:
    """Return what was chosen in a step; with lines where they are ``now``."""
    values = [c.value for c in step.choices]
    if now is not None and moved is not None and len(values) == len(now.choices):
        of = (step.action,)
        values = [moved.value(v, c.value, of) for v, c in zip(values, now.choices, strict=True)]
    return by_names(tuple(values))


@dataclass(frozen=True)
class _Both:
    """The fields that a trace and a spec are compared by.

    A trace records no field that was constant in the spec which made it. ``paths`` are those that
    it has in some state, ``constants`` the spec's values of those of them that it never changes.
    """

    trace: Trace
    model: Model
    paths: Set[FieldPath]
    constants: Content

    @classmethod
    def of(cls, trace: Trace, model: Model) -> _Both:
        """Return those of a trace and a spec."""
        paths = {path for content in trace.contents for path in content}
        fixed = {path: v for path, v in constants_of(model).items() if path in paths}
        return cls(trace, model, paths, fixed)

    def of_spec(self, state: State) -> Content:
        """Return the content of a state of the spec."""
        return {**self.constants, **content_of(self.model, state)}

    def of_trace(self, number: int, start: State) -> Content:
        """Return the content of a state of the trace. A field that it does not record was constant,
        so it has the value that it has in the initial state of the spec, ``start``.
        """
        there = {path[:2] for path in self.paths}
        owners = {path[0] for path in self.paths}
        constant = {
            path: value
            for path, value in content_of(self.model, start).items()
            if path not in self.paths and (path[:2] in there or path[0] not in owners)
        }
        return {**constant, **self.trace.contents[number]}


def _initial(trace: Trace, model: Model, changed: tuple[str, ...], both: _Both) -> int | Replay:
    """Return the place of the initial state with the content that the trace begins with."""
    contents = [both.of_spec(state) for state in model.initial_states]
    order = sorted(range(len(contents)), key=lambda i: i != trace.initial)
    for index in order:
        if alike_state(contents[index], both.of_trace(0, model.initial_states[index])):
            return index
    known = {path[0] for path in trace.contents[0]} & {path[0] for path in contents[0]}
    if not known and trace.contents[0]:
        raise another_spec(trace, model.path, "they have no role in common.")
    nearest = contents[order[0]]
    begins = both.of_trace(0, model.initial_states[order[0]])
    found = tuple(changes(begins, nearest, trace.names))
    return Replay(trace, model.path, 0, "the initial state differs", found, changed)


def action_of(model: Model, step: TraceStep) -> Action | None:
    """Return the action instance of a step, by its name, actor and arguments: also in another
    model.
    """
    names = [name for name, _ in step.arguments]

    def identity(actor: Any, arguments: tuple[tuple[str, Any], ...]) -> bytes:
        named = dict(arguments)
        by_name = named.keys() == set(names)  # parameters of other names go by position
        values = [named[n] for n in names] if by_name else [value for _, value in arguments]
        return by_names((actor, tuple(values)))

    wanted = identity(step.actor, step.arguments)
    for action in model.actions:
        if action.name == step.action and identity(action.actor, action.arguments) == wanted:
            return action
    return None


def _near(model: Model, step: TraceStep) -> str:
    names = dict.fromkeys(a.name for a in model.actions)
    if step.action in names:
        return "It has that action for other instances or arguments."
    return did_you_mean(step.action, names)


def _impossible(model: Model, action: Action, state: State, step: TraceStep) -> str:
    guard = guard_of(model, action, state)
    if guard is not None:
        because = f", with {guard.shown}" if guard.shown else ""
        where = f" ({place(guard.file, guard.line)}) {guard.fails}" if guard.file else ""
        return f"{step.label} is disabled: {guard.said}{where}{because}"
    return f"{step.label} is enabled, but not with these choices"


def _ends_when_reached(trace: Trace) -> bool:
    """Return whether a trace ends with a state that a check looks at and need not go on from."""
    goes_on = trace.loop is not None or trace.kind == "deadlock"
    goes_on = goes_on or trace.of_kind.over == "behaviors"
    return not goes_on and all(step.completed for step in trace.steps)


def _first_cut(model: Model, states: list[State], expanded: int) -> tuple[int, str]:
    """Return the first state that a check would not go on from, of the first so many, and why
    not; an empty text where there is none.
    """
    for at, state in enumerate(states[:expanded]):
        view = PlainView(state)
        before = PlainView(states[at - 1]) if at else None
        of_step = [(c, before) for c in model.step_constraints if before is not None]
        for constraint, earlier in [*((c, None) for c in model.constraints), *of_step]:
            what = "state" if earlier is None else "step"
            try:
                if model.holds(constraint.whole, view, earlier):
                    continue
            except Exception as error:
                return at, f"the constraint {constraint.name} raises {_told(error)}"
            return at, (
                f"the constraint {constraint.name} refuses this {what}, and a check does not go on "
                "from there"
            )
    return 0, ""


def _told(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {error}"


def _shows_steps(trace: Trace, model: Model) -> bool:
    """Return whether a trace is about no property of the spec."""
    named = any(prop.name == trace.property for prop in model.properties)
    return trace.property in _STEPS_ALONE and trace.of_kind.witness and not named


def _why_no_more(
    trace: Trace, model: Model, states: list[State], raised: BaseException | None
) -> str:
    """Return why the property does not fail (the witness is none) any more; empty where it is as it
    was, or ended with what a step raised.
    """
    state = states[-1]
    if trace.loop is not None and not (
        trace.of_kind.over in ("behaviors", "specs")
        and same_state(content_of(model, states[trace.loop]), content_of(model, state))
    ):
        return f"the last does not return to state {trace.loop}"
    if _BUILT_IN.get(trace.kind, trace.property) != trace.property:
        return f"{trace.property} is no {trace.kind}"
    if bool(trace.error_type) != (trace.kind in ("error", "assertion")) or (
        trace.error_type and (trace.kind == "assertion") != isinstance(raised, AssertionError)
    ):
        return f"{trace.error_type or 'an error'} is not what {trace.property} is about"
    if trace.error_type:
        at_last = not trace.steps[-1:] or trace.steps[-1].completed
        return _why_not_raised(trace, model, states) if at_last else ""
    if trace.kind == "deadlock":
        if not model.check_deadlock and all(p.name != DEADLOCK for p in model.properties):
            return f"the spec does not ask for {DEADLOCK}"
        return "" if deadlocked(model, state) else f"{trace.property} holds at the end"
    prop = next((p for p in model.properties if p.name == trace.property), None)
    if _shows_steps(trace, model):
        return ""
    if prop is None or prop.kind != trace.kind:
        known = [p.name for p in model.properties if p.kind == trace.kind]
        return f"the spec has no such {trace.property}. {did_you_mean(trace.property, known)}"
    kind = prop.of_kind
    try:
        if kind.over == "specs":
            return why_not_refused(model, prop, states, trace.loop)
        if kind.liveness:
            return why_not(
                model, prop, states, len(states) - 1 if trace.loop is None else trace.loop
            )
        before = PlainView(states[-2]) if kind.over == "steps" and len(states) > 1 else None
        holds = model.holds(prop.whole, PlainView(state), before)
    except Exception as error:
        return f"{trace.property} raises {_told(error)}"
    if kind.witness:
        return "" if holds else f"{trace.property} is not reached at the end"
    return "" if holds is kind.sought else f"{trace.property} holds at the end"


def deadlocked(model: Model, state: State) -> bool:
    """Return whether no step but faults is possible in a state, and it is no end."""
    if any(model.holds(t.whole, PlainView(state)) for t in model.terminal):
        return False
    return all(guard_of(model, a, state, values=False) for a in model.actions if not a.fault)


def _why_not_raised(trace: Trace, model: Model, states: list[State]) -> str:
    """Return why nothing that looks at the last state raises any more; empty where
    something does.
    """
    found = raised_in(model, states[-1], states[-2] if len(states) > 1 else None)
    if found is not None and type(found[1]).__name__ == trace.error_type:
        return ""
    return f"nothing raises {trace.error_type} at the end"


_LINE = re.compile(r"line \d+")
_AT, _WAITS = "at", " (suspended)"  # as `dsl.flows.kept` and `checker.states.content` say it


@dataclass
class Moved:
    """The mapping between old and new lines found so far: one for one, of the functions of an
    action.

    Only where the spec's text ``changed``: in a text that did not, lines are where they were.
    """

    changed: bool
    lines: dict[tuple[object, ...], str] = field(default_factory=dict)

    def content(self, old: Content, new: Content) -> Content:
        """Return an old content with its lines where they are now, as far as that can be."""
        if not self.changed:
            return old
        waits = {path for path in old if str(path[-1]).endswith(_WAITS)}
        moved = {path: self.value(old[path], new.get(path), path[:1] + path[2:]) for path in waits}
        return {**old, **moved}

    def value(self, old: Any, new: Any, of: tuple[object, ...]) -> Any:
        """Return the same of a value: of a suspended run, or of several."""
        if not self.changed or type(old) is not type(new):
            return old
        if isinstance(old, FrozenList) and len(old) == len(new):
            return FrozenList(self.value(a, b, of) for a, b in zip(old, new, strict=True))
        if isinstance(old, FrozenDict) and {_AT} <= old.keys() & new.keys():
            return FrozenDict({**old, _AT: self._at(old[_AT], new[_AT], of)})
        return old

    def _at(self, old: Any, new: Any, of: tuple[object, ...]) -> Any:
        if not (isinstance(old, str) and isinstance(new, str)):
            return old
        if _LINE.sub("", old) != _LINE.sub("", new):
            return old
        before, now = old.split(" > "), new.split(" > ")
        places = [(*of, at, _LINE.sub("", part), part) for at, part in enumerate(before)]
        known = all(self._stands_for(p, n) for p, n in zip(places, now, strict=True))
        return new if known else old

    def _stands_for(self, place: tuple[object, ...], now: str) -> bool:
        others = (n for p, n in self.lines.items() if p != place and p[:-1] == place[:-1])
        if place not in self.lines and now in others:
            return False
        return self.lines.setdefault(place, now) == now
