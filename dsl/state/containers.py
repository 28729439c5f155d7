"""References to containers in the state: list, set, bag and dict, each with Python's methods.

Reads are projections and changes are updates of one slot, except for `EntriesReference` (a dict
with a slot per key) and `ElementsReference` (a set with a slot per element, which is only asked
pointwise).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from statewalk.dsl.errors import EngineError
from statewalk.dsl.state import refs
from statewalk.dsl.state.dicts import (
    DictReference,
    EntriesReference,
    ItemsReference,
    KeysReference,
    ValuesReference,
)
from statewalk.dsl.state.lists import ListReference, Sized
from statewalk.dsl.state.refs import Reference
from statewalk.dsl.values.canonical import name_alike, taken_for
from statewalk.dsl.values.frozen import SET_METHODS, SetOperators, unchanging
from statewalk.dsl.values.ordered_sets import OrderedFrozenSet, OrderedSet, changing
from statewalk.dsl.values.records import Bag
from statewalk.dsl.values.stored import (
    ABSENT,
    FrozenBag,
    FrozenDict,
    FrozenList,
    FrozenSet,
    elements_of,
    hashable,
    intern_key,
    without_roles,
)


class FrozenSetReference(SetOperators, Sized):
    """A frozenset in the state, as its type says. Iterates in canonical order."""

    __slots__ = ()

    __class__ = taken_for(frozenset)

    def __iter__(self) -> Iterator[Any]:
        return self._as_seen(unchanging("Set", self._freeze))

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self._freeze())

    def copy(self) -> Any:
        return OrderedFrozenSet(self)

    def _made(self, found: Iterable[Any], left: Any) -> Any:
        return super()._made(self._as_seen(iter(found)), left)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        without_roles(self._freeze())
        return self.copy()

    def __repr__(self) -> str:
        return repr(self.copy())

    def __getattr__(self, name: str) -> Any:
        if name in SET_METHODS:
            return self._method(name)
        kind = self.__class__.__name__
        raise AttributeError(f"'{kind}' object has no attribute '{name}'")

    def _method(self, name: str) -> Any:
        """Return a method that only looks; a set that it makes is one of the spec's own."""
        method = getattr(self._freeze(), name)

        def called(*others: Any) -> Any:
            found = method(*others)
            return self._made(found, self) if type(found) is FrozenSet else found

        return called


class SetReference(FrozenSetReference):
    """A set in the state; its elements are values."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    __class__ = taken_for(set)

    def copy(self) -> set[Any]:
        return OrderedSet(self)

    def add(self, element: Any) -> None:
        e = self._member(element, self._domain.element if self._domain else None)
        self._update(("add", intern_key(e)), lambda s: s.with_element(e))

    def discard(self, element: Any) -> None:
        e = hashable(element)
        self._update(("discard", intern_key(e)), lambda s: s.without_element(e))

    def remove(self, element: Any) -> None:
        if element not in self:
            raise KeyError(element)
        self.discard(element)

    pop = OrderedSet.pop

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
        kept = [elements_of(o) for o in others]
        self._update(("keep", *kept), lambda s: s.intersection(*kept))

    def symmetric_difference_update(self, other: Iterable[Any]) -> None:
        changed = elements_of(other)
        self._update(("xor", changed), lambda s: s ^ changed)

    __ior__ = changing(update)
    __iand__ = changing(intersection_update)
    __isub__ = changing(difference_update)
    __ixor__ = changing(symmetric_difference_update)


class BagReference(Sized):
    """A bag in the state."""

    __slots__ = ()

    __class__ = taken_for(Bag)

    def __iter__(self) -> Iterator[Any]:
        return self._as_seen(unchanging("Bag", self._freeze))

    def copy(self) -> Bag[Any]:
        return Bag(self._freeze())

    def count(self, element: Any) -> int:
        e = hashable(element)
        return int(self._project(("count", intern_key(e)), lambda b: b.count(e)))

    def add(self, element: Any) -> None:
        e = self._member(element, self._domain.element if self._domain else None)
        self._update(("add", intern_key(e)), lambda b: b.adjusted(e, 1))

    def discard(self, element: Any) -> None:
        e = hashable(element)
        self._update(("discard", intern_key(e)), lambda b: b.adjusted(e, -1))

    remove = SetReference.remove

    def clear(self) -> None:
        self._update("clear", lambda b: FrozenBag())


class ElementsReference(Reference):
    """A set field with a slot per element: the spec only adds, discards and asks ``in``."""

    __slots__ = ()

    __class__ = taken_for(set)

    def _slot(self, element: Any) -> Any:
        return (*self._path, "in", intern_key(element))

    def __contains__(self, element: object) -> bool:
        return refs.current_view().get(self._slot(hashable(element))) is not ABSENT

    def add(self, element: Any) -> None:
        refs.forbid_change(self._path)
        e = self._member(element, self._domain.element if self._domain else None)
        refs.current_view().set(self._slot(e), True)

    def discard(self, element: Any) -> None:
        refs.forbid_change(self._path)
        refs.current_view().set(self._slot(hashable(element)), ABSENT)

    def _freeze(self) -> Any:
        raise EngineError(
            "SW901", f"{refs.show_place(self._path, ())} is listed, but kept by element."
        )

    __len__ = __bool__ = __iter__ = _freeze


# Patterns (``case [first, *_]:``) ask for these, not for what an object can do.
Sequence.register(ListReference)  # pyright: ignore[reportAttributeAccessIssue]
Mapping.register(DictReference)  # pyright: ignore[reportAttributeAccessIssue]
Mapping.register(EntriesReference)  # pyright: ignore[reportAttributeAccessIssue]
refs.BY_KIND |= {"list": ListReference, "set": SetReference, "bag": BagReference}
refs.BY_KIND |= {"dict": DictReference, "frozenset": FrozenSetReference}
refs.REFERENCES |= {FrozenList: ListReference, FrozenSet: SetReference}
refs.REFERENCES |= {FrozenBag: BagReference, FrozenDict: DictReference}
name_alike(
    *refs.BY_KIND.values(), ElementsReference, EntriesReference,
    KeysReference, ItemsReference, ValuesReference,
)  # fmt: skip
