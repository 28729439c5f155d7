"""Values of the state: what may be stored, copying them in and out, and their order.

A stored value is an immutable tree: None, bool, int, str, enum member, role instance, tuple, list,
set, bag, dict, record. `dsl.values.canonical` has their bytes and order, `dsl.values.frozen` the
containers.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from types import FunctionType
from typing import Any

from statewalk.dsl.values.canonical import (
    ABSENT,
    DICT_TAG,
    describe,
    encode,
    intern_key,
    taken_for,
    unchangeable,
)
from statewalk.dsl.values.frozen import (
    FROZEN,
    MAKERS,
    SCALARS,
    ByBytes,
    FrozenBag,
    FrozenSet,
    SetOperators,
    comparing,
    elements_of,
    freeze,
    hashable,
    sorted_entries,
)
from statewalk.dsl.values.lists import FrozenList, can_change, hash_in_a_step
from statewalk.dsl.values.ordered_sets import OrderedFrozenSet


class KeyOperators(SetOperators):
    """The operators of sets, as the keys and the items of a dict have them."""

    __slots__ = ()

    def _elements(self) -> FrozenSet:
        return elements_of(self)  # type: ignore[arg-type]

    def _joins(self, other: object) -> bool:
        return isinstance(other, Iterable)

    def isdisjoint(self, other: Iterable[Any]) -> bool:
        """Return whether none of them is in the other."""
        return self._elements().isdisjoint(other)

    __eq__ = comparing(operator.eq)

    def __hash__(self) -> int:
        raise TypeError(f"unhashable type: '{self.__class__.__name__}'")


class Keys(KeyOperators, list[Any]):
    """The keys, or items, of a dict that does not change: a list in canonical order, and a set."""

    __slots__ = ()

    def _freeze(self) -> FrozenList:
        return FrozenList(map(freeze, self))

    def __eq__(self, other: Any) -> bool:
        if self._compares(other):
            return self._elements() == elements_of(other)
        return list.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]


AbstractSet.register(Keys)


class FrozenDict(ByBytes, Mapping[Any, Any]):
    """A dict as stored; its order is the canonical order of its keys."""

    __slots__ = ()
    _tag = DICT_TAG
    _kind = "dict"

    def __init__(self, items: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = ()) -> None:
        pairs = items.items() if isinstance(items, Mapping) else items
        frozen = ((freeze(k), freeze(v)) for k, v in pairs)
        self._entries = sorted_entries({encode(k): (k, v) for k, v in frozen})
        self._bytes = None

    def _parts(self) -> Iterable[bytes]:
        return (key + encode(value) for key, (_, value) in self._entries.items())

    __class__ = taken_for(dict)

    def __getitem__(self, key: Any) -> Any:
        entry = self._entries.get(encode(hashable(key)))
        if entry is None:
            raise KeyError(key)
        return entry[1]

    def __contains__(self, key: object) -> bool:
        return encode(hashable(key)) in self._entries

    def __reversed__(self) -> Iterator[Any]:
        return iter(list(self)[::-1])

    def keys(self) -> Any:
        return Keys(self)

    def values(self) -> Any:
        return [value for _, value in self._entries.values()]

    def items(self) -> Any:
        return Keys(self._entries.values())

    def copy(self) -> dict[Any, Any]:
        """Return an ordinary dict with the same entries."""
        return dict(self._entries.values())

    fromkeys = staticmethod(dict.fromkeys)

    def __or__(self, other: Any) -> Any:
        return {**self.copy(), **other} if isinstance(other, dict) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return other | self.copy() if isinstance(other, dict) else NotImplemented

    def __ior__(self, other: Any) -> Any:
        return self.copy().__ior__(other)

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self._entries.values())

    def __eq__(self, other: object) -> bool:
        if type(other) is FrozenDict:
            return self._entries == other._entries
        if isinstance(other, Mapping):
            return self == FrozenDict(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash_in_a_step(self, ByBytes.__hash__(self))

    def __setitem__(self, key: Any, value: Any) -> None:
        raise unchangeable("dict", "assignment to a key")

    def __delitem__(self, key: Any) -> None:
        raise unchangeable("dict", "removal of a key")

    def with_item(self, key: Any, value: Any) -> FrozenDict:
        """Return the dict with one (frozen) entry set; ABSENT removes it."""
        encoded = encode(key)
        entries = dict(self._entries)
        if value is ABSENT:
            entries.pop(encoded, None)
        else:
            entries[encoded] = (key, value)
        return FrozenDict._of(entries if value is ABSENT else sorted_entries(entries))

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{k!r}: {v!r}" for k, v in self.items()) + "}"

    def __reduce__(self) -> tuple[object, ...]:
        return (FrozenDict, (tuple(self.items()),))


FROZEN.add(FrozenDict)
MAKERS[dict] = FrozenDict


__all__ = [
    "ABSENT", "FrozenBag", "FrozenDict", "FrozenList", "FrozenSet", "Keys", "can_change",
    "describe", "elements_of", "encode", "freeze", "hashable", "intern_key", "is_there", "ordered",
    "same", "same_state", "thaw", "without_roles",
]  # fmt: skip


def is_there(value: Any) -> bool:
    """Return whether a slot has a value, as a projection of it."""
    return value is not ABSENT


def same(a: Any, b: Any) -> bool:
    """Return whether two values are one value of the state, where ``True`` is not ``1``."""
    return a is b or bool(intern_key(freeze(a)) == intern_key(freeze(b)))


def same_state(a: Mapping[Any, Any], b: Mapping[Any, Any]) -> bool:
    """Return whether two states, or contents of states, are one: see `same`."""
    return a.keys() == b.keys() and all(same(a[path], b[path]) for path in a)


def thaw(value: Any) -> Any:
    """Return a plain Python copy, for code outside the spec: nothing done to it reaches the
    state.
    """
    kind = type(value)
    if kind in SCALARS:
        return value
    value = freeze(value)
    kind = type(value)
    if kind is FrozenList:
        return [thaw(v) for v in value]
    if kind is tuple:
        return tuple(thaw(v) for v in value)
    if kind is FrozenSet:
        return OrderedFrozenSet(_thawed_key(v) for v in value)
    if kind is FrozenDict:
        return {_thawed_key(k): thaw(v) for k, v in value.items()}
    return value


def without_roles(value: Any) -> Any:
    """Return a stored value without roles in it. Raises SpecError[SW213]."""
    pending = [value]
    while pending:
        part = pending.pop()
        kind = type(part)
        if kind is FrozenDict:
            pending += [*part, *part.values()]
        elif kind in (FrozenList, FrozenSet, FrozenBag, tuple):
            pending += part
        elif kind not in SCALARS:
            copy.copy(part)  # which a role refuses
            pending += [part.__dict__[name] for name in getattr(kind, "_fields", ())]
    return value


def _thawed_key(value: Any) -> Any:
    """Return a plain copy where it can be looked up; what could be changed stays as it is
    stored.
    """
    plain = thaw(value)
    try:
        hash(plain)
    except TypeError:
        return value
    return plain


def ordered(values: Iterable[Any]) -> list[Any]:
    """Return values in canonical order."""
    if type(values) is FrozenSet:
        return list(values)
    found = list(values)
    if len(set(map(type, found))) == 1 and type(found[0]) in (int, str):  # which have this order
        return sorted(found)
    return sorted(found, key=lambda v: encode(freeze(v)))


def typed(value: Any) -> str:
    """Return a value that no state can hold as a person would type it.

    Functions and classes are written by their names.
    """
    name = getattr(value, "__qualname__", "")
    return name if isinstance(value, FunctionType | type) and name.isidentifier() else str(value)
