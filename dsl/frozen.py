"""Sets, bags and dicts as stored: immutable, in canonical order, with canonical bytes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Any

from dsl.canonical import (
    _BAG,
    _DICT,
    _END,
    _SET,
    ABSENT,
    _int_bytes,
    encode,
    unchangeable,
    unstorable,
)
from dsl.frozen_list import CHANGING, FrozenList


class _ByBytes:
    """Shared by set, bag and dict: entries held in the order of their canonical bytes."""

    __slots__ = ("_bytes", "_entries", "_hash")
    _tag: bytes
    _entries: dict[bytes, Any]
    _bytes: bytes | None

    def _canonical(self) -> bytes:
        if self._bytes is None:
            self._bytes = self._tag + b"".join(self._parts()) + _END
        return self._bytes

    def _parts(self) -> Iterable[bytes]:
        return self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def __hash__(self) -> int:
        return hash(self._canonical())


def _sorted_entries(entries: Mapping[bytes, Any]) -> dict[bytes, Any]:
    return {key: entries[key] for key in sorted(entries)}


class FrozenSet(_ByBytes, AbstractSet[Any]):
    """A set as stored; iterates in canonical order. `isinstance` takes it for a frozenset."""

    __slots__ = ()
    _tag = _SET

    def __init__(self, elements: Iterable[Any] = ()) -> None:
        self._entries = _sorted_entries({encode(e): e for e in map(freeze, elements)})
        self._bytes = None

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> FrozenSet:
        return FrozenSet(it)

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        return frozenset

    def __contains__(self, element: object) -> bool:
        return encode(freeze(element)) in self._entries

    def __iter__(self) -> Iterator[Any]:
        return iter(self._entries.values())

    def __eq__(self, other: object) -> bool:
        if type(other) is FrozenSet:
            return self._entries.keys() == other._entries.keys()
        if isinstance(other, set | frozenset):
            return self == FrozenSet(other)
        return NotImplemented

    __hash__ = _ByBytes.__hash__

    def with_element(self, element: Any) -> FrozenSet:
        """The set with one more (frozen) element."""
        key = encode(element)
        if key in self._entries:
            return self
        return _set_of(_sorted_entries({**self._entries, key: element}))

    def without_element(self, element: Any) -> FrozenSet:
        """The set without a (frozen) element."""
        key = encode(element)
        if key not in self._entries:
            return self
        return _set_of({k: e for k, e in self._entries.items() if k != key})

    def union(self, *others: Iterable[Any]) -> FrozenSet:
        """The elements of all."""
        return FrozenSet([*self, *(e for other in others for e in other)])

    def intersection(self, *others: Iterable[Any]) -> FrozenSet:
        """The elements common to all."""
        kept = [FrozenSet(o) for o in others]
        return FrozenSet(e for e in self if all(e in o for o in kept))

    def difference(self, *others: Iterable[Any]) -> FrozenSet:
        """The elements of this set that no other has."""
        gone = FrozenSet(e for other in others for e in other)
        return FrozenSet(e for e in self if e not in gone)

    def issubset(self, other: Iterable[Any]) -> bool:
        """Whether the other has all elements of this set."""
        return self <= FrozenSet(other)

    def issuperset(self, other: Iterable[Any]) -> bool:
        """Whether this set has all elements of the other."""
        return self >= FrozenSet(other)

    def copy(self) -> set[Any]:
        """An ordinary set with the same elements."""
        return set(self)

    def __getattr__(self, name: str) -> Any:
        if name in CHANGING:
            raise unchangeable("set", name)
        raise AttributeError(f"'set' object has no attribute '{name}'")

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self)) + "}" if self else "set()"

    def __reduce__(self) -> tuple[object, ...]:
        return (FrozenSet, (tuple(self),))


def _set_of(entries: dict[bytes, Any]) -> FrozenSet:
    result = FrozenSet.__new__(FrozenSet)
    result._entries = entries
    result._bytes = None
    return result


class FrozenBag(_ByBytes, Collection[Any]):
    """A bag (multiset) as stored: entries are (element, count)."""

    __slots__ = ()
    _tag = _BAG

    def __init__(self, elements: Iterable[Any] = ()) -> None:
        entries: dict[bytes, tuple[Any, int]] = {}
        for element in map(freeze, elements):
            key = encode(element)
            entries[key] = (element, entries[key][1] + 1 if key in entries else 1)
        self._entries = _sorted_entries(entries)
        self._bytes = None

    def _parts(self) -> Iterable[bytes]:
        return (key + _int_bytes(count) for key, (_, count) in self._entries.items())

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

    __hash__ = _ByBytes.__hash__

    def __getattr__(self, name: str) -> Any:
        if name in CHANGING:
            raise unchangeable("bag", name)
        raise AttributeError(f"'Bag' object has no attribute '{name}'")

    def count(self, element: Any) -> int:
        """How often an element is in it."""
        entry = self._entries.get(encode(freeze(element)))
        return entry[1] if entry else 0

    def counts(self) -> list[tuple[Any, int]]:
        """(element, count), in canonical order."""
        return list(self._entries.values())

    def adjusted(self, element: Any, by: int) -> FrozenBag:
        """The bag with ``by`` more of a (frozen) element, never fewer than none."""
        key = encode(element)
        entries = dict(self._entries)
        count = (entries[key][1] if key in entries else 0) + by
        if count > 0:
            entries[key] = (element, count)
        else:
            entries.pop(key, None)
        result = FrozenBag.__new__(FrozenBag)
        result._entries = _sorted_entries(entries)
        result._bytes = None
        return result

    def __repr__(self) -> str:
        return f"Bag([{', '.join(map(repr, self))}])"

    def __reduce__(self) -> tuple[object, ...]:
        return (FrozenBag, (tuple(self),))


class FrozenDict(_ByBytes, Mapping[Any, Any]):
    """A dict as stored; its order is the canonical order of its keys."""

    __slots__ = ()
    _tag = _DICT

    def __init__(self, items: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = ()) -> None:
        pairs = items.items() if isinstance(items, Mapping) else items
        frozen = ((freeze(k), freeze(v)) for k, v in pairs)
        self._entries = _sorted_entries({encode(k): (k, v) for k, v in frozen})
        self._bytes = None

    def _parts(self) -> Iterable[bytes]:
        return (key + encode(value) for key, (_, value) in self._entries.items())

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        return dict

    def __getitem__(self, key: Any) -> Any:
        entry = self._entries.get(encode(freeze(key)))
        if entry is None:
            raise KeyError(key)
        return entry[1]

    def __contains__(self, key: object) -> bool:
        return encode(freeze(key)) in self._entries

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self._entries.values())

    def __eq__(self, other: object) -> bool:
        if type(other) is FrozenDict:
            return self._entries == other._entries
        if isinstance(other, Mapping):
            return self == FrozenDict(other)
        return NotImplemented

    __hash__ = _ByBytes.__hash__

    def __setitem__(self, key: Any, value: Any) -> None:
        raise unchangeable("dict", "assignment to a key")

    def __delitem__(self, key: Any) -> None:
        raise unchangeable("dict", "removal of a key")

    def __getattr__(self, name: str) -> Any:
        if name in CHANGING:
            raise unchangeable("dict", name)
        raise AttributeError(f"'dict' object has no attribute '{name}'")

    def with_item(self, key: Any, value: Any) -> FrozenDict:
        """The dict with one (frozen) entry set; ABSENT removes it."""
        encoded = encode(key)
        entries = dict(self._entries)
        if value is ABSENT:
            entries.pop(encoded, None)
        else:
            entries[encoded] = (key, value)
        result = FrozenDict.__new__(FrozenDict)
        result._entries = entries if value is ABSENT else _sorted_entries(entries)
        result._bytes = None
        return result

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{k!r}: {v!r}" for k, v in self.items()) + "}"

    def __reduce__(self) -> tuple[object, ...]:
        return (FrozenDict, (tuple(self.items()),))


_SCALARS = frozenset({bool, int, str, type(None)})
_FROZEN: frozenset[type] = frozenset({FrozenList, FrozenSet, FrozenBag, FrozenDict})


def freeze(value: Any) -> Any:
    """The stored form of a value: a copy that nothing can change.

    Raises:  SpecError[SW203] for what the state cannot hold.
    """
    kind = type(value)
    if kind in _SCALARS or kind in _FROZEN:
        return value
    own: Callable[[], Any] | None = getattr(value, "_freeze", None)
    if own is not None:
        return own()
    if kind is tuple:
        return tuple(map(freeze, value))
    if kind is list:
        return FrozenList(map(freeze, value))
    if kind is set or kind is frozenset:
        return FrozenSet(value)
    if kind is dict:
        return FrozenDict(value)
    if isinstance(value, Enum) or value is ABSENT:
        return value
    raise unstorable(value)
