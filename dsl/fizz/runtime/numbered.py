"""Domains of values with an order, with distances, or on a ring.

Of values with an order only the order counts, of those with distances only the distances. So each
step ends by numbering the values in use anew: those with an order by rank, those with distances
from 0. States that differ only in the numbers are then one, in every engine and whatever is
searched. Nothing can tell the numbers: the values have no operations that are not the same after
it, and no text. What compares two states would compare numbers of two countings, and is refused.

Values on a ring keep their places: there are only as many as the limit says.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NoReturn, TypeVar

from statewalk.dsl.binding import binding
from statewalk.dsl.declared import declaring
from statewalk.dsl.errors import SpecError
from statewalk.dsl.fizz.runtime.symmetry import Values, declared
from statewalk.dsl.flows.run import slots_of_runs
from statewalk.dsl.state.refs import current_view
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import Record, fields_of, parts_of
from statewalk.dsl.values.stored import FrozenBag, FrozenDict, FrozenList, FrozenSet, freeze
from statewalk.dsl.view import Disabled, Path
from statewalk.dsl.words.declare import any_of
from statewalk.dsl.words.lookahead import AheadView

GAP = 1 << 32  # between neighbours of an order, so that others fit in between within a step


class Numbered(Record):
    """A value of a domain. Its fields have names that no .fizz file can use."""

    domain_name: str
    domain_number: int
    _single: ClassVar[bool] = True

    def _numbered_as(self, number: int) -> Any:
        """Return the value of this domain with another number."""
        return self._with("domain_number", number)

    def _other(self, other: Any) -> int:
        """Return the number of another value. Raises TypeError for one of another domain."""
        if type(other) is not type(self) or other.domain_name != self.domain_name:
            raise TypeError(f"{self.domain_name} and {_named(other)} have nothing in common")
        found: int = other.domain_number
        return found

    def _text(self) -> str:
        return f"{self.domain_name}{self.domain_number}"

    def __repr__(self) -> str:
        frame = sys._getframe(1) if binding.view is not None else None
        while frame is not None:
            module = frame.f_globals.get("__name__", "")
            if not module.startswith("statewalk."):
                said = f"A value of '{self.domain_name}' is made text of, and has none."
                raise SpecError("SW153", said, why="Its number is no part of its meaning.")
            if not module.startswith("statewalk.dsl."):
                break
            frame = frame.f_back
        return self._text()

    __str__ = __repr__

    def __format__(self, form: str) -> str:
        return format(repr(self), form)


class _Ordered(Numbered):
    def __lt__(self, other: Any) -> bool:
        return self.domain_number < self._other(other)

    def __le__(self, other: Any) -> bool:
        return self.domain_number <= self._other(other)

    def __gt__(self, other: Any) -> bool:
        return self.domain_number > self._other(other)

    def __ge__(self, other: Any) -> bool:
        return self.domain_number >= self._other(other)


class OrdinalValue(_Ordered):
    """A value that comes before or after others."""

    def _text(self) -> str:
        whole, rest = divmod(self.domain_number, GAP)
        return f"{self.domain_name}{whole}" + "+" * (rest != 0)


class _Shifted(Numbered):
    def _by(self, distance: Any, sign: int) -> Any:
        if type(distance) is not int:
            return NotImplemented
        return self._numbered_as(self.domain_number + sign * distance)

    def __add__(self, other: Any) -> Any:
        return self._by(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Numbered):
            return self._distance(self.domain_number - self._other(other))
        return self._by(other, -1)

    def _distance(self, number: int) -> int:
        return number


class IntervalValue(_Shifted, _Ordered):
    """A value with distances to others."""


class RotationalValue(_Shifted):
    """A place on a ring of so many."""

    domain_limit: int

    def _numbered_as(self, number: int) -> Any:
        return super()._numbered_as(number % self.domain_limit)

    def _distance(self, number: int) -> int:
        return number % self.domain_limit


class Segment(Record):
    """A gap between two neighbours of an order; None where it is open."""

    domain_name: str
    domain_limit: int
    domain_left: Any
    domain_right: Any
    _single: ClassVar[bool] = True

    def fresh(self) -> Any:
        """Return a value in the gap that is not in use."""
        domain = Ordinal(self.domain_name, self.domain_limit, False)
        domain.may_take()
        if len(domain.in_use()) >= domain.limit:
            raise Disabled
        left, right = (
            None if value is None else value.domain_number
            for value in (self.domain_left, self.domain_right)
        )
        if right is None:
            return domain.take(0 if left is None else left + GAP)
        if left is None:
            return domain.take(right - GAP)
        if right - left <= 1:
            said = f"More than 32 values of '{self.domain_name}' are made in one gap by one step."
            raise SpecError("SW154", said)
        return domain.take((left + right) // 2)

    def __repr__(self) -> str:
        return f"({self.domain_left}, {self.domain_right})"


class _Numbers(Values):
    """A domain of values with numbers, of any kind."""

    kind: type[Numbered]
    counts: str  # what tells values of one apart, for the reader

    def value(self, number: int) -> Any:
        return self.kind(self.name, number)._freeze()

    def number_of(self, value: Any) -> int | None:
        if type(value) is self.kind and value.domain_name == self.name:
            found: int = value.domain_number
            return found
        return None

    def anew(self, numbers: Sequence[int]) -> Mapping[int, int]:
        """Return new numbers for those in use, which are in order. Raises `Disabled` for more than
        there can be.
        """
        return {}

    def __repr__(self) -> str:
        return f"{type(self).__name__.lower()}({self.name!r}, {self.limit})"


class Ordinal(_Numbers):
    """Values with an order."""

    kind = OrdinalValue
    counts = "only the order counts"

    def in_use(self) -> set[int]:
        if self.materialize:
            return {at * GAP for at in range(self.limit)}
        return super().in_use()

    def free(self, used: set[int]) -> int | None:
        if len(used) >= self.limit:
            return None
        return max(used) + GAP if used else 0

    min = Values.choose

    def max(self) -> Any:
        """Return the last value in use; a fresh one where none is."""
        used = self.used()
        return used[-1] if used else self.fresh()

    def segments(self, after: Any = None, before: Any = None) -> list[Segment]:
        """Return the gaps between the values in use, from one on and up to one."""
        if self.materialize:
            _wrong(f"All values of '{self.name}' are in use, and no gap has another one.")
        used = self.used()
        for bound in (after, before):
            if bound is not None and self.number_of(bound) is None:
                said = f"segments(...) of '{self.name}' is given {_named(bound)}."
                raise SpecError("SW153", said, help="Give a value of this domain.")
        ends = [(a, b) for a, b in itertools.pairwise([None, *used, None])]
        return [
            Segment(self.name, self.limit, left, right)._freeze()
            for left, right in ends
            if (after is None or (left is not None and left >= after))
            and (before is None or (right is not None and right <= before))
        ]

    def anew(self, numbers: Sequence[int]) -> Mapping[int, int]:
        if self.materialize:
            return {}
        if len(numbers) > self.limit:
            raise Disabled
        return {number: rank * GAP for rank, number in enumerate(numbers)}


class Interval(_Numbers):
    """Values with distances, of which the largest is ``divergence``."""

    kind = IntervalValue
    counts = "only distances count"
    divergence = 0

    def free(self, used: set[int]) -> int | None:
        if len(used) >= self.limit:
            return None
        if used and max(used) + 1 - min(used) > self.divergence:
            return None
        return max(used) + 1 if used else 0

    min = Values.choose
    max = Ordinal.max

    def anew(self, numbers: Sequence[int]) -> Mapping[int, int]:
        if not numbers:
            return {}
        if len(numbers) > self.limit or numbers[-1] - numbers[0] > self.divergence:
            raise Disabled
        return {number: number - numbers[0] for number in numbers}


class Rotational(_Numbers):
    """Places on a ring."""

    kind = RotationalValue
    counts = "not reduced"

    def value(self, number: int) -> Any:
        return RotationalValue(self.name, number, self.limit)._freeze()

    def fresh(self) -> Any:
        """Return any place that is not in use: no one of them is the next."""
        self.may_take()
        used = self.in_use()
        return self.take(any_of([at for at in range(self.limit) if at not in used]))

    def choices(self) -> list[Any]:
        """Return the places in use, and all that may be fresh."""
        return [self.value(at) for at in range(self.limit)]


def ordinal(name: str, limit: int, reflection: bool = False, materialize: bool = False) -> Ordinal:
    """Return a domain of values with an order. Raises SpecError[SW153]."""
    return _noted(Ordinal(name, limit, materialize), reflection)


def interval(
    name: str,
    divergence: int | None = None,
    limit: int | None = None,
    start: int = 0,
    reflection: bool = False,
    materialize: bool = False,
) -> Interval:
    """Return a domain of values with distances. Raises SpecError[SW152, SW153]."""
    if materialize:
        said = f"interval(...) of '{name}' has materialize, which is not supported."
        raise SpecError("SW152", said, help="Use numbers: range(limit).")
    given = [n for n in (divergence, limit) if n is not None]
    if not given or any(type(n) is not int for n in given):
        _wrong("interval(...) takes limit=, divergence= or both, which are numbers.")
    most = divergence + 1 if divergence is not None else 0
    found = Interval(name, limit if limit is not None else most, False)
    found.divergence = divergence if divergence is not None else found.limit - 1
    if found.limit > found.divergence + 1:
        _wrong(f"A limit of {found.limit} does not fit a divergence of {found.divergence}.")
    return _noted(found, reflection)


def rotational(
    name: str, limit: int, materialize: bool = False, reflection: bool = False
) -> Rotational:
    """Return a domain of places on a ring. Raises SpecError[SW153]."""
    return _noted(Rotational(name, limit, materialize), reflection)


D = TypeVar("D", bound=_Numbers)


def _noted(found: D, reflection: bool) -> D:
    declared(found.name)
    if declaring:
        options = declaring[-1].options
        options.setdefault("values", []).extend((found.kind, Segment))
        said = "not reduced" if found.materialize else found.counts
        said += ", mirrored states are two" if reflection else ""
        options.setdefault("counted_by", []).append(f"{found.name}: {said}")
        if not found.materialize and not isinstance(found, Rotational):
            numbered = options.setdefault("numbered", [])
            numbered.append(found)
            options["at_step_end"] = partial(number_anew, numbered)
    return found


def _wrong(message: str) -> NoReturn:
    raise SpecError("SW153", message)


def _named(value: Any) -> str:
    return value.domain_name if isinstance(value, Numbered) else type(value).__name__


# -- numbering anew ---------------------------------------------------------------------------

Key = tuple[str, int]


def number_anew(domains: Sequence[_Numbers]) -> None:
    """Number the values in use anew, at the end of a step. Raises `Disabled` for too many."""
    view = current_view()
    roles = [cls for cls in binding.classes.values() if issubclass(cls, Role)]
    places: list[tuple[Role | None, Any, set[Key]]] = []
    for cls in roles:
        for role, name in itertools.product(cls._instances, cls._fields):
            held = getattr(cls, name).held(role)
            found = [_in_slot(slot) if slot else _mentioned(fixed) for slot, fixed in held]
            places.append((role, name, {key for keys in found for key in keys}))
    places += [(None, slot, {*_in_slot(slot)}) for _, _, slot in slots_of_runs(roles)]
    used = set().union(*(keys for _, _, keys in places))
    new: dict[Key, int] = {}
    for domain in domains:
        numbers = sorted(number for name, number in used if name == domain.name)
        fresh = domain.anew(numbers)
        new |= {(domain.name, a): b for a, b in fresh.items() if a != b}
    if isinstance(view, AheadView):
        return  # what a property sees of it is compared with the state before it
    for role, name, keys in places:
        if keys.isdisjoint(new):
            continue
        if role is not None:
            setattr(role, name, _renumbered(freeze(getattr(role, name)), new))
        else:
            change = tuple(sorted(new.items()))
            view.update(name, ("numbered", change), lambda value: _renumbered(value, new))


def _in_slot(slot: Path) -> tuple[Key, ...]:
    found: tuple[Key, ...] = current_view().project(slot, ("numbered",), _mentioned)
    return found


def _mentioned(value: Any) -> tuple[Key, ...]:
    """Return the names of domains and numbers of the values in a stored value, in order."""
    if isinstance(value, Numbered):
        return ((value.domain_name, value.domain_number),)
    return tuple(sorted({key for part in parts_of(value) for key in _mentioned(part)}))


def _renumbered(value: Any, new: Mapping[Key, int]) -> Any:
    """Return a stored value with new numbers."""
    if isinstance(value, Numbered):
        key = (value.domain_name, value.domain_number)
        return value._with("domain_number", new[key]) if key in new else value
    if not parts_of(value):
        return value
    kind = type(value)
    if kind in (tuple, FrozenList, FrozenSet, FrozenBag):
        return kind(_renumbered(part, new) for part in value)
    if kind is FrozenDict:
        return FrozenDict((_renumbered(k, new), _renumbered(v, new)) for k, v in value.items())
    content = {n: _renumbered(getattr(value, n), new) for n in fields_of(value)}
    return freeze(kind(**content))
