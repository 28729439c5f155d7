"""The labels of transitions and their fairness conditions, whatever a graph is stored in."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, assert_never

from statewalk.checker.contract.search import Step
from statewalk.checker.liveness.terms import on_lasso
from statewalk.checker.states.content import Content, content_of
from statewalk.dsl.declared import Fairness, Promised
from statewalk.dsl.kinds import PropertyKind
from statewalk.dsl.model import Model, Property, Text
from statewalk.dsl.state.plain_view import PlainView, apply_writes
from statewalk.dsl.values.stored import same_state
from statewalk.dsl.view import FairChoice, State

if TYPE_CHECKING:
    from numpy.typing import NDArray


CUT = -1
"""Stands for a state that a constraint refused."""
PREMISE = "/premise"
"""Follows the name of a property that has one."""


def predicates(properties: Iterable[Property]) -> dict[str, Callable[[], bool]]:
    """Return what is to be evaluated in each state: by property name, and by name + `PREMISE`.
    Predicates of steps are not among them.
    """
    wanted: dict[str, Callable[[], bool]] = {}
    for prop in _of_states(properties):
        wanted[prop.name] = prop.whole
        if prop.premise is not None:
            wanted[prop.name + PREMISE] = prop.premise
    return wanted


def sources(properties: Iterable[Property]) -> dict[str, Text | None]:
    """Return the texts of these predicates, by the same names."""
    found: dict[str, Text | None] = {}
    for prop in _of_states(properties):
        found[prop.name] = prop.source
        if prop.premise is not None:
            found[prop.name + PREMISE] = prop.premise_source
    return found


def _of_states(properties: Iterable[Property]) -> Iterator[Property]:
    """Yield the properties and parts of formulas with a predicate of states."""
    return (unit for p in properties for unit in p.units if not unit.of_kind.of_steps)


@dataclass(frozen=True)
class Label:
    """The label of a transition: see rule 4 of the contract."""

    action: int
    ordinal: int = 0
    fair: tuple[FairChoice, ...] = ()


@dataclass(frozen=True)
class Condition:
    """One fairness condition: an action instance, or one option of a fair choice in it."""

    fairness: Promised
    action: int
    label: str
    choice: FairChoice | None = None

    def takes(self, label: Label) -> bool:
        """Return whether steps with a label take it."""
        return label.action == self.action and (self.choice is None or self.choice in label.fair)


def conditions(model: Model, table: tuple[Label, ...]) -> tuple[Condition, ...]:
    """Return the fairness conditions, actions first; only of actions that occur in the graph."""
    present = {label.action for label in table}
    found = [
        Condition(a.fairness, a.index, a.label)
        for a in model.actions
        if a.fairness != "none" and a.index in present
    ]
    chosen = sorted({(label.action, choice) for label in table for choice in label.fair})
    for action, choice in chosen:
        text = f"{model.actions[action].label} choosing {choice.shown}"
        found.append(Condition(choice.fairness, action, text, choice))
    return tuple(found)


@dataclass(frozen=True)
class NotTaken:
    """An action (or an option of a fair choice) that is enabled on the cycle and never taken.

    ``enabled_at`` are positions on the cycle, 0 being its first state. A fair one is weakly fair
    and not enabled at some position; the others are not fair.
    """

    action: int
    label: str
    fairness: Fairness
    enabled_at: tuple[int, ...]


@dataclass(frozen=True)
class Lasso:
    """An endless behavior: from ``initial`` (of `Model.initial_states`) the stem, then the cycle.

    Without cycle steps it stutters for ever.
    """

    initial: int
    stem: tuple[Step, ...]
    cycle: tuple[Step, ...]
    not_taken: tuple[NotTaken, ...] = ()

    @property
    def length(self) -> int:
        """Transitions of stem and cycle."""
        return len(self.stem) + len(self.cycle)


@dataclass(frozen=True)
class LivenessResult:
    """The liveness verdict of a graph on one property: a lasso where one violates it.

    ``vacuous``: no behavior could violate it, not even an unfair one. ``unsound``: no lasso was
    found, but the graph was cut. ``unfair``: no condition of fairness says that anything happens.
    """

    property: str
    kind: PropertyKind
    lasso: Lasso | None = None
    vacuous: bool = False
    unsound: bool = False
    unfair: bool = False

    @builtins.property
    def verdict(self) -> Literal["holds", "violated"]:
        """By what was found in the graph."""
        return "holds" if self.lasso is None else "violated"


Move = tuple[Label, Content]


def why_not(
    model: Model,
    prop: Property,
    states: Sequence[State],
    loop: int,
    truth: Mapping[str, Sequence[bool] | NDArray[Any]] | None = None,
) -> str:
    """Return why states that return to the one at ``loop`` violate a liveness property no more;
    empty where they do. The last is that state again; with only that one, it stutters.

    ``truth`` holds what the `predicates` say in each state, where they are not the model's own.
    """
    path = list(states[:-1]) if loop < len(states) - 1 else list(states)
    if _is_true(model, prop, states, path, loop, truth):
        return f"{prop.name} holds of it now"
    for assumed in model.assumptions:
        if not _is_true(model, assumed, states, path, loop, None):
            return f"it does not satisfy the assumption {assumed.name}"
    contents = [content_of(model, state) for state in path[loop:]]
    moves = [_moves(model, s, c) for s, c in zip(path[loop:], contents, strict=True)]
    goals = [*contents[1:], contents[0]]
    steps = [
        label
        for at, goal in zip(moves, goals, strict=True)
        for label, to in at
        if same_state(to, goal)
    ]
    found = conditions(model, tuple({label: None for at in moves for label, _ in at}))
    for condition in found:
        if not any(condition.takes(label) for label in steps) and _owed(condition, moves):
            when = "repeatedly" if condition.fairness == "strong" else "continuously"
            return (
                f"its cycle is not fair: {condition.label} is {condition.fairness}ly fair, "
                f"enabled {when}, but never taken"
            )
    return ""


def _is_true(
    model: Model,
    prop: Property,
    states: Sequence[State],
    path: Sequence[State],
    loop: int,
    truth: Mapping[str, Sequence[bool] | NDArray[Any]] | None,
) -> bool:
    """Return whether a lasso satisfies a property; ``path`` are its states, each once."""
    told = truth or {
        key: [bool(model.holds(predicate, PlainView(state))) for state in path]
        for key, predicate in predicates([prop]).items()
    }
    taken = {
        unit.name: [
            bool(model.holds(unit.whole, PlainView(after), PlainView(before)))
            for before, after in itertools.pairwise(states[loop:])
            if not same_state(content_of(model, before), content_of(model, after))
        ]
        for unit in prop.units
        if unit.of_kind.of_steps
    }
    if prop.formula:
        parts = [taken.get(p.name) or list(told.get(p.name, ()))[: len(path)] for p in prop.parts]
        steps = [n for n, part in enumerate(prop.parts) if part.of_kind.of_steps]
        return on_lasso(prop.formula, parts, steps, len(path), loop)[0]
    if prop.of_kind.of_steps:
        some = prop.kind == "always_eventually_on_step"
        return any(taken[prop.name]) if some else all(taken[prop.name])
    goal = list(told[prop.name])[: len(path)]
    premise = list(told.get(prop.name + PREMISE, [True] * len(path)))[: len(path)]
    return _satisfied(prop.kind, goal, premise, loop)


def _owed(condition: Condition, moves: Sequence[Sequence[Move]]) -> bool:
    """Return whether a condition that a cycle does not take has to be taken there."""
    enabled = [any(condition.takes(label) for label, _ in at) for at in moves]
    match condition.fairness:
        case "strong":
            return any(enabled)
        case "weak":
            return all(enabled)
        case _:
            assert_never(condition.fairness)


def _moves(model: Model, state: State, content: Content) -> list[Move]:
    """Return the steps out of a state that change it, by what they are called, and where they
    lead.
    """
    found: list[Move] = []
    for action in model.actions:
        for outcome in model.outcomes(action, state, []):
            to = content_of(model, apply_writes(state, outcome.writes))
            if not same_state(content, to):
                found.append((Label(action.index, 0, outcome.fair), to))
    return found


def _satisfied(
    kind: PropertyKind, goal: Sequence[bool], premise: Sequence[bool], loop: int
) -> bool:
    if kind == "eventually":
        return any(goal)
    if kind == "always_eventually":
        return any(goal[loop:])
    if kind == "eventually_always":
        return all(goal[loop:])
    if kind == "leads_to":
        last = max((i for i, met in enumerate(goal) if met), default=-1)
        return any(goal[loop:]) or not any(premise[last + 1 :])
    for waits, met in zip(premise, goal, strict=True):  # until
        if met or not waits:
            return met
    return False
