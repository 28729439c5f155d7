"""Dicts as stored, and their keys and items."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from statewalk.dsl.values.canonical import ABSENT, DICT_TAG, encode, taken_for, unchangeable
from statewalk.dsl.values.frozen import (
    FROZEN,
    MAKERS,
    ByBytes,
    FrozenSet,
    SetOperators,
    comparing,
    elements_of,
    freeze,
    hashable,
    sorted_entries,
)
from statewalk.dsl.values.lists import FrozenList, hash_in_a_step


class KeyOperators(SetOperators):
    """The operators of sets, as the keys and the items of a dict have them."""

    __slots__ = ()

    def _elements(self) -> FrozenSet:
        return elements_of(self)  # type: ignore[arg-type]

    def _joins(self, other: object) -> bool:
        return isinstance(other, Iterable)

    def isdisjoint(self, other: Iterable[Any]) -> bool:
        """Whether none of them is in the other."""
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
        """An ordinary dict with the same entries."""
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
        """The dict with one (frozen) entry set; ABSENT removes it."""
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
