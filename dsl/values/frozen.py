"""Sets and bags as stored: immutable, in canonical order, with canonical bytes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from functools import reduce
from typing import Any, Self

from statewalk.dsl.values.canonical import (
    ABSENT,
    BAG_TAG,
    END,
    SET_TAG,
    check_named,
    encode,
    int_bytes,
    taken_for,
    unstorable,
)
from statewalk.dsl.values.lists import FrozenList, Unchangeable, can_change


def unchanging(kind: str, look: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """Yield what a look gives. Raises RuntimeError where a later look gives something else."""
    found = look()
    return while_same(kind, found, look, found)


def while_same(
    kind: str, elements: Iterable[Any], look: Callable[[], Any], first: Any
) -> Iterator[Any]:
    """Yield the same for elements that do not say themselves what stays the same."""
    for element in elements:
        _compare(kind, first, look())
        yield element
    _compare(kind, first, look())


def _compare(kind: str, first: Any, now: Any) -> None:
    if now is not first and now != first:
        raise RuntimeError(f"{kind} changed during iteration")


def hashable(value: Any) -> Any:
    """Return the stored form of what is looked up in a set or dict. Raises TypeError."""
    kind = type(value)
    if kind in SCALARS or kind in FROZEN:
        return value
    if value.__class__ is not set and can_change(value):  # a set is looked up as a frozenset
        raise TypeError(f"unhashable type: '{value.__class__.__name__}'")
    return freeze(value)


class ByBytes(Unchangeable):
    """Shared by set, bag and dict: entries held in the order of their canonical bytes."""

    __slots__ = ("_bytes", "_entries")
    _tag: bytes
    _entries: dict[bytes, Any]
    _bytes: bytes | None

    @classmethod
    def _of(cls, entries: dict[bytes, Any]) -> Self:
        """Return one with these entries, which are in order."""
        result = cls.__new__(cls)
        result._entries = entries
        result._bytes = None
        return result

    def _canonical(self) -> bytes:
        if self._bytes is None:
            self._bytes = self._tag + b"".join(self._parts()) + END
        return self._bytes

    def _parts(self) -> Iterable[bytes]:
        return self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def __hash__(self) -> int:
        return hash(self._canonical())


def sorted_entries(entries: Mapping[bytes, Any]) -> dict[bytes, Any]:
    """Return entries in canonical order: that of their bytes."""
    return {key: entries[key] for key in sorted(entries)}


SET_METHODS = frozenset({
    "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset",
    "isdisjoint",
})  # fmt: skip
"""The methods of sets that only look."""


def _joining(
    operation: Callable[[Any, Any], Any], *, right: bool = False
) -> Callable[[Any, Any], Any]:
    """Return an operator that joins two sets, the other one being left if ``right``."""

    def joined(self: SetOperators, other: Any) -> Any:
        if not self._joins(other):
            return NotImplemented
        mine, others = self._elements()._entries, elements_of(other)._entries
        known = {**others, **mine}
        kept = operation(mine.keys(), others.keys())
        return self._made(
            FrozenSet._of({key: known[key] for key in sorted(kept)}), other if right else self
        )

    return joined


def comparing(operation: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    """Return a comparison of two sets, given that of their keys."""

    def compared(self: SetOperators, other: Any) -> Any:
        if not self._compares(other):
            return NotImplemented
        return operation(self._elements()._entries.keys(), elements_of(other)._entries.keys())

    return compared


class SetOperators:
    """``| & - ^`` on either side, and comparisons, with sets only."""

    __slots__ = ()

    def _elements(self) -> FrozenSet:
        found: FrozenSet = freeze(self)
        return found

    def _joins(self, other: object) -> bool:
        """Return whether the operators take the other side."""
        return isinstance(other, set | frozenset)

    def _compares(self, other: object) -> bool:
        """Return whether the comparisons do."""
        return isinstance(other, AbstractSet)

    def _made(self, found: Iterable[Any], left: Any) -> Any:
        """Return what an operator gives with this on the left: a set or a frozenset, as Python has
        it.
        """
        return OWN_SETS[isinstance(left, frozenset)](found)

    __or__, __ror__ = _joining(operator.or_), _joining(operator.or_, right=True)
    __and__, __rand__ = _joining(operator.and_), _joining(operator.and_, right=True)
    __xor__, __rxor__ = _joining(operator.xor), _joining(operator.xor, right=True)
    __sub__ = _joining(operator.sub)
    __rsub__ = _joining(lambda mine, others: others - mine, right=True)
    __le__ = comparing(operator.le)
    __lt__ = comparing(operator.lt)
    __ge__ = comparing(operator.ge)
    __gt__ = comparing(operator.gt)


class FrozenSet(SetOperators, ByBytes, AbstractSet[Any]):
    """A set as stored; iterates in canonical order. `isinstance` takes it for a frozenset."""

    __slots__ = ()
    _tag = SET_TAG
    _kind = "set"

    def __init__(self, elements: Iterable[Any] = ()) -> None:
        self._entries = sorted_entries({encode(e): e for e in map(freeze, elements)})
        self._bytes = None

    __class__ = taken_for(frozenset)

    def __contains__(self, element: object) -> bool:
        return encode(hashable(element)) in self._entries

    def __iter__(self) -> Iterator[Any]:
        return iter(self._entries.values())

    def __eq__(self, other: object) -> bool:
        if type(other) is FrozenSet:
            return self._entries.keys() == other._entries.keys()
        if isinstance(other, AbstractSet):
            return self == FrozenSet(other)
        return NotImplemented

    def _made(self, found: Iterable[Any], left: Any) -> Any:
        return found if left is self else super()._made(found, left)

    def __hash__(self) -> int:
        return hash(frozenset(self))  # as the frozenset that it is equal to

    def with_element(self, element: Any) -> FrozenSet:
        """Return the set with one more (frozen) element."""
        key = encode(element)
        if key in self._entries:
            return self
        return FrozenSet._of(sorted_entries({**self._entries, key: element}))

    def without_element(self, element: Any) -> FrozenSet:
        """Return the set without a (frozen) element."""
        key = encode(element)
        if key not in self._entries:
            return self
        return FrozenSet._of({k: e for k, e in self._entries.items() if k != key})

    def union(self, *others: Iterable[Any]) -> FrozenSet:
        """Return the elements of all."""
        return reduce(operator.or_, map(elements_of, others), self)

    def intersection(self, *others: Iterable[Any]) -> FrozenSet:
        """Return the elements common to all."""
        return reduce(operator.and_, map(elements_of, others), self)

    def difference(self, *others: Iterable[Any]) -> FrozenSet:
        """Return the elements of this set that no other has."""
        return reduce(operator.sub, map(elements_of, others), self)

    def symmetric_difference(self, other: Iterable[Any]) -> FrozenSet:
        """Return the elements that are in one of the two only."""
        found: FrozenSet = self ^ elements_of(other)
        return found

    def issubset(self, other: Iterable[Any]) -> bool:
        """Return whether the other has all elements of this set."""
        return bool(self <= elements_of(other))

    def issuperset(self, other: Iterable[Any]) -> bool:
        """Return whether this set has all elements of the other."""
        return bool(self >= elements_of(other))

    def isdisjoint(self, other: Iterable[Any]) -> bool:
        """Return whether no element is in both."""
        return not self & elements_of(other)

    def copy(self) -> set[Any]:
        """Return an ordinary set with the same elements."""
        return set(self)

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self)) + "}" if self else "set()"

    def __reduce__(self) -> tuple[object, ...]:
        return (FrozenSet, (tuple(self),))


def elements_of(values: Iterable[Any]) -> FrozenSet:
    """Return what an iterable gives, as a set. Raises TypeError for what is in no set."""
    return values if type(values) is FrozenSet else FrozenSet(map(hashable, values))


class FrozenBag(ByBytes, Collection[Any]):
    """A bag (multiset) as stored: entries are (element, count)."""

    __slots__ = ()
    _tag = BAG_TAG
    _kind = "Bag"

    def __init__(self, elements: Iterable[Any] = ()) -> None:
        entries: dict[bytes, tuple[Any, int]] = {}
        for element in map(freeze, elements):
            key = encode(element)
            entries[key] = (element, entries[key][1] + 1 if key in entries else 1)
        self._entries = sorted_entries(entries)
        self._bytes = None

    def _parts(self) -> Iterable[bytes]:
        return (key + int_bytes(count) for key, (_, count) in self._entries.items())

    def __len__(self) -> int:
        return sum(count for _, count in self._entries.values())

    def __contains__(self, element: object) -> bool:
        return encode(freeze(element)) in self._entries

    def __iter__(self) -> Iterator[Any]:
        return (e for e, count in self._entries.values() for _ in range(count))

    def __eq__(self, other: object) -> bool:
        if type(other) is not FrozenBag:
            return NotImplemented
        return self._canonical() == other._canonical()

    __hash__ = ByBytes.__hash__

    def count(self, element: Any) -> int:
        """Return how often an element is in it."""
        entry = self._entries.get(encode(freeze(element)))
        return entry[1] if entry else 0

    def counts(self) -> list[tuple[Any, int]]:
        """(element, count), in canonical order."""
        return list(self._entries.values())

    def adjusted(self, element: Any, by: int) -> FrozenBag:
        """Return the bag with ``by`` more of a (frozen) element, never fewer than none."""
        key = encode(element)
        entries = dict(self._entries)
        count = (entries[key][1] if key in entries else 0) + by
        if count > 0:
            entries[key] = (element, count)
        else:
            entries.pop(key, None)
        return FrozenBag._of(sorted_entries(entries))

    def __repr__(self) -> str:
        return f"Bag([{', '.join(map(repr, self))}])"

    def __reduce__(self) -> tuple[object, ...]:
        return (FrozenBag, (tuple(self),))


SCALARS = frozenset({bool, int, str, type(None)})
FROZEN: set[type] = {FrozenList, FrozenSet, FrozenBag}
# The sets of a spec's own, by whether they are frozensets: `dsl.values.ordered_sets` adds them.
OWN_SETS: dict[bool, Callable[[Any], Any]] = {}
# How plain containers are frozen; `dsl.values.stored` adds dicts.
MAKERS: dict[type, Callable[[Any], Any]] = {}


def freeze(value: Any) -> Any:
    """Return the stored form of a value, which nothing can change. Raises SpecError[SW203]."""
    kind = type(value)
    if kind in SCALARS or kind in FROZEN:
        return value
    own: Callable[[], Any] | None = getattr(value, "_freeze", None)
    if own is not None and not isinstance(value, type):
        return own()
    if kind is tuple:
        return tuple(map(freeze, value))
    if kind is list:
        return FrozenList(map(freeze, value))
    if kind is set or kind is frozenset:
        return FrozenSet(value)
    if kind in MAKERS:
        return MAKERS[kind](value)
    if isinstance(value, Enum):
        check_named(kind)
        return value
    if value is ABSENT:
        return value
    raise unstorable(value)
