"""Symmetry: states that differ only in who is who are one.

What is permuted: the instances of roles declared ``symmetric=True`` and the values of
`symmetric_values`, each class on its own, as far as the fields that no action writes allow it (a
broker that leads a partition cannot change places with one that does not). Counts are numbers of
orbits, exactly.

A state is brought into canonical form by colour refinement: each member gets a colour from what it
holds and what mentions it, until colours tell no more apart. Members that are still equal are
automorphic if nothing mentions two of them at once; otherwise each of them in turn is set apart,
and the least result is taken. So equal orbits have equal forms, and different ones different forms
up to a collision of 64-bit digests within one state.

Source: colour refinement with individualisation, McKay and Piperno, "Practical graph isomorphism
II", 2014.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from dsl.decode import decode
from dsl.model import Model
from dsl.records import Record, fields_of
from dsl.roles import Role
from dsl.values import FrozenBag, FrozenDict, FrozenList, FrozenSet, encode, intern_key
from dsl.view import Path, State

Member = Any  # a role instance, or a string of `symmetric_values`
Renaming = Mapping[Member, Member]


def _digest(*parts: bytes) -> int:
    data = b"".join(len(p).to_bytes(4, "big") + p for p in parts)
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def _bytes(number: int) -> bytes:
    return (number & (2**64 - 1)).to_bytes(8, "little")


@dataclass
class Symmetry:
    """The symmetry of one model. ``cells`` are the sets of members that may change places."""

    model: Model
    cells: tuple[tuple[Member, ...], ...] = ()
    _mentions: dict[bytes, frozenset[Member]] = field(default_factory=dict)

    @staticmethod
    def of(model: Model) -> Symmetry:
        """What the model declares, cut down to what its constant fields allow."""
        result = Symmetry(model)
        declared: list[Sequence[Member]] = [model.roles[name] for name in model.symmetric]
        declared += [tuple(values) for values in model.symmetric_values]
        related = result._related(set(itertools.chain(*declared)))
        free = (tuple(m for m in cell if m not in related) for cell in declared)
        result.cells = tuple(cell for cell in free if len(cell) > 1)
        result.cells = tuple(c for cell in result.cells for c in result._allowed(cell))
        return result

    def _related(self, members: set[Member]) -> set[Member]:
        """Members that a constant field puts in relation to another one: they keep their places."""
        related: set[Member] = set()
        for path, value in self.model.fixed.items():
            found = self._mentioned(path, value, members)
            if len(found) > 1 and not self._even(value, found):
                related |= found
        return related

    def _even(self, value: Any, found: set[Member] | frozenset[Member]) -> bool:
        """Whether a constant set or bag holds all members alike: that relates none."""
        if type(value) not in (FrozenSet, FrozenBag) or not all(e in found for e in value):
            return False
        declared = [self.model.roles[name] for name in self.model.symmetric]
        declared += [tuple(values) for values in self.model.symmetric_values]
        held = [[list(value).count(m) for m in cell] for cell in declared]
        return all(len(set(counts)) <= 1 for counts in held)

    def _allowed(self, cell: tuple[Member, ...]) -> Iterator[tuple[Member, ...]]:
        """Split a cell by what its members hold in constant fields."""
        start = dict.fromkeys(itertools.chain(*self.cells), 1)
        colours = self._refined(self.model.fixed, start)
        for _, group in itertools.groupby(
            sorted(cell, key=lambda m: (colours[m], encode(m))), key=lambda m: colours[m]
        ):
            members = tuple(sorted(group, key=encode))
            if len(members) > 1:
                yield members

    @property
    def order(self) -> int:
        """The size of the group: how many states an orbit has at most."""
        result = 1
        for cell in self.cells:
            for at in range(2, len(cell) + 1):
                result *= at
        return result

    def renamings(self) -> Iterator[Renaming]:
        """Every permutation, the identity first."""
        for choice in itertools.product(*(itertools.permutations(cell) for cell in self.cells)):
            yield {
                a: b
                for cell, image in zip(self.cells, choice, strict=True)
                for a, b in zip(cell, image, strict=True)
            }

    # -- canonical form --------------------------------------------------------------------------

    def canonical(self, state: State) -> dict[Path, Any]:
        """The representative of a state's orbit: equal for exactly the states of one orbit."""
        members = set(itertools.chain(*self.cells))
        slots = {p: v for p, v in state.items() if self._mentioned(p, v, members)}
        colours = {
            m: _digest(b"cell", bytes([at])) for at, cell in enumerate(self.cells) for m in cell
        }
        _, final = self._least(slots, self._refined(slots, colours))
        renaming: dict[Member, Member] = {}
        for cell in self.cells:
            ranked = sorted(cell, key=lambda m: (final[m], encode(m)))
            renaming.update(zip(ranked, cell, strict=True))
        if all(a is b or a == b for a, b in renaming.items()):
            return dict(state)
        return {
            **{p: v for p, v in state.items() if p not in slots},
            **self.renamed(slots, renaming),
        }

    def _least(self, slots: State, colours: dict[Member, int]) -> tuple[int, dict[Member, int]]:
        """(invariant, colours) of the least labelling: ties that matter are broken every way."""
        tied = self._tied(colours)
        entangled = self._entangled(slots, tied)
        if not entangled:
            return self._invariant(slots, colours), colours
        best: tuple[int, dict[Member, int]] | None = None
        for member in entangled:
            apart = dict(colours)
            apart[member] = _digest(b"apart", _bytes(colours[member]))
            found = self._least(slots, self._refined(slots, apart))
            if best is None or found[0] < best[0]:
                best = found
        assert best is not None
        return best

    def _tied(self, colours: Mapping[Member, int]) -> list[list[Member]]:
        groups: dict[tuple[int, int], list[Member]] = {}
        for at, cell in enumerate(self.cells):
            for member in cell:
                groups.setdefault((at, colours[member]), []).append(member)
        return [g for _, g in sorted(groups.items(), key=lambda item: item[0]) if len(g) > 1]

    def _entangled(self, slots: State, tied: list[list[Member]]) -> list[Member]:
        """The first group of equal members of which some slot mentions one together with another
        tied one.
        """
        loose = set(itertools.chain(*tied))
        if not loose:
            return []
        touched: set[Member] = set()
        for path, value in slots.items():
            found = self._mentioned(path, value, loose)
            if len(found) > 1:
                touched |= found
        return next((group for group in tied if touched & set(group)), [])

    def _refined(self, slots: State, colours: dict[Member, int]) -> dict[Member, int]:
        """Colours refined until they tell no more members apart."""
        distinct = len(set(colours.values()))
        while True:
            sums = dict.fromkeys(colours, 0)
            for path, value in slots.items():
                found = self._mentioned(path, value, set(colours))
                for member in found:
                    sums[member] += self._coloured_slot(path, value, colours, member)
            refined = {m: _digest(b"next", _bytes(c), _bytes(sums[m])) for m, c in colours.items()}
            now = len(set(refined.values()))
            if now == distinct:
                return refined
            colours, distinct = refined, now

    def _invariant(self, slots: State, colours: Mapping[Member, int]) -> int:
        return sum(self._coloured_slot(p, v, colours, None) for p, v in slots.items()) & (2**64 - 1)

    # -- colours of values -----------------------------------------------------------------------

    def _coloured_slot(
        self, path: Path, value: Any, colours: Mapping[Member, int], me: Member
    ) -> int:
        parts = [b"slot", *(self._coloured(part, colours, me) for part in self._parts(path))]
        return _digest(*parts, self._coloured(value, colours, me))

    def _coloured(self, value: Any, colours: Mapping[Member, int], me: Member) -> bytes:
        """A value with members replaced by their colours (by a mark where it is the member
        looking).
        """
        kind = type(value)
        if (isinstance(value, Role) or kind is str) and value in colours:
            return b"m" + (b"self" if me is not None and value == me else _bytes(colours[value]))
        if isinstance(value, Role) or not self._in_value(value):
            return b"v" + encode(value)
        if kind is tuple or kind is FrozenList:
            return b"s" + _bytes(
                _digest(kind.__name__.encode(), *(self._coloured(v, colours, me) for v in value))
            )
        if kind is FrozenSet:
            return b"u" + _bytes(sum(_digest(self._coloured(v, colours, me)) for v in value))
        if kind is FrozenBag:
            return b"b" + _bytes(
                sum(_digest(self._coloured(v, colours, me), bytes([n])) for v, n in value.counts())
            )
        if kind is FrozenDict:
            return b"d" + _bytes(
                sum(
                    _digest(self._coloured(k, colours, me), self._coloured(v, colours, me))
                    for k, v in value.items()
                )
            )
        names = fields_of(value)
        parts = [self._coloured(getattr(value, n), colours, me) for n in names]
        return b"r" + _bytes(_digest(kind.__name__.encode(), encode(names), *parts))

    def _parts(self, path: Path) -> Iterator[Any]:
        """A path as values: its role as one, its key or element as it was."""
        role = self.model.roles.get(path[0])
        if role is not None and 0 <= path[1] < len(role):
            yield role[path[1]]
        else:
            yield path[:2]
        for part in path[2:]:
            yield decode(part, self.model.classes) if type(part) is bytes else part

    def _mentioned(self, path: Path, value: Any, members: set[Member]) -> set[Member]:
        found: set[Member] = set()
        for part in (*self._parts(path), value):
            found |= self._in_value(part)
        return found & members

    def _in_value(self, value: Any) -> frozenset[Member]:
        """The members of declared cells inside a value."""
        if isinstance(value, Role):
            return (
                frozenset((value,)) if type(value).__name__ in self.model.symmetric else frozenset()
            )
        kind = type(value)
        if kind in (int, bool, type(None)):
            return frozenset()
        if kind is str:
            return (
                frozenset((value,))
                if any(value in s for s in self.model.symmetric_values)
                else frozenset()
            )
        key = encode(value)
        known = self._mentions.get(key)
        if known is None:
            known = frozenset(m for part in _children(value) for m in self._in_value(part))
            self._mentions[key] = known
        return known

    # -- renaming --------------------------------------------------------------------------------

    def renamed(self, state: State, renaming: Renaming) -> dict[Path, Any]:
        """A state with its members renamed."""
        return {self._renamed_path(p, renaming): self.rename(v, renaming) for p, v in state.items()}

    def _renamed_path(self, path: Path, renaming: Renaming) -> Path:
        first, *rest = self._parts(path)
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
        if not self._in_value(value):
            return value
        kind = type(value)
        if kind in (tuple, FrozenList, FrozenSet, FrozenBag):
            return kind(self.rename(v, renaming) for v in value)
        if kind is FrozenDict:
            return FrozenDict(
                (self.rename(k, renaming), self.rename(v, renaming)) for k, v in value.items()
            )
        content = {n: self.rename(getattr(value, n), renaming) for n in fields_of(value)}
        return kind(**content)._freeze()


def _children(value: Any) -> Iterator[Any]:
    kind = type(value)
    if kind is FrozenDict:
        for key, item in value.items():
            yield key
            yield item
    elif kind in (tuple, FrozenList, FrozenSet):
        yield from value
    elif kind is FrozenBag:
        yield from (e for e, _ in value.counts())
    elif isinstance(value, Record):
        yield from (getattr(value, n) for n in fields_of(value))
