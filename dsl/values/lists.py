"""A list as stored: immutable, with canonical bytes, and for reading like any list."""

from __future__ import annotations

import dis
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.values.canonical import END, LIST_TAG, encode, taken_for, unchangeable

CHANGING = frozenset({
    "append", "extend", "insert", "pop", "remove", "sort", "reverse", "clear", "add", "discard",
    "update", "setdefault", "popitem", "intersection_update", "difference_update",
    "symmetric_difference_update",
})  # fmt: skip
"""Methods that change a list, set, bag or dict."""


class Unchangeable:
    """A stored container, with only the reading methods of Python's containers."""

    __slots__ = ()
    _kind: str

    def __getattr__(self, name: str) -> Any:
        if name in CHANGING:
            raise unchangeable(self._kind, name)
        raise AttributeError(f"'{self._kind}' object has no attribute '{name}'")


_CHANGE = frozenset({list, set, dict})


def can_change(value: Any) -> bool:
    """Return whether a value can be no key: a list, set or dict, but with free records (.fizz)."""
    kind: type = value.__class__
    return kind in _CHANGE and not getattr(binding.classes.get("record"), "_open", False)


def hash_in_a_step(value: Any, found: int) -> int:
    """Return the hash of what is stored.

    Raises TypeError where a spec asks for that of a list or dict.
    """
    if binding.view is not None and can_change(value):
        raise TypeError(f"unhashable type: '{value.__class__.__name__}'")
    return found


def _comparing(operation: Callable[[Any, Any], bool], sign: str) -> Callable[[Any, Any], bool]:
    """Return a comparison of lists."""
    return lambda self, other: operation(list(self), _listed(other, sign))


class FrozenList(Unchangeable, Sequence[Any]):
    """A list as stored. `isinstance` takes it for a list, and no tuple, and it reads like one."""

    __slots__ = ("_bytes", "_items")
    _kind = "list"
    __class__ = taken_for(list)

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._items = tuple(items)
        self._bytes: bytes | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return (FrozenList, (self._items,))

    def _canonical(self) -> bytes:
        if self._bytes is None:
            self._bytes = LIST_TAG + b"".join(map(encode, self._items)) + END
        return self._bytes

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __reversed__(self) -> Iterator[Any]:
        yield from reversed(self._items)

    def __contains__(self, element: object) -> bool:
        return element in self._items

    def index(self, element: Any, *bounds: Any) -> int:
        """Return where an element is first. Raises ValueError where it is not."""
        return list(self._items).index(element, *bounds)

    def count(self, element: Any) -> int:
        """Return how often an element is in it."""
        return self._items.count(element)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list | FrozenList) and list(self) == list(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash_in_a_step(self, hash(self._canonical()))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return list(self._items[index])
        try:
            return self._items[index]
        except (IndexError, TypeError):
            return list(self._items)[index]  # raises as a list does

    def part(self, bounds: slice) -> FrozenList:
        """Return the elements within some bounds, as stored."""
        return FrozenList(self._items[bounds])

    def __setitem__(self, index: Any, value: Any) -> None:
        raise unchangeable("list", "assignment to an element")

    def __delitem__(self, index: Any) -> None:
        raise unchangeable("list", "removal of an element")

    def __add__(self, other: Any) -> Any:
        return list(self) + _listed(other, "+")

    def __radd__(self, other: Any) -> Any:
        if isinstance(other, tuple):
            _listed(other, "+")
        if not isinstance(other, list) or is_in_place(sys._getframe(1)):
            return NotImplemented
        return other + list(self)

    def __iadd__(self, other: Any) -> Any:
        return [*self, *other]

    def __mul__(self, times: Any) -> Any:
        return list(self) * times

    __rmul__ = __mul__

    __lt__, __le__ = _comparing(operator.lt, "<"), _comparing(operator.le, "<=")
    __gt__, __ge__ = _comparing(operator.gt, ">"), _comparing(operator.ge, ">=")

    def copy(self) -> list[Any]:
        """Return an ordinary list with the same elements."""
        return list(self)

    def __repr__(self) -> str:
        return repr(list(self))


_PLUS_IS = next(
    (found.opcode, found.arg)
    for found in dis.get_instructions(compile("a += b", "", "exec"))
    if found.opname == "BINARY_OP"
)


def is_in_place(frame: FrameType) -> bool:
    """Return whether it is at a ``+=`` that a frame asks a right-hand side, not at a ``+``.

    A list of Python's asks what stands on the right first, and extends itself when that declines.
    """
    code, at = frame.f_code.co_code, frame.f_lasti
    return (code[at], code[at + 1]) == _PLUS_IS


def _listed(other: object, sign: str) -> list[Any]:
    """Return the other operand as a list. A tuple is none, though Python would take it here."""
    if not isinstance(other, list):
        kind = type(other).__name__
        raise TypeError(f"'{sign}' not supported between instances of 'list' and '{kind}'")
    return list(other)
