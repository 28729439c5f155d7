"""The interchangeable members of a spec, and their renaming.

What is permuted: the instances of roles declared ``symmetric=True`` and the values of
`symmetric_values`, each class on its own, as far as the fields that no action writes allow it (a
broker that leads a partition cannot change places with one that does not).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from statewalk.checker.contract.search import (
    Exploration,
    Finding,
    Pass,
    SearchOptions,
    Step,
    parted,
)
from statewalk.checker.states.fingerprints import Fingerprints
from statewalk.checker.states.shortening import text_of
from statewalk.checker.symmetry.colours import Colouring
from statewalk.checker.symmetry.facts import Facts, Member, parts_of_path, place_of
from statewalk.dsl.errors import EngineError, SpecError
from statewalk.dsl.model import Action, Model, Property
from statewalk.dsl.state.plain_view import apply_writes
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import fields_of
from statewalk.dsl.values.stored import (
    ABSENT,
    FrozenBag,
    FrozenDict,
    FrozenList,
    FrozenSet,
    encode,
    freeze,
    intern_key,
)
from statewalk.dsl.view import Path, State

Renaming = Mapping[Member, Member]


@dataclass
class Symmetry:
    """The symmetry of one model. ``cells`` are the sets of members that may change places."""

    model: Model
    cells: tuple[tuple[Member, ...], ...] = ()
    facts: Facts = field(init=False)

    def __post_init__(self) -> None:
        """Get ready to tell who is mentioned where."""
        self.facts = Facts(self.model, self.cells)

    @staticmethod
    def of(model: Model) -> Symmetry:
        """Return what the model declares, cut down to what its constant fields allow."""
        declared = _declared(model)
        everybody = Facts(model, declared)
        related = _related(everybody, declared)
        free = (tuple(m for m in cell if m not in related) for cell in declared)
        cells = tuple(cell for cell in free if len(cell) > 1)
        return Symmetry(model, tuple(_allowed(model, cells)))

    @staticmethod
    def asked(model: Model, options: SearchOptions) -> Symmetry | None:
        """Return what a search is to use: None if not asked to, or where nobody can
        change places.
        """
        found = Symmetry.of(model) if options.symmetry else None
        return found if found is not None and found.cells else None

    @property
    def members(self) -> tuple[Member, ...]:
        """All members that may change places, in the order of their numbers."""
        return self.facts.members

    @property
    def order(self) -> int:
        """The size of the group: how many states an orbit has at most."""
        return math.prod(math.factorial(len(cell)) for cell in self.cells)

    def exchanges(self) -> list[Renaming]:
        """Exchanges of two neighbours: together they generate the group."""
        return [{a: b, b: a} for cell in self.cells for a, b in itertools.pairwise(cell)]

    def starts_evenly(self) -> bool:
        """Return whether exchanges lead from initial states to initial states: then all of an
        orbit's states can be reached if one can.
        """

        def content(state: State) -> frozenset[tuple[Path, Any]]:
            return frozenset((path, intern_key(value)) for path, value in state.items())

        initial = self.model.initial_states
        known = set(map(content, initial))
        return all(content(self.renamed(s, e)) in known for e in self.exchanges() for s in initial)

    def described(self) -> tuple[str, ...]:
        """Return who changes places, and who stays although declared symmetric, in words."""
        declared = [cell for cell in _declared(self.model) if len(cell) > 1]
        rest = (tuple(m for m in cell if m not in self.facts.number) for cell in declared)
        said = [f"{_listed(cell)} change places" for cell in self.cells]
        said += [f"{_listed(cell)} {'stay' if cell[1:] else 'stays'}" for cell in rest if cell]
        return tuple(said) or ("the spec has no members that can change places",)

    # -- renaming --------------------------------------------------------------------------------

    def canonical(self, state: State, ranks: Sequence[int]) -> dict[Path, Any]:
        """Return a state with the members of each cell renamed in the order of their ranks."""
        renaming: dict[Member, Member] = {}
        number = self.facts.number
        for cell in self.cells:
            ranked = sorted(cell, key=lambda m: (ranks[number[m]], encode(m)))
            renaming.update(zip(ranked, cell, strict=True))
        return self.renamed(state, {a: b for a, b in renaming.items() if a is not b})

    def renamed(self, state: State, renaming: Renaming) -> dict[Path, Any]:
        """Return a state with its members renamed."""
        return {self.renamed_path(p, renaming): self.rename(v, renaming) for p, v in state.items()}

    def renamed_path(self, path: Path, renaming: Renaming) -> Path:
        """Return a slot's path with its members renamed."""
        first, *rest = parts_of_path(self.model, path)
        start = path[:2]
        if isinstance(first, Role) and first in renaming:
            start = (path[0], renaming[first].index)
        if len(path) == 5:
            return (*start, *rest[:-1], intern_key(self.rename(rest[-1], renaming)))
        return (*start, *path[2:])

    def rename(self, value: Any, renaming: Renaming) -> Any:
        """Return a value with its members renamed."""
        if isinstance(value, Role) or type(value) is str:
            return renaming.get(value, value)
        if not self.facts.mentioned(value):
            return value
        kind = type(value)
        if (place := place_of(self.model, value)) is not None:
            role = renaming.get(place, place)
            start = (type(role).__name__, role.index, value[1][2])
            return (value[0], start, *(self.rename(v, renaming) for v in value[2:]))
        if kind in (tuple, FrozenList, FrozenSet, FrozenBag):
            return kind(self.rename(v, renaming) for v in value)
        if kind is FrozenDict:
            return FrozenDict(
                (self.rename(k, renaming), self.rename(v, renaming)) for k, v in value.items()
            )
        content = {n: self.rename(getattr(value, n), renaming) for n in fields_of(value)}
        return freeze(kind(**content))


def _declared(model: Model) -> list[tuple[Member, ...]]:
    """Return the classes that a model declares to be symmetric."""
    roles = [tuple(model.roles.get(name, ())) for name in model.symmetric]
    return [*roles, *(tuple(values) for values in model.symmetric_values)]


def _related(facts: Facts, declared: Sequence[Sequence[Member]]) -> set[Member]:
    """Members that a constant field puts in relation to another one: they keep their places."""
    related: set[Member] = set()
    for path, value in facts.model.fixed.items():
        found = facts.mentioned(value).union(*map(facts.mentioned, facts.of_path(path)))
        if len(found) > 1 and not _even(value, found, declared):
            related |= found
    return related


def _even(value: Any, found: frozenset[Member], declared: Sequence[Sequence[Member]]) -> bool:
    """Return whether a constant set or bag holds all members alike: that relates none."""
    if type(value) not in (FrozenSet, FrozenBag) or not all(e in found for e in value):
        return False
    held = [[list(value).count(m) for m in cell] for cell in declared]
    return all(len(set(counts)) <= 1 for counts in held)


def _allowed(model: Model, cells: tuple[tuple[Member, ...], ...]) -> Iterator[tuple[Member, ...]]:
    """Yield the cells split by what their members hold in constant fields."""
    facts = Facts(model, cells)
    _, colours, _ = Colouring(facts, Fingerprints(model.fields)).first(model.fixed)
    number = facts.number
    for cell in cells:
        groups: dict[object, list[Member]] = {}
        for member in sorted(cell, key=encode):
            groups.setdefault(colours[number[member]], []).append(member)
        yield from (tuple(group) for group in groups.values() if len(group) > 1)


def _listed(cell: tuple[Member, ...]) -> str:
    """``Client#0–#3``, or the names one by one where numbers are left out."""
    if len(cell) == 1:
        return str(cell[0])
    if not isinstance(cell[0], Role):
        return f"{cell[0]}–{cell[-1]}" if len(cell) > 2 else ", ".join(cell)
    name, at = type(cell[0]).__name__, [m.index for m in cell]
    if len(at) > 2 and at == list(range(at[0], at[-1] + 1)):
        return f"{name}#{at[0]}–#{at[-1]}"
    return f"{name}#{at[0]}, " + ", ".join(f"#{i}" for i in at[1:])


def is_of_members(prop: Property) -> bool:
    """Return whether a property is one of a family."""
    return len(prop.elements) == 1 and prop.elements[0].label == prop.name and _bound(prop) != ()


def _bound(prop: Property) -> tuple[tuple[str, object], ...]:
    return prop.elements[0].bindings


def name_of(symmetry: Symmetry, prop: Property, renaming: Renaming) -> tuple[object, ...]:
    """Return what tells a property apart from others, with members renamed."""
    if not is_of_members(prop):
        return (prop.name,)
    values = (symmetry.rename(value, renaming) for _, value in _bound(prop))
    return (prop.name.partition("(")[0], *map(encode, values))


def action_name(symmetry: Symmetry, action: Action, renaming: Renaming) -> tuple[object, ...]:
    """Return what tells an action apart from others, with members renamed."""
    values = (action.actor, *(value for _, value in action.arguments))
    return action.name, *(encode(symmetry.rename(freeze(v), renaming)) for v in values)


@dataclass
class Families(Pass):
    """By name of a property: which others are true where it is, and how members are renamed to
    get there.
    """

    others: dict[str, dict[str, Renaming]] = field(default_factory=dict)
    symmetry: Symmetry = field(init=False)
    asked: SearchOptions = field(init=False)

    def before(self, model: Model, asked: SearchOptions) -> tuple[Model, SearchOptions]:
        """Ask for all that can take the place of what is asked for. Raises SpecError[SW209]."""
        self.asked = asked
        if not asked.symmetry:
            return model, asked
        of_members = [p for p in model.properties if p.of_kind.searched and is_of_members(p)]
        wanted = [p for p in of_members if asked.wants(p.name)]
        symmetry = Symmetry.asked(model, asked) if wanted else None
        if symmetry is None:
            return model, asked
        by_name = {name_of(symmetry, p, {}): p for p in of_members}
        others = {p.name: _orbit(symmetry, p, by_name) for p in wanted}
        moved = [p for p in wanted if len(others[p.name]) > 1]
        if moved and not symmetry.starts_evenly():
            raise _uneven(moved[0])
        if not moved:
            return model, asked
        self.others, self.symmetry = others, symmetry
        names = asked.properties
        if names is not None:
            names = tuple(dict.fromkeys((*names, *(n for of in others.values() for n in of))))
        awaited = tuple(min(others.get(n, {n: {}})) for n in asked.awaited)
        same = {n: min(of) for of in others.values() for n in of}
        return model, replace(asked, properties=names, awaited=awaited, same=same)

    def after(self, found: Exploration) -> Exploration:
        """Say what was found of one of all that were asked for."""
        known = {f.property: f for f in (*found.findings, *found.witnesses)}
        for name, others in self.others.items():
            of = [known[n] for n in others if n in known]
            if of and (name not in known or min(f.length for f in of) < known[name].length):
                first = min(of, key=lambda f: f.length)
                known[name] = self._moved(first, _inverse(others[first.property]), name)
        names = {n for others in self.others.values() for n in others}
        kept = (f for n, f in known.items() if n not in names or self.asked.wants(n))
        findings, witnesses = parted(kept)
        return replace(found, findings=findings, witnesses=witnesses)

    def _moved(self, found: Finding, renaming: Renaming, name: str) -> Finding:
        """Return a finding with its members renamed."""
        model = self.symmetry.model
        state: State = model.initial_states[found.initial]
        steps: list[Step] = []
        here: State = self.symmetry.renamed(state, renaming)
        starts = [_content(s) for s in model.initial_states]
        initial = starts.index(_content(here))
        for step in (*found.steps, *([found.failing] if found.failing is not None else [])):
            action = model.actions[step.action]
            state = _after(model, action, state, step)
            there = self.symmetry.renamed(state, renaming)
            made, here = self._step(action, here, there, renaming)
            steps.append(made)
        failing = steps.pop() if found.failing is not None else None
        return replace(
            found, property=name, initial=initial, steps=tuple(steps), failing=failing
        )  # fmt: skip

    def _step(
        self, action: Action, here: State, there: State, renaming: Renaming
    ) -> tuple[Step, State]:
        """Return the step that leads from one state to another, and where it leads."""
        model = self.symmetry.model
        wanted = action_name(self.symmetry, action, renaming)
        likely = [a for a in model.actions if action_name(self.symmetry, a, {}) == wanted]
        for other in (*likely, *(a for a in model.actions if a not in likely)):
            for outcome in model.outcomes(other, here, []):
                after = apply_writes(here, outcome.writes)
                if _content(after) == _content(there):
                    return Step(other.index, outcome.choices), after
        raise SpecError(
            "SW209",
            f"{action.label} has no counterpart when members are exchanged.",
            at=action.span,
            why="What it does in a reachable state, no action does with the members exchanged.",
            help="--symmetry off leaves symmetry alone.",
        )


def _orbit(
    symmetry: Symmetry, prop: Property, by_name: dict[tuple[object, ...], Property]
) -> dict[str, Renaming]:
    """Return the properties that one becomes when members change places, and by which renaming."""
    found: dict[str, Renaming] = {prop.name: {}}
    left = [(prop, dict[object, object]())]
    for here, renaming in left:
        for exchange in symmetry.exchanges():
            other = by_name.get(name_of(symmetry, here, exchange))
            if other is not None and other.name not in found:
                further = {m: exchange.get(n, n) for m, n in (*renaming.items(),)}
                further |= {m: n for m, n in exchange.items() if m not in further}
                found[other.name] = further
                left.append((other, further))
    return found


def _inverse(renaming: Renaming) -> Renaming:
    return {new: old for old, new in renaming.items()}


def _after(model: Model, action: Action, state: State, step: Step) -> State:
    for outcome in model.outcomes(action, state, []):
        if outcome.choices == step.choices:
            return apply_writes(state, outcome.writes)
    raise EngineError("SW310", f"{action.label} does not go the same way again.")


def _content(state: State) -> frozenset[tuple[Path, object]]:
    return frozenset((p, intern_key(v)) for p, v in state.items() if v is not ABSENT)


def _uneven(prop: Property) -> SpecError:
    shown = ", ".join(text_of(value) for _, value in _bound(prop))
    return SpecError(
        "SW209",
        f"{prop.name} speaks of one member, and the initial states are not the same for all.",
        at=prop.span,
        why="Of states that differ by an exchange of members only one is looked at, and what is "
        f"true of the others there may not be true of {shown}.",
        help="Check it without: --symmetry off.",
    )
