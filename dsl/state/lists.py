"""References to lists in the state."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from statewalk.dsl.state.detaching import forget, shift, with_at
from statewalk.dsl.state.refs import Reference, seen
from statewalk.dsl.values.canonical import taken_for
from statewalk.dsl.values.domains import Domain
from statewalk.dsl.values.lists import is_in_place
from statewalk.dsl.values.stored import FrozenList, freeze, hashable, intern_key


class Sized(Reference):
    """A reference to something that has a size and can be asked for elements."""

    __slots__ = ()

    def __len__(self) -> int:
        return int(self._project("len", len))

    def __bool__(self) -> bool:
        return len(self) > 0

    def __contains__(self, element: object) -> bool:
        e = self._asked(element)
        return bool(self._by_equality(("in", intern_key(e)), lambda v: e in v))

    def _asked(self, element: object) -> Any:
        """Return what is looked for: in a set, or among keys, only what Python can look
        up there.
        """
        return hashable(element)

    def copy(self) -> Any:
        """Return a container of the same kind and elements that is no part of the state."""
        raise NotImplementedError

    def __copy__(self) -> Any:
        return self.copy()

    def _element(self, value: Any) -> Any:
        return self._checked(value, self._domain.element if self._domain else None)

    def _as_seen(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Return elements of a set, which are values, as a spec has them."""
        return _seen(elements, self._domain.element if self._domain else None, self)


def keys_seen(keys: Iterator[Any], of: Reference) -> Iterator[Any]:
    """Return the keys of a dict as a spec has them."""
    return _seen(keys, of._domain.key if of._domain else None, of)


def _seen(values: Iterator[Any], domain: Domain | None, of: Reference) -> Iterator[Any]:
    if domain is not None and not domain.may_contain:
        return values
    return (seen(value, domain, of._path, key=True) for value in values)


def _comparing(operation: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    """Return a comparison with what is a list to a spec."""

    def compared(self: ListReference, other: Any) -> Any:
        known = isinstance(other, list)
        return operation(list(self._freeze()), list(other)) if known else NotImplemented

    return compared


class ListReference(Sized):
    """A list in the state."""

    __slots__ = ()

    __class__ = taken_for(list)

    def _asked(self, element: object) -> Any:
        return freeze(element)

    def __iter__(self) -> Iterator[Any]:
        at, domain = 0, self._domain.element if self._domain is not None else None
        while at < len(whole := self._freeze()):
            yield self._among(whole, at, domain)
            at += 1

    def __reversed__(self) -> Iterator[Any]:
        return self._from(len(self) - 1)

    def _from(self, at: int) -> Iterator[Any]:
        """Yield the elements from one backwards, as far as there are any."""
        while 0 <= at < len(self._freeze()):
            yield self[at]
            at -= 1

    def __repr__(self) -> str:
        inner = self._domain.element if self._domain is not None else None
        return repr(list(self) if inner is None or inner.may_contain else self._freeze())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            if self._domain is not None and self._domain.element is not None:
                if not self._domain.element.may_contain:
                    key = ("slice", index.start, index.stop, index.step)
                    return list(self._project(key, lambda v: v.part(index)))
            return [self[at] for at in range(*index.indices(len(self)))]
        at = self._existing(index, "list index out of range")
        return self._at(("i", at), self._domain.element if self._domain else None)

    def _existing(self, index: Any, error: str) -> int:
        """Return the place of an element from the beginning. Raises IndexError where none is."""
        at = as_index(index)
        at += len(self) if at < 0 else 0
        if not self._project(("has", at), lambda v: 0 <= at < len(v)):
            raise IndexError(error)
        return at

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            new = [self._element(v) for v in value]
            size = len(self)  # asked whether or not there are references that move
            self._change(
                lambda items: items.__setitem__(index, new),
                ("set[:]", str(index), _key(new)),
                lambda old: _replaced(index, size, len(new), old),
            )
            return
        at = self._existing(index, "list assignment index out of range")
        if self._is_at(value, ("i", at)):
            return
        element = self._element(value)
        forget(self._path, (*self._sub, ("i", at)), self._cell)
        self._update(("set", at, intern_key(element)), lambda v: with_at(v, (("i", at),), element))

    def __delitem__(self, index: Any) -> None:
        if not isinstance(index, slice):
            self._pop(self._existing(index, "list assignment index out of range"))
            return
        size = len(self)
        self._change(
            lambda items: items.__delitem__(index),
            ("del[:]", str(index)),
            lambda old: _deleted(index, size, old),
        )

    def _change(
        self,
        change: Callable[[list[Any]], object],
        key: object,
        move: Callable[[int], int | None] = lambda at: None,
    ) -> None:
        """Change the structure of a list; references move along or are detached."""

        def changed(value: Any) -> FrozenList:
            items = list(value)
            change(items)
            return FrozenList(items)

        shift(self._path, self._sub, move, self._cell)
        self._update(key, changed)

    def append(self, element: Any) -> None:
        e = self._element(element)
        self._update(("append", intern_key(e)), lambda v: FrozenList((*v, e)))

    def extend(self, elements: Iterable[Any]) -> None:
        new = [self._element(e) for e in elements]
        self._update(("extend", _key(new)), lambda v: FrozenList((*v, *new)))

    def insert(self, index: int, element: Any) -> None:
        index, size = operator.index(index), len(self)
        e = self._element(element)
        at = max(0, index + size) if index < 0 else min(index, size)
        self._change(
            lambda items: items.insert(at, e),
            ("insert", at, intern_key(e)),
            lambda old: old + 1 if old >= at else old,
        )

    def pop(self, index: int = -1) -> Any:
        at = operator.index(index)
        at += len(self) if at < 0 else 0
        if not self._project(("has", at), lambda v: 0 <= at < len(v)):
            raise IndexError("pop from empty list" if not len(self) else "pop index out of range")
        value = self[at]
        self._pop(at)
        return value

    def _pop(self, at: int) -> None:
        def move(old: int) -> int | None:
            return None if old == at else old - (old > at)

        self._change(lambda items: items.pop(at), ("pop", at), move)

    def remove(self, element: Any) -> None:
        at = self._index(element, 0, sys.maxsize)
        if at < 0:
            raise ValueError("list.remove(x): x not in list")
        self._pop(at)

    def index(self, element: Any, start: int = 0, stop: int = sys.maxsize) -> int:
        at = self._index(element, as_index(start), as_index(stop))
        if at < 0:
            raise ValueError(f"{element!r} is not in list")
        return at

    def _index(self, element: Any, start: int, stop: int) -> int:
        e = freeze(element)
        key = ("index", intern_key(e), start, stop)
        return int(self._by_equality(key, lambda v: index_in(list(v), e, start, stop)))

    def count(self, element: Any) -> int:
        e = freeze(element)
        return int(self._by_equality(("count", intern_key(e)), lambda v: v.count(e)))

    def clear(self) -> None:
        self._change(lambda items: items.clear(), "clear")

    def reverse(self) -> None:
        size = len(self)
        self._change(lambda items: items.reverse(), "reverse", lambda old: size - 1 - old)

    def sort(self, *, key: Callable[[Any], Any] | None = None, reverse: bool = False) -> None:
        by = list(self._freeze()) if key is None else [key(element) for element in self]
        items = list(self._freeze())  # what asks for a key may change elements
        order = sorted(range(len(items)), key=by.__getitem__, reverse=reverse)
        new = [items[at] for at in order]
        self._change(
            lambda items: items.__setitem__(slice(None), new), ("sorted", _key(new)), order.index
        )

    def copy(self) -> list[Any]:
        return self[:]  # type: ignore[no-any-return]

    def __add__(self, other: Any) -> Any:
        if isinstance(other, list):
            return [*self[:], *other]
        added = getattr(type(other), "__radd__", None)
        found = NotImplemented if added is None else added(other, self)
        if found is NotImplemented:
            return self[:] + other  # Python's error
        return found

    def __radd__(self, other: Any) -> Any:
        if not isinstance(other, list) or is_in_place(sys._getframe(1)):
            return NotImplemented
        return other + self[:]

    def __iadd__(self, other: Any) -> Any:
        self.extend(other)
        return self

    def __mul__(self, times: int) -> list[Any]:
        return self[:] * times  # type: ignore[no-any-return]

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Any:
        if [None] * times:  # or an error: no number
            self.extend(list(self._freeze()) * (times - 1))  # the elements stay where they are
        else:
            self.clear()
        return self

    __lt__, __le__ = _comparing(operator.lt), _comparing(operator.le)
    __gt__, __ge__ = _comparing(operator.gt), _comparing(operator.ge)


def as_index(index: Any) -> int:
    """Return a number that an element is asked by. Raises TypeError for what is none."""
    try:
        return operator.index(index)
    except TypeError:
        kind = type(index).__name__
        raise TypeError(f"list indices must be integers or slices, not {kind}") from None


def index_in(items: list[Any], element: Any, start: int, stop: int) -> int:
    """Return where an element is first, between two places; -1 where it is not."""
    return items.index(element, start, stop) if element in items[start:stop] else -1


def _deleted(index: slice, size: int, old: int) -> int | None:
    """Return where an element is after ``del items[index]``."""
    gone = range(size)[index]
    return None if old in gone else old - sum(at < old for at in gone)


def _replaced(index: slice, size: int, new: int, old: int) -> int | None:
    """Return where an element is after ``items[index] = new items``."""
    gone = range(size)[index]
    if old in gone:
        return None
    if index.step not in (None, 1) or old < gone.start:
        return old
    return old - len(gone) + new


def _key(values: Iterable[Any]) -> Any:
    return tuple(map(intern_key, values))
