"""Which members may change places, and renaming them.

What is permuted: the instances of roles declared ``symmetric=True`` and the values of
`symmetric_values`, each class on its own, as far as the fields that no action writes allow it (a
broker that leads a partition cannot change places with one that does not).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.states.fingerprints import Fingerprints
from statewalk.checker.symmetry.colours import Colouring
from statewalk.checker.symmetry.facts import Facts, Member, parts_of_path, place_of
from statewalk.dsl.model import Model
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import fields_of
from statewalk.dsl.values.stored import (
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
        """What the model declares, cut down to what its constant fields allow."""
        declared = _declared(model)
        everybody = Facts(model, declared)
        related = _related(everybody, declared)
        free = (tuple(m for m in cell if m not in related) for cell in declared)
        cells = tuple(cell for cell in free if len(cell) > 1)
        return Symmetry(model, tuple(_allowed(model, cells)))

    @staticmethod
    def asked(model: Model, options: SearchOptions) -> Symmetry | None:
        """What a search is to use: None if not asked to, or where nobody can change places."""
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
        """Whether exchanges lead from initial states to initial states: then all of an orbit's
        states can be reached if one can.
        """

        def content(state: State) -> frozenset[tuple[Path, Any]]:
            return frozenset((path, intern_key(value)) for path, value in state.items())

        initial = self.model.initial_states
        known = set(map(content, initial))
        return all(content(self.renamed(s, e)) in known for e in self.exchanges() for s in initial)

    def described(self) -> tuple[str, ...]:
        """Who changes places, and who stays although declared symmetric, in words."""
        declared = [cell for cell in _declared(self.model) if len(cell) > 1]
        rest = (tuple(m for m in cell if m not in self.facts.number) for cell in declared)
        said = [f"{_listed(cell)} change places" for cell in self.cells]
        said += [f"{_listed(cell)} {'stay' if cell[1:] else 'stays'}" for cell in rest if cell]
        return tuple(said) or ("the spec has no members that can change places",)

    # -- renaming --------------------------------------------------------------------------------

    def canonical(self, state: State, ranks: Sequence[int]) -> dict[Path, Any]:
        """A state with the members of each cell renamed in the order of their ranks."""
        renaming: dict[Member, Member] = {}
        number = self.facts.number
        for cell in self.cells:
            ranked = sorted(cell, key=lambda m: (ranks[number[m]], encode(m)))
            renaming.update(zip(ranked, cell, strict=True))
        return self.renamed(state, {a: b for a, b in renaming.items() if a is not b})

    def renamed(self, state: State, renaming: Renaming) -> dict[Path, Any]:
        """A state with its members renamed."""
        return {self.renamed_path(p, renaming): self.rename(v, renaming) for p, v in state.items()}

    def renamed_path(self, path: Path, renaming: Renaming) -> Path:
        """A slot's path with its members renamed."""
        first, *rest = parts_of_path(self.model, path)
        start = path[:2]
        if isinstance(first, Role) and first in renaming:
            start = (path[0], renaming[first].index)
        if len(path) == 5:
            return (*start, *rest[:-1], intern_key(self.rename(rest[-1], renaming)))
        return (*start, *path[2:])

    def rename(self, value: Any, renaming: Renaming) -> Any:
        """A value with its members renamed."""
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
    """The classes that a model declares to be symmetric."""
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
    """Whether a constant set or bag holds all members alike: that relates none."""
    if type(value) not in (FrozenSet, FrozenBag) or not all(e in found for e in value):
        return False
    held = [[list(value).count(m) for m in cell] for cell in declared]
    return all(len(set(counts)) <= 1 for counts in held)


def _allowed(model: Model, cells: tuple[tuple[Member, ...], ...]) -> Iterator[tuple[Member, ...]]:
    """The cells split by what their members hold in constant fields."""
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
