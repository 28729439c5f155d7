"""References to dicts: inside a value, or a field with a slot per key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dsl import refs
from dsl.detaching import forget
from dsl.errors import EngineError, SpecError
from dsl.refs import Reference, make, place
from dsl.sized import Sized
from dsl.values import (
    ABSENT,
    FrozenDict,
    freeze,
    intern_key,
)

_MISSING = object()


class _DictMethods:
    """What both sorts of dict share, from five primitives."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        raise NotImplementedError

    def __setitem__(self, key: Any, value: Any) -> None:
        raise NotImplementedError

    def _remove(self, key: Any) -> None:
        raise NotImplementedError

    def _item(self, key: Any) -> Any:
        """The stored value of a key that is there."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    def __contains__(self, key: object) -> bool:
        raise NotImplementedError

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 (this is get)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: Any, default: Any = _MISSING) -> Any:
        if key not in self:
            if default is _MISSING:
                raise KeyError(key)
            return default
        value = self._item(key)
        self._remove(key)
        return value

    def __delitem__(self, key: Any) -> None:
        if key not in self:
            raise KeyError(key)
        self._remove(key)

    def popitem(self) -> Any:
        raise SpecError(
            "SW104",
            "dict.popitem() takes an item that depends on how the dict was built.",
            help="Choose a key with any_of(...), then pop it.",
        )

    def keys(self) -> list[Any]:
        return list(self)

    def values(self) -> list[Any]:
        return [self[key] for key in self]

    def items(self) -> list[tuple[Any, Any]]:
        return [(key, self[key]) for key in self]

    def update(self, other: Any = (), **named: Any) -> None:
        pairs = other.items() if hasattr(other, "items") else other
        for key, value in [*pairs, *named.items()]:
            self[key] = value

    def clear(self) -> None:
        for key in list(self):
            self._remove(key)


class DictReference(_DictMethods, Sized):
    """A dict inside a value: a dict in a list, a record or another dict."""

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        return dict

    def __contains__(self, key: object) -> bool:
        return Sized.__contains__(self, key)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._project("keys", tuple))

    def _item(self, key: Any) -> Any:
        k = freeze(key)
        return self._project(("item", intern_key(k)), lambda v: v[k])

    def __getitem__(self, key: Any) -> Any:
        k = freeze(key)
        if k not in self:
            raise KeyError(key)
        return self._at(("k", k), self._domain.element if self._domain else None)

    def __setitem__(self, key: Any, value: Any) -> None:
        k = self._member(key, self._domain.key if self._domain else None)
        v = self._element(value)
        forget(self._path, (*self._sub, ("k", k)), self._cell)
        self._update(("set", intern_key(k), intern_key(v)), lambda d: d.with_item(k, v))

    def _remove(self, key: Any) -> None:
        k = freeze(key)
        forget(self._path, (*self._sub, ("k", k)), self._cell)
        self._update(("remove", intern_key(k)), lambda d: d.with_item(k, ABSENT))


class EntriesReference(_DictMethods, Reference):
    """A dict field with a slot per key, and one for the set of keys where the spec lists them."""

    __slots__ = ("_keys",)
    _keys: bool

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        return dict

    def _slot(self, key: Any) -> Any:
        return (*self._path, "key", intern_key(freeze(key)))

    def __contains__(self, key: object) -> bool:
        return bool(
            refs.current_view().project(self._slot(key), "present", lambda v: v is not ABSENT)
        )

    def _key_set(self) -> Any:
        if not self._keys:
            raise EngineError(
                "SW901", f"{refs.show_place(self._path, ())} is listed, but its keys are not kept."
            )
        return refs.current_view().get((*self._path, "keys"))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._key_set())

    def __len__(self) -> int:
        return len(self._key_set())

    def __bool__(self) -> bool:
        return len(self) > 0

    def _item(self, key: Any) -> Any:
        return refs.current_view().get(self._slot(key))

    def __getitem__(self, key: Any) -> Any:
        if key not in self:
            raise KeyError(key)
        return place(self._slot(key), (), self._domain.element if self._domain else None)

    def __setitem__(self, key: Any, value: Any) -> None:
        refs.forbid_change(self._path)
        k = self._member(key, self._domain.key if self._domain else None)
        v = self._checked(value, self._domain.element if self._domain else None)
        path = self._slot(k)
        forget(path)
        refs.current_view().set(path, v)
        self._note(("add", intern_key(k)), lambda s: s.with_element(k))

    def _remove(self, key: Any) -> None:
        refs.forbid_change(self._path)
        k = freeze(key)
        path = self._slot(k)
        forget(path)
        refs.current_view().set(path, ABSENT)
        self._note(("discard", intern_key(k)), lambda s: s.without_element(k))

    def _note(self, key: object, fn: Callable[[Any], Any]) -> None:
        if self._keys:
            refs.current_view().update((*self._path, "keys"), key, fn)

    def _freeze(self) -> Any:
        return FrozenDict((key, self._item(key)) for key in self)

    def _assign(self, value: Any) -> None:
        """Make the field equal to a (frozen) dict."""
        for key in list(self):
            if key not in value:
                self._remove(key)
        for key, item in value.items():
            self[key] = item

    def copy(self) -> Any:
        return dict(self.items())

    def __or__(self, other: Any) -> Any:
        return {**dict(self._freeze()), **dict(other)}


def entries(path: Any, domain: Any, *, keys: bool) -> Any:
    """The reference to a dict field laid out by key."""
    result = make(EntriesReference, path, (), domain)
    result._keys = keys
    return result
