"""References to containers in the state: list, set, bag and dict, each with Python's methods.

Reads are projections and changes are updates of one slot, except for `EntriesReference` (a dict
with a slot per key) and `ElementsReference` (a set with a slot per element, which is only asked
pointwise).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dsl import refs
from dsl.errors import EngineError, SpecError
from dsl.refs import Reference, forget, make, place, shift
from dsl.set_operators import SetOperators
from dsl.values import (
    ABSENT,
    FrozenBag,
    FrozenDict,
    FrozenList,
    FrozenSet,
    freeze,
    intern_key,
)

_MISSING = object()


class _Sized(Reference):
    __slots__ = ()

    def __len__(self) -> int:
        return int(self._project("len", len))

    def __bool__(self) -> bool:
        return len(self) > 0

    def __contains__(self, element: object) -> bool:
        e = freeze(element)
        return bool(self._project(("in", intern_key(e)), lambda v: e in v))

    def copy(self) -> Any:
        return self._freeze()

    def _element(self, value: Any) -> Any:
        return self._checked(value, self._domain.element if self._domain else None)


class ListReference(_Sized):
    """A list in the state."""

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return list

    def __iter__(self) -> Iterator[Any]:
        at = 0
        while at < len(self._freeze()):
            yield self[at]
            at += 1

    def __reversed__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self) - 1, -1, -1)])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            if self._domain is not None and self._domain.element is not None:
                if not self._domain.element.may_contain:
                    key = ("slice", index.start, index.stop, index.step)
                    return list(
                        self._project(key, lambda v: FrozenList(tuple.__getitem__(v, index)))
                    )
            return [self[at] for at in range(*index.indices(len(self)))]
        at = index.__index__()
        if at < 0:
            at += len(self)
        if not self._project(("has", at), lambda v: 0 <= at < len(v)):
            raise IndexError(f"list index {index} out of range")
        return self._at(("i", at), self._domain.element if self._domain else None)

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            new = [self._element(v) for v in value]
            self._change(
                lambda items: items.__setitem__(index, new), ("set[:]", str(index), _key(new))
            )
            return
        at = index.__index__()
        at += len(self) if at < 0 else 0
        if not self._project(("has", at), lambda v: 0 <= at < len(v)):
            raise IndexError("list assignment index out of range")
        element = self._element(value)
        if self._cell is None:
            forget(self._path, (*self._sub, ("i", at)))
        self._update(("set", at, intern_key(element)), lambda v: refs.put(v, (("i", at),), element))

    def __delitem__(self, index: Any) -> None:
        if not isinstance(index, slice):
            self.pop(index)
            return
        self._change(lambda items: items.__delitem__(index), ("del[:]", str(index)))

    def _change(
        self,
        change: Callable[[list[Any]], object],
        key: object,
        move: Callable[[int], int | None] = lambda at: None,
    ) -> None:
        """Any change of structure; references to elements move along, or keep showing what was
        there.
        """

        def changed(value: Any) -> FrozenList:
            items = list(value)
            change(items)
            return FrozenList(items)

        if self._cell is None:
            shift(self._path, self._sub, move)
        self._update(key, changed)

    def append(self, element: Any) -> None:
        e = self._element(element)
        self._update(("append", intern_key(e)), lambda v: FrozenList((*v, e)))

    def extend(self, elements: Iterable[Any]) -> None:
        new = [self._element(e) for e in elements]
        self._update(("extend", _key(new)), lambda v: FrozenList((*v, *new)))

    def insert(self, index: int, element: Any) -> None:
        e = self._element(element)
        size = len(self)
        at = max(0, index + size) if index < 0 else min(index, size)
        self._change(
            lambda items: items.insert(at, e),
            ("insert", at, intern_key(e)),
            lambda old: old + 1 if old >= at else old,
        )

    def pop(self, index: int = -1) -> Any:
        at = index + len(self) if index < 0 else index
        if not self._project(("has", at), lambda v: 0 <= at < len(v)):
            raise IndexError("pop from empty list" if not len(self) else "pop index out of range")
        value = self._project(("item", at), lambda v: v[at])
        self._pop(at)
        return value

    def _pop(self, at: int) -> None:
        def move(old: int) -> int | None:
            return None if old == at else old - (old > at)

        self._change(lambda items: items.pop(at), ("pop", at), move)

    def remove(self, element: Any) -> None:
        self._pop(self.index(element))

    def index(self, element: Any) -> int:
        e = freeze(element)
        at = self._project(("index", intern_key(e)), lambda v: list(v).index(e) if e in v else -1)
        if at < 0:
            raise ValueError(f"{element!r} is not in list")
        return int(at)

    def count(self, element: Any) -> int:
        e = freeze(element)
        return int(self._project(("count", intern_key(e)), lambda v: tuple.count(v, e)))

    def clear(self) -> None:
        self._change(lambda items: items.clear(), "clear")

    def reverse(self) -> None:
        self._change(lambda items: items.reverse(), "reverse")

    def sort(self, *, key: Callable[[Any], Any] | None = None, reverse: bool = False) -> None:
        new = sorted(self._freeze(), key=key, reverse=reverse)
        self._change(lambda items: items.__setitem__(slice(None), new), ("sorted", _key(new)))

    def __add__(self, other: Any) -> list[Any]:
        return [*self._freeze(), *other]

    def __radd__(self, other: Any) -> list[Any]:
        return [*other, *self._freeze()]

    def __iadd__(self, other: Any) -> Any:
        self.extend(other)
        return self

    def __mul__(self, times: int) -> list[Any]:
        return list(self._freeze()) * times

    def __lt__(self, other: Any) -> bool:
        return list(self._freeze()) < list(other)

    def __le__(self, other: Any) -> bool:
        return list(self._freeze()) <= list(other)

    def __gt__(self, other: Any) -> bool:
        return list(self._freeze()) > list(other)

    def __ge__(self, other: Any) -> bool:
        return list(self._freeze()) >= list(other)


def _key(values: Iterable[Any]) -> Any:
    return tuple(map(intern_key, values))


class SetReference(_Sized, SetOperators):
    """A set in the state. Iterates in canonical order; its elements are values."""

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return set

    def __iter__(self) -> Iterator[Any]:
        return iter(self._freeze())

    def add(self, element: Any) -> None:
        e = self._element(element)
        self._update(("add", intern_key(e)), lambda s: s.with_element(e))

    def discard(self, element: Any) -> None:
        e = freeze(element)
        self._update(("discard", intern_key(e)), lambda s: s.without_element(e))

    def remove(self, element: Any) -> None:
        if element not in self:
            raise KeyError(element)
        self.discard(element)

    def pop(self) -> Any:
        raise SpecError(
            "SW104",
            "set.pop() takes an element that Python picks.",
            help="Choices that matter are made with any_of(...); the checker tries them all.",
        )

    def clear(self) -> None:
        self._update("clear", lambda s: FrozenSet())

    def update(self, *others: Iterable[Any]) -> None:
        for other in others:
            for element in list(other):
                self.add(element)

    def difference_update(self, *others: Iterable[Any]) -> None:
        for other in others:
            for element in list(other):
                self.discard(element)

    def intersection_update(self, *others: Iterable[Any]) -> None:
        kept = [FrozenSet(o) for o in others]
        self._update(("keep", *kept), lambda s: s.intersection(*kept))

    def __ior__(self, other: Iterable[Any]) -> Any:
        self.update(other)
        return self

    def __isub__(self, other: Iterable[Any]) -> Any:
        self.difference_update(other)
        return self

    def __iand__(self, other: Iterable[Any]) -> Any:
        self.intersection_update(other)
        return self

    def __getattr__(self, name: str) -> Any:
        if name in ("union", "intersection", "difference", "issubset", "issuperset", "isdisjoint"):
            return getattr(self._freeze(), name)
        raise AttributeError(f"'set' object has no attribute '{name}'")

    def symmetric_difference(self, other: Iterable[Any]) -> Any:
        return self._freeze() ^ FrozenSet(other)


class BagReference(_Sized):
    """A bag in the state."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._freeze())

    def count(self, element: Any) -> int:
        e = freeze(element)
        return int(self._project(("count", intern_key(e)), lambda b: b.count(e)))

    def add(self, element: Any) -> None:
        e = self._element(element)
        self._update(("add", intern_key(e)), lambda b: b.adjusted(e, 1))

    def discard(self, element: Any) -> None:
        e = freeze(element)
        self._update(("discard", intern_key(e)), lambda b: b.adjusted(e, -1))

    def remove(self, element: Any) -> None:
        if element not in self:
            raise KeyError(element)
        self.discard(element)

    def clear(self) -> None:
        self._update("clear", lambda b: FrozenBag())


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
        return self[key] if key in self else default

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


class DictReference(_DictMethods, _Sized):
    """A dict inside a value: a dict in a list, a record or another dict."""

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return dict

    def __contains__(self, key: object) -> bool:
        return _Sized.__contains__(self, key)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._project("keys", lambda v: tuple(v)))

    def _item(self, key: Any) -> Any:
        k = freeze(key)
        return self._project(("item", intern_key(k)), lambda v: v[k])

    def __getitem__(self, key: Any) -> Any:
        k = freeze(key)
        if k not in self:
            raise KeyError(key)
        return self._at(("k", k), self._domain.element if self._domain else None)

    def __setitem__(self, key: Any, value: Any) -> None:
        k = self._checked(key, self._domain.key if self._domain else None)
        v = self._element(value)
        if self._cell is None:
            forget(self._path, (*self._sub, ("k", k)))
        self._update(("set", intern_key(k), intern_key(v)), lambda d: d.with_item(k, v))

    def _remove(self, key: Any) -> None:
        k = freeze(key)
        if self._cell is None:
            forget(self._path, (*self._sub, ("k", k)))
        self._update(("remove", intern_key(k)), lambda d: d.with_item(k, ABSENT))


class EntriesReference(_DictMethods, Reference):
    """A dict field with a slot per key, and one for the set of keys where the spec lists them."""

    __slots__ = ("_keys",)
    _keys: bool

    @property  # type: ignore[misc]
    def __class__(self) -> type:
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
        k = self._checked(key, self._domain.key if self._domain else None)
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


class ElementsReference(Reference):
    """A set field with a slot per element: the spec only adds, discards and asks ``in``."""

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return set

    def _slot(self, element: Any) -> Any:
        return (*self._path, "in", intern_key(element))

    def __contains__(self, element: object) -> bool:
        return refs.current_view().get(self._slot(freeze(element))) is not ABSENT

    def add(self, element: Any) -> None:
        refs.forbid_change(self._path)
        e = self._checked(element, self._domain.element if self._domain else None)
        refs.current_view().set(self._slot(e), True)

    def discard(self, element: Any) -> None:
        refs.forbid_change(self._path)
        refs.current_view().set(self._slot(freeze(element)), ABSENT)

    def _freeze(self) -> Any:
        raise EngineError(
            "SW901", f"{refs.show_place(self._path, ())} is listed, but kept by element."
        )


refs._REFERENCES.update(
    {
        FrozenList: ListReference,
        FrozenSet: SetReference,
        FrozenBag: BagReference,
        FrozenDict: DictReference,
    }
)
refs._BY_KIND.update(
    {"list": ListReference, "set": SetReference, "bag": BagReference, "dict": DictReference}
)


def entries(path: Any, domain: Any, *, keys: bool) -> Any:
    """The reference to a dict field laid out by key."""
    result = make(EntriesReference, path, (), domain)
    result._keys = keys
    return result
