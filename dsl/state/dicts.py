"""References to dicts: inside a value, or a field with a slot per key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.errors import EngineError, SpecError
from statewalk.dsl.state import refs
from statewalk.dsl.state.detaching import Cell, forget, sub_key
from statewalk.dsl.state.lists import Sized, keys_seen
from statewalk.dsl.state.refs import Reference, make, place, place_in, seen
from statewalk.dsl.values.canonical import taken_for
from statewalk.dsl.values.frozen import unchanging
from statewalk.dsl.values.stored import (
    ABSENT,
    FrozenDict,
    FrozenList,
    FrozenSet,
    KeyOperators,
    freeze,
    hashable,
    intern_key,
)
from statewalk.dsl.view import Path


class DictView:
    """The common base of the three views."""

    __slots__ = ("_of",)

    def __init__(self, of: Any) -> None:
        self._of = of

    def _shown(self, key: Any) -> Any:
        return key

    def __len__(self) -> int:
        return len(self._of)

    def __iter__(self) -> Iterator[Any]:
        return map(self._shown, iter(self._of))

    def __reversed__(self) -> Iterator[Any]:
        return map(self._shown, reversed(self._of))

    def __contains__(self, element: object) -> bool:
        return any(found is element or found == element for found in self)

    def _freeze(self) -> FrozenList:
        return FrozenList(map(freeze, self))

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({list(self)!r})"


class SetView(KeyOperators, DictView):
    """One that has the operators of sets."""

    __slots__ = ()

    def _made(self, found: Iterable[Any], left: Any) -> Any:
        return super()._made((seen(v, None, self._of._path, key=True) for v in found), left)


class KeysReference(SetView):
    """The keys."""

    __slots__ = ()
    __class__ = taken_for(type({}.keys()))

    def __contains__(self, element: object) -> bool:
        return element in self._of


class ItemsReference(SetView):
    """Pairs of a key and its value."""

    __slots__ = ()
    __class__ = taken_for(type({}.items()))

    def _shown(self, key: Any) -> tuple[Any, Any]:
        return key, self._of[key]

    def __contains__(self, element: object) -> bool:
        if not isinstance(element, tuple) or len(element) != 2:
            return False
        key, value = element
        return key in self._of and self._of[key] == value


class ValuesReference(DictView):
    """The values."""

    __slots__ = ()
    __class__ = taken_for(type({}.values()))

    def _shown(self, key: Any) -> Any:
        return self._of[key]


_MISSING = object()


class _DictMethods:
    """The common base of both sorts of dict.

    They get, set, remove, look for and go through keys.
    """

    __slots__ = ()

    def get(self: Any, key: Any, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 (this is get)

    def setdefault(self: Any, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self: Any, key: Any, default: Any = _MISSING) -> Any:
        if key not in self:
            if default is _MISSING:
                raise KeyError(key)
            return default
        value = self[key]
        self._remove(key)
        return value

    def __delitem__(self: Any, key: Any) -> None:
        if key not in self:
            raise KeyError(key)
        self._remove(key)

    def popitem(self) -> Any:
        said = "dict.popitem() takes an item that depends on how the dict was built."
        raise SpecError("SW104", said, help="Choose a key with any_of(...), then pop it.")

    def keys(self) -> KeysReference:
        return KeysReference(self)

    def values(self) -> ValuesReference:
        return ValuesReference(self)

    def items(self) -> ItemsReference:
        return ItemsReference(self)

    def __repr__(self) -> str:
        return repr(self.copy())

    fromkeys = staticmethod(dict.fromkeys)
    __reversed__ = FrozenDict.__reversed__

    def update(self: Any, other: Any = (), **named: Any) -> None:
        pairs = other.items() if hasattr(other, "items") else _pairs(other)
        for key, value in (*pairs, *named.items()):
            self[key] = value

    def clear(self: Any) -> None:
        for key in list(self):
            self._remove(key)

    def copy(self) -> dict[Any, Any]:
        return dict(self.items())

    __or__: Any = FrozenDict.__or__
    __ror__: Any = FrozenDict.__ror__

    def __ior__(self, other: Any) -> Any:  # type: ignore[misc]
        self.update(other)
        return self


def _pairs(values: Any) -> list[Any]:
    """Return pairs of a key and a value. Raises what Python's dicts do for what is none."""
    found = list(values)
    dict(found)
    return found


class DictReference(_DictMethods, Sized):
    """A dict inside a value: a dict in a list, a record or another dict."""

    __slots__ = ()

    __class__ = taken_for(dict)

    def __contains__(self, key: object) -> bool:
        return Sized.__contains__(self, key)

    def __iter__(self) -> Iterator[Any]:
        return keys_seen(unchanging("dictionary", lambda: self._project("keys", tuple)), self)

    def _item(self, key: Any) -> Any:
        k = hashable(key)
        return self._project(("item", intern_key(k)), lambda v: v[k])

    def __getitem__(self, key: Any) -> Any:
        k = hashable(key)
        if k not in self:
            raise KeyError(key)
        return self._at(("k", k), self._domain.element if self._domain else None)

    def __setitem__(self, key: Any, value: Any) -> None:
        k = self._member(key, self._domain.key if self._domain else None)
        if self._is_at(value, ("k", k)):
            return
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

    __class__ = taken_for(dict)

    @property
    def _replaced(self) -> Any:
        """A reference to what the field held, once it holds another dict."""
        return place_in(self._cell, self._path, (), self._domain) if self._cell else None

    def _slot(self, key: Any) -> Any:
        return (*self._path, "key", intern_key(hashable(key)))

    def __contains__(self, key: object) -> bool:
        if self._cell is not None:
            return key in self._replaced
        return bool(
            refs.current_view().project(self._slot(key), "present", lambda v: v is not ABSENT)
        )

    def _key_set(self) -> Any:
        if self._cell is not None:
            return FrozenSet(self._replaced)
        if not self._keys:
            raise EngineError(
                "SW901", f"{refs.show_place(self._path, ())} is listed, but its keys are not kept."
            )
        return refs.current_view().get((*self._path, "keys"))

    def __iter__(self) -> Iterator[Any]:
        return keys_seen(unchanging("dictionary", self._key_set), self)

    def __len__(self) -> int:
        return len(self._key_set())

    def __bool__(self) -> bool:
        return len(self) > 0

    def _item(self, key: Any) -> Any:
        if self._cell is not None:
            return self._replaced._item(key)
        return refs.current_view().get(self._slot(key))

    def __getitem__(self, key: Any) -> Any:
        if self._cell is not None:
            return self._replaced[key]
        if key not in self:
            raise KeyError(key)
        return place(self._slot(key), (), self._domain.element if self._domain else None)

    def __setitem__(self, key: Any, value: Any) -> None:
        refs.forbid_change(self._path)
        if self._cell is not None:
            self._replaced[key] = value
            return
        k = self._member(key, self._domain.key if self._domain else None)
        if isinstance(value, Reference) and value._path == self._slot(k):
            if value._cell is None and not value._sub:
                return
        v = self._checked(value, self._domain.element if self._domain else None)
        path = self._slot(k)
        forget(path)
        refs.current_view().set(path, v)
        self._note(("add", intern_key(k)), lambda s: s.with_element(k))

    def _remove(self, key: Any) -> None:
        refs.forbid_change(self._path)
        if self._cell is not None:
            self._replaced._remove(key)
            return
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

    __copy__ = _DictMethods.copy


def entries(path: Path, domain: Any, *, keys: bool) -> Any:
    """Return the reference to a dict field laid out by key."""
    result = make(EntriesReference, path, (), domain)
    result._keys = keys
    return result


def replace_entries(path: Path, domain: Any, value: Any, *, keys: bool) -> None:
    """Give a dict field laid out by key another (frozen) dict. References are detached."""
    known = binding.references.get(path, {}).pop((), None)
    if known is not None:
        _detach(known)
    reference = entries(path, domain, keys=keys)
    for key in list(reference):
        if key not in value:
            reference._remove(key)
    for key, item in value.items():
        reference[key] = item


def _detach(reference: EntriesReference) -> None:
    """Let a reference, and those into entries, show what the field holds now."""
    view = refs.current_view()
    slots = {key: reference._slot(key) for key in reference}
    held = {key: view.later(slot) for key, slot in slots.items()}
    cell = Cell(lambda: FrozenDict((key, later()) for key, later in held.items()))
    for key, slot in slots.items():
        for inside in binding.references.pop(slot, {}).values():
            sub = (("k", key), *inside._sub)
            for name, new in (("_path", reference._path), ("_sub", sub), ("_cell", cell)):
                object.__setattr__(inside, name, new)
            object.__setattr__(inside, "_place", sub_key(sub))
            cell.references[inside._place] = inside
    reference._cell = cell
