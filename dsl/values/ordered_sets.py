"""The sets that a spec makes for itself: Python's, but gone through in the canonical order.

A set of strings, enum members or roles has another order in each process. Whatever goes through
one of these, in Python or in C, asks `__iter__` and gets the order of the language; so what a step
does with one is the same in every run. In a spec module ``set`` and ``frozenset`` mean these
classes, see `dsl.source.set_order`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from types import GenericAlias
from typing import Any, ClassVar, NoReturn

from statewalk.dsl.errors import SpecError
from statewalk.dsl.values.canonical import describe, encode, taken_for
from statewalk.dsl.values.frozen import OWN_SETS, FrozenSet, freeze, while_same

_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.items()))
_BY_TEXT = frozenset({float, complex, bytes})


class _Kind(type):
    """In a spec, any set is a ``set``: one of Python's own, and one in the state too."""

    def __instancecheck__(cls, value: object) -> bool:
        plain = PLAIN.get(cls)
        return super().__instancecheck__(value) if plain is None else isinstance(value, plain)

    def __subclasscheck__(cls, other: type) -> bool:
        plain = PLAIN.get(cls)
        return super().__subclasscheck__(other) if plain is None else issubclass(other, plain)


class _Ordered:
    """The common base of both kinds of sets."""

    __slots__ = ()
    _plain: ClassVar[Any]

    def __class_getitem__(cls, item: Any) -> GenericAlias:
        return GenericAlias(cls._plain, item)

    def __iter__(self) -> Iterator[Any]:
        return iter(_in_order(list(self._plain.__iter__(self))))

    def __reduce__(self) -> tuple[object, ...]:
        return (_made, (self._plain is set, list(self._plain.__iter__(self))))

    def _freeze(self) -> FrozenSet:
        return FrozenSet(self._plain.__iter__(self))


class OrderedSet(_Ordered, set[Any], metaclass=_Kind):
    """A set of a spec's own."""

    __slots__ = ()
    __class__ = taken_for(set)
    _plain = set

    def __iter__(self) -> Iterator[Any]:
        return while_same("Set", super().__iter__(), self.__len__, len(self))

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self)) + "}" if self else "set()"

    def pop(self) -> NoReturn:
        help = "Choices that matter are made with any_of(...); the checker tries them all."
        raise SpecError("SW104", "set.pop() takes an element that Python picks.", help=help)


class OrderedFrozenSet(_Ordered, frozenset[Any], metaclass=_Kind):
    """A frozenset of a spec's own."""

    __slots__ = ()
    __class__ = taken_for(frozenset)
    _plain = frozenset

    def __repr__(self) -> str:
        return "frozenset({" + ", ".join(map(repr, self)) + "})" if self else "frozenset()"


PLAIN: dict[type, type] = {OrderedSet: set, OrderedFrozenSet: frozenset}
OWN_SETS.update({False: OrderedSet, True: OrderedFrozenSet})


def _made(changeable: bool, elements: list[Any]) -> OrderedSet | OrderedFrozenSet:
    return OrderedSet(elements) if changeable else OrderedFrozenSet(elements)


def _making(cls: type, plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of Python's sets that makes a new one, which is to be ordered as well."""

    def method(self: Any, *others: Any) -> Any:
        if len(others) == 1 and type(others[0]) in _VIEWS:
            others = (set(others[0]),)
        found = plain(self, *others)
        return found if found is NotImplemented else cls(found)

    return method


def changing(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return an operator that changes the left set as a method does."""

    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, set | frozenset):
            return NotImplemented
        plain(self, other)
        return self

    return method


for _sign, _word in (
    ("ior", "update"),
    ("iand", "intersection_update"),
    ("isub", "difference_update"),
    ("ixor", "symmetric_difference_update"),
):
    setattr(OrderedSet, f"__{_sign}__", changing(getattr(set, _word)))
for _cls, _base in PLAIN.items():
    for _name in ("and", "or", "sub", "xor", "rand", "ror", "rsub", "rxor"):
        setattr(_cls, f"__{_name}__", _making(_cls, getattr(_base, f"__{_name}__")))
    for _name in ("copy", "union", "intersection", "difference", "symmetric_difference"):
        setattr(_cls, _name, _making(_cls, getattr(_base, _name)))
    _cls.__name__ = _cls.__qualname__ = _base.__name__  # as messages, also Python's, name it


def _in_order(found: list[Any]) -> list[Any]:
    if len(found) > 1:
        kinds = set(map(type, found))
        try:
            found.sort(key=None if kinds in ({str}, {int}) else _rank)
        except _NoOrder:
            raise _no_order(found) from None
    return found


class _NoOrder(Exception):
    """There is an element that is no value, nor made of values."""


def _rank(value: Any) -> tuple[Any, ...]:
    """Return what an element is ordered by: what the state can hold first, in the
    canonical order.
    """
    try:
        return (0, encode(freeze(value)))
    except (SpecError, TypeError):
        return (1, *_other_rank(value))


def _other_rank(value: Any) -> tuple[Any, ...]:
    """Return the order of what the state cannot hold, by what it consists of."""
    kind = type(value)
    if kind in _BY_TEXT:
        return (kind.__name__, repr(value))
    if isinstance(value, tuple):
        return (kind.__name__, *map(_rank, value))
    if isinstance(value, frozenset):
        return (kind.__name__, *sorted(map(_rank, value)))
    if is_dataclass(value) and not isinstance(value, type):
        return (kind.__name__, *(_rank(getattr(value, f.name)) for f in fields(value)))
    raise _NoOrder(describe(value))


def _no_order(elements: list[Any]) -> SpecError:
    """Return the error of a set, which names the same element whatever comes first."""
    named = []
    for element in elements:
        try:
            _rank(element)
        except _NoOrder as reason:
            named.append(str(reason))
    said = f"This set has no order: it holds {min(named)}."
    why = "The checker iterates over sets in a fixed order of their values. This element has only "
    why += "a memory address, which differs from run to run."
    return SpecError("SW210", said, why=why, help="Use a list or a tuple instead of the set.")
