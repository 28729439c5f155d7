"""The states that were looked at: a tree of steps, each state made once, when it is asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from statewalk.checker.behaviours.guided import ways
from statewalk.checker.contract.search import Step
from statewalk.checker.engines.layout import Layout
from statewalk.checker.states.content import Content, content_of, short_names
from statewalk.checker.states.diff import changes
from statewalk.checker.traces.exports.layered import FOLDED, Spot, layered
from statewalk.checker.traces.trace import (
    Taken,
    Trace,
    TraceStep,
    label_of,
    said_of,
    take_step,
    truths,
)
from statewalk.checker.verdict.guards import guard_of
from statewalk.dsl.errors import RunError
from statewalk.dsl.state.plain_view import PlainView

if TYPE_CHECKING:
    from statewalk.checker.verdict.evidence import Guard
    from statewalk.dsl.model import Action, Model
    from statewalk.dsl.view import State


MOST_WAYS = 200  # of one action in a state
MOST_NODES = 20_000


@dataclass(frozen=True)
class Path:
    """A way from an initial state: which, and what was chosen at each step."""

    initial: int = 0
    steps: tuple[Step, ...] = ()


@dataclass
class Node:
    """A state that was looked at. The last of a path may have none: its step raised."""

    state: State | None
    content: Content
    truths: dict[str, bool | None]
    step: TraceStep | None = None
    error: BaseException | None = None
    children: dict[Step, Node] = field(default_factory=dict)


@dataclass(frozen=True)
class Possible:
    """A step that is possible in a state; ``cut`` names a constraint that a search stops at."""

    step: Step
    taken: Taken
    cut: str = ""


class Walk:
    """Goes through a model's states on foot."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.layout = Layout(model)
        self.names = short_names(model)
        self._forget()

    def _forget(self) -> None:
        self._roots: dict[int, Node] = {}
        self._count = 0

    def nodes(self, path: Path) -> list[Node]:
        """Return the states along a path.

        Raises RunError[SW370] where the spec does not go that way.
        """
        if self._count > MOST_NODES:
            self._forget()
        if not 0 <= path.initial < len(self.model.initial_states):
            raise off_the_way(0, f"there is no initial state {path.initial + 1}")
        if path.initial not in self._roots:
            state = self.model.initial_states[path.initial]
            self._roots[path.initial] = self._node(state, None)
        found = [self._roots[path.initial]]
        for number, step in enumerate(path.steps, 1):
            last = found[-1]
            if step not in last.children:
                last.children[step] = self._taken(last, step, number)
            found.append(last.children[step])
        return found

    def _taken(self, last: Node, step: Step, number: int) -> Node:
        if last.state is None:
            raise off_the_way(number, "the step before it raises")
        if not 0 <= step.action < len(self.model.actions):
            raise off_the_way(number, "there is no such action")
        action = self.model.actions[step.action]
        taken = take_step(self.model, last.state, action, step.choices)
        if taken is None:
            raise off_the_way(number, f"{action.label} is disabled there with these choices")
        if taken.state is None:
            return Node(None, {}, {}, taken.step, taken.error)
        node = self._node(taken.state, last.state)
        node.step = taken.step
        return node

    def _node(self, state: State, before: State | None) -> Node:
        self._count += 1
        states = [state] if before is None else [before, state]
        told = {name: values[-1] for name, values in truths(self.model, states).items()}
        return Node(state, content_of(self.model, state), told)

    def trace(self, path: Path) -> Trace:
        """Return a path as a trace, with all that is shown of one."""
        nodes = self.nodes(path)
        whole = [node for node in nodes if node.state is not None]
        error = nodes[-1].error
        return Trace(
            spec=self.model.path,
            constants=self.model.constants,
            sources=self.model.origins,
            property="",
            kind="exists",
            contents=tuple(node.content for node in whole),
            steps=tuple(node.step for node in nodes if node.step is not None),
            initial=path.initial,
            error=said_of(error),
            error_type=type(error).__name__ if error else "",
            names=self.names,
            truths={
                name: tuple(node.truths.get(name) for node in whole) for name in whole[-1].truths
            },
            classes=self.model.classes,
        )

    def state(self, path: Path) -> State:
        """Return the state at the end of a path. Raises RunError[SW370] where there is none."""
        found = self.nodes(path)[-1].state
        if found is None:
            raise off_the_way(len(path.steps), "it raises, so there is no state after it")
        return found

    def possible(self, state: State) -> tuple[list[Possible], list[Action], list[str]]:
        """Return the steps that are possible in a state, the actions that are not, and those
        of which not all ways are listed.
        """
        enabled: list[Possible] = []
        disabled: list[Action] = []
        more: list[str] = []
        for action in self.model.actions:
            found = list(islice(ways(self.model, state, action), MOST_WAYS + 1))
            if not found:
                disabled.append(action)
            if len(found) > MOST_WAYS:
                more.append(action.label)
            for choices, taken in found[:MOST_WAYS]:
                cut = "" if taken.state is None else self.cut(state, taken.state)
                enabled.append(Possible(Step(action.index, choices), taken, cut))
        return enabled, [a for a in disabled if _may_go_on(a, state)], more

    def cut(self, before: State, after: State) -> str:
        """Return the constraint that keeps a search from a step; empty where none does."""
        view, old = PlainView(after), PlainView(before)
        for prop in self.model.constraints:
            if not self.model.holds(prop.whole, view):
                return prop.name
        for prop in self.model.step_constraints:
            if not self.model.holds(prop.whole, view, old):
                return prop.name
        return ""

    def guard(self, action: Action, state: State) -> Guard | None:
        """Return what keeps an action from happening in a state."""
        return guard_of(self.model, action, state)

    def row(self, state: State) -> tuple[int, ...]:
        """Return what tells states apart."""
        return self.layout.row(state)

    def print_of(self, state: State) -> str:
        """Return the fingerprint of a state, which other versions of a spec share."""
        return format(self.layout.fingerprint(self.row(state)), "x")

    def path_along(self, prints: Sequence[str]) -> Path:
        """Return the path through states of these fingerprints, as far as the spec goes it.

        Raises:  RunError[SW370] where no initial state is the first of them
        """
        states = self.model.initial_states
        initial = next((n for n, s in enumerate(states) if self.print_of(s) == prints[0]), None)
        if initial is None:
            raise off_the_way(0, "none of the initial states is that of the link")
        state, steps = states[initial], list[Step]()
        for wanted in prints[1:]:
            found = (p for p in self.possible(state)[0] if p.taken.state is not None)
            for one in found:
                if one.taken.state is not None and self.print_of(one.taken.state) == wanted:
                    state = one.taken.state
                    steps.append(one.step)
                    break
            else:
                break
        return Path(initial, tuple(steps))

    def path_of(self, trace: Trace) -> Path:
        """Return the path of a trace that was repeated on this model."""
        steps: list[Any] = [
            Step(step.index, tuple(choice.index for choice in step.choices)) for step in trace.steps
        ]
        return Path(trace.initial, tuple(steps))


def _may_go_on(action: Action, state: State) -> bool:
    """Return whether there is a suspended run to go on with, where an action does that."""
    return action.slot is None or not (action.continues or action.fault) or action.slot in state


def off_the_way(number: int, why: str) -> RunError:
    """Return the error of a path that the spec does not go."""
    return RunError(
        "SW370",
        f"Step {number} of the path is disabled: {why}.",
        why="The address holds which choices were made; of another spec, or of other constants, "
        "they mean something else.",
        help="Begin again, from an initial state.",
    )


def read_path(data: Any) -> Path:
    """Return a path as the page sends it: ``[initial, [[action, choice, …], …]]``.

    Raises ValueError.
    """
    match data:
        case [int(initial), list(steps)] if all(map(_is_step, steps)):
            return Path(initial, tuple(Step(one[0], tuple(one[1:])) for one in steps))
    raise ValueError("a path")


def _is_step(data: Any) -> bool:
    numbers = isinstance(data, list) and all(type(n) is int and n >= 0 for n in data)
    return numbers and len(data) > 0


def write_path(path: Path) -> list[Any]:
    """Return the same, to be sent."""
    return [path.initial, [written(step) for step in path.steps]]


def written(step: Step) -> list[int]:
    """Return a step as the page keeps it."""
    return [step.action, *step.choices]


def joined(path: Path, more: Sequence[Step]) -> Path:
    """Return a path that goes on."""
    return Path(path.initial, (*path.steps, *more))


Row = tuple[int, ...]
MOST = 2000  # states drawn
SECONDS = 12.0
BESIDE = 60  # states drawn around one of a path


@dataclass
class Around:
    """States near one: each with the way to it and what is said of it, and the steps between.

    ``whole`` where these are all that there are; ``states`` counts those that were looked at, at
    most ``depth`` steps away; ``late`` where the time was over.
    """

    spots: list[Spot] = field(default_factory=list)
    ways: list[tuple[Step, ...]] = field(default_factory=list)
    edges: set[tuple[int, int]] = field(default_factory=set)
    names: dict[tuple[int, int], str] = field(default_factory=dict)
    states: int = 0
    depth: int = 0
    whole: bool = True
    late: bool = False


def around(
    walk: Walk,
    path: Path,
    depth: int,
    by: Callable[[State], str] | None = None,
    *,
    unfolded: Collection[Row] = (),
    on: Collection[Row] = (),
    most: int = MOST,
    seconds: float = SECONDS,
) -> Around:
    """Return what a state leads to in at most ``depth`` steps, and what those that are ``unfolded``
    lead to. States of which ``by`` says the same are one spot. Marked are states that are ``on`` a
    path, and those in which what has to hold does not.
    """
    until = time.monotonic() + seconds
    trace = walk.trace(path)
    first = walk.state(path)
    came = label_of(trace, trace.steps[-1]) if trace.steps else "an initial state"
    found = Around([Spot(0, f"state {len(path.steps)}", came, mark="here")], [()], states=1)
    states = [first]
    known = {walk.row(first): 0}
    at = 0
    while at < len(states):
        if found.spots[at].level >= depth and all(known.get(row) != at for row in unfolded):
            if not found.spots[at].is_marked("here"):
                found.spots[at] = found.spots[at].marked(FOLDED)
            at += 1
            continue
        if time.monotonic() > until:
            found.whole, found.late = False, True
            break
        for action in walk.model.actions:
            for outcome in walk.model.outcomes(action, states[at], []):
                after = walk.model.successor(states[at], outcome)
                if not walk.cut(states[at], after):
                    step = Step(action.index, outcome.choices)
                    _add(walk, trace, found, states, known, at, step, after, most)
        at += 1
    for at, state in enumerate(states):
        if at and walk.row(state) in on:
            found.spots[at] = found.spots[at].marked("on")
        if time.monotonic() > until:
            found.late = True
        elif _is_wrong(walk, state):
            found.spots[at] = found.spots[at].marked("wrong")
    found.states, found.depth = len(states), found.spots[-1].level
    return found if by is None else _grouped(found, [by(state) for state in states])


def _is_wrong(walk: Walk, state: State) -> bool:
    """Return whether a property that has to hold in every state does not in this one."""
    for prop in walk.model.properties:
        try:
            kind = prop.of_kind
            if kind.over == "states" and not kind.witness:
                if walk.model.holds(prop.whole, PlainView(state)) is kind.sought:
                    return True
        except Exception:  # of this state it says nothing
            continue
    return False


def _add(
    walk: Walk,
    trace: Trace,
    found: Around,
    states: list[State],
    known: dict[Row, int],
    at: int,
    step: Step,
    after: State,
    most: int,
) -> None:
    """Note a step, and the state that it leads to if it is new."""
    row = walk.row(after)
    is_new = row not in known
    if is_new:
        if len(states) >= most:
            found.whole = False
            return
        known[row] = len(states)
        states.append(after)
        found.ways.append((*found.ways[at], step))
        label, news = _said(walk, trace, states[at], step, after)
        found.spots.append(Spot(found.spots[at].level + 1, label, news))
    edge = (at, known[row])
    if known[row] != at:
        found.edges.add(edge)
    if not is_new and known[row] != at:  # a new state says in its box how it came about
        name = walk.model.actions[step.action].label
        found.names.setdefault(edge, name)


def _said(walk: Walk, trace: Trace, before: State, step: Step, after: State) -> tuple[str, str]:
    """Return a step in words, and what it changed."""
    taken = take_step(walk.model, before, walk.model.actions[step.action], step.choices)
    label = label_of(trace, taken.step) if taken else ""
    old, new = content_of(walk.model, before), content_of(walk.model, after)
    return label, "; ".join(map(str, changes(old, new, walk.names))) or "changes nothing"


def _grouped(found: Around, names: list[str]) -> Around:
    """Return the same with one spot for each name, at the place of the first state that has it."""
    first: dict[str, int] = {}
    for at, name in enumerate(names):
        first.setdefault(name, at)
    marks: dict[str, set[str]] = {}
    for spot, name in zip(found.spots, names, strict=True):
        marks.setdefault(name, set()).update({*spot.mark.split()} - {FOLDED})
    number = {name: n for n, name in enumerate(first)}
    sizes = [names.count(name) for name in first]
    return replace(
        found,
        spots=[
            replace(
                found.spots[at],
                label=name,
                news=f"{size:,} states" if size > 1 else "1 state",
                mark=" ".join(sorted(marks[name])),
            )
            for (name, at), size in zip(first.items(), sizes, strict=True)
        ],
        ways=[found.ways[at] for at in first.values()],
        edges={
            (number[names[a]], number[names[b]]) for a, b in found.edges if names[a] != names[b]
        },
        names={},
    )


def drawn(found: Around, path: Path) -> dict[str, Any]:
    """Return the graph as a drawing, with the path to each of its states."""
    ways = [write_path(joined(path, steps)) for steps in found.ways]
    return {"drawing": layered(found.spots, found.edges, found.names), "paths": ways}


def along(walk: Walk, path: Path, most: int) -> tuple[list[dict[str, Any] | None], int]:
    """Draw, for each state of a path, what it and the state before it lead to, from the last on.

    Marked are states of the path, and those in which what has to hold does not. ``goes`` says by
    spot which state of the path it is, if it is one. At most about ``most`` runs of actions are
    taken; how many were is returned too.
    """
    trace = walk.trace(path)
    states = [node.state for node in walk.nodes(path) if node.state is not None]
    rows = [walk.row(state) for state in states]
    where: dict[Row, list[int]] = {}
    for at, row in enumerate(rows):
        where.setdefault(row, []).append(at)
    kept: dict[int, list[Possible]] = {}
    wrong: dict[Row, bool] = {}
    drawings: list[dict[str, Any] | None] = [None] * (len(path.steps) + 1)
    runs = 0
    for here in reversed(range(len(states))):
        if runs > most:
            break
        for at in range(max(0, here - 1), here + 1):
            if at not in kept:
                kept[at] = _own_first(walk, path, states, at)
                runs += len(walk.model.actions) + len(kept[at])
        found, there = _beside(walk, trace, states, rows, here, kept)
        wrong |= {row: _is_wrong(walk, state) for row, state in there.items() if row not in wrong}
        goes = [
            min(where.get(row, ()), key=lambda to: abs(to - here), default=None) for row in there
        ]
        marks = ["here" if to == here else "" if to is None else "on" for to in goes]
        spots = [
            replace(spot, mark=f"{mark} wrong".strip() if wrong[row] else mark)
            for spot, mark, row in zip(found.spots, marks, there, strict=True)
        ]
        drawing = layered(spots, found.edges, found.names)
        drawings[here] = {"drawing": drawing, "goes": goes, "whole": found.whole}
    return drawings, runs


def _own_first(walk: Walk, path: Path, states: list[State], at: int) -> list[Possible]:
    """Return what is possible in a state of a path; first the step that the path takes."""
    own = path.steps[at] if at < len(path.steps) else None
    possible = sorted(walk.possible(states[at])[0], key=lambda one: one.step != own)
    return [replace(one, cut="") if one.step == own else one for one in possible]


def _beside(
    walk: Walk,
    trace: Trace,
    states: list[State],
    rows: list[Row],
    here: int,
    kept: dict[int, list[Possible]],
) -> tuple[Around, dict[Row, State]]:
    """Return what a state of a path, and the one before it, lead to; and the states of
    its spots.
    """
    begin = max(0, here - 1)
    came = label_of(trace, trace.steps[begin - 1]) if begin else "an initial state"
    found = Around([Spot(0, f"state {begin}", came)], [()])
    made = [states[begin]]
    known = {rows[begin]: 0}
    for at in range(begin, here + 1):
        spot = known.get(rows[at])
        if spot is None:  # it is one of more ways than are listed
            continue
        for one in kept[at]:
            if one.taken.state is not None and not one.cut:
                _add(walk, trace, found, made, known, spot, one.step, one.taken.state, BESIDE)
    return found, dict(zip(known, made, strict=True))
