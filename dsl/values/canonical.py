"""Canonical bytes: the one notion behind identity, order, fingerprints and files.

`encode` gives each stored value its *canonical bytes*. They are injective (``True`` and ``1``
differ), comparing them compares values in the canonical order (None, bool, int, str, enum by
definition (flags by number), role by class and index, tuple, list, record, set, bag, dict), and
`dsl.state.packing` reads them back.

Source of the order-preserving scheme: the tuple layer of FoundationDB (escaped terminators, length-
prefixed big-endian integers).
"""

from __future__ import annotations

import sys
from enum import Enum, Flag
from functools import lru_cache
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.errors import EngineError, SpecError


def is_named(cls: type) -> bool:
    """Return whether the name of a class is known to mean this class, or nothing is known of names
    yet.
    """
    known = binding.classes.get(cls.__name__)
    module = sys.modules.get(cls.__module__)
    if known is None and binding.classes and cls is at(module, cls.__qualname__):
        binding.classes[cls.__name__] = known = cls  # of a module that is not the spec's own
    return known is cls or not binding.classes


def check_named(cls: type) -> None:
    """Raise SpecError: SW126 where the name means another class, SW203 where it means none."""
    if is_named(cls):
        return
    other = binding.classes.get(cls.__name__)
    if other is not None:
        raise of_one_name(other, cls)
    said = f"The state cannot hold a {cls.__name__}: no name in a module leads to this class."
    why = "States, traces and reports identify classes by name."
    help = f"Define it in the body of a module, or name it there: {cls.__name__} = ..."
    raise SpecError("SW203", said, why=why, help=help)


def of_one_name(one: type, other: type) -> SpecError:
    """Return the error of two classes that have one name."""
    places = list(dict.fromkeys(f"{c.__module__}.{c.__qualname__}" for c in (one, other)))
    where = f"both are {places[0]}" if len(places) == 1 else f"{places[0]} and {places[1]}"
    said = f"There are two classes called {one.__name__}: {where}."
    why = "States, traces and reports identify classes by name."
    return SpecError("SW126", said, why=why, help="Give one of them another name.")


def at(module: Any, path: str) -> Any:
    """Return what a module has under a name with dots; None where there is none."""
    found = module
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


class _Absent:
    """The value of a slot that does not exist. There is one, `ABSENT`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"

    def __reduce__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        raise EngineError("SW901", "A slot that does not exist was taken for a value.")


ABSENT = _Absent()

# Tags. Their order is the canonical order; 0 ends a sequence, so every tag is at least 1.
END = b"\x00"
NONE_TAG, FALSE_TAG, TRUE_TAG, INT_TAG = (bytes([n]) for n in range(1, 5))
STR_TAG, ENUM_TAG, ROLE_TAG = (bytes([n]) for n in range(5, 8))
TUPLE_TAG, LIST_TAG, RECORD_TAG, SET_TAG, BAG_TAG, DICT_TAG = (bytes([n]) for n in range(8, 14))
_MAX_INT_BYTES = 120
_MAX_TEXT = 1 << 24


def int_bytes(n: int) -> bytes:
    """Return the canonical bytes of an integer."""
    if n >= 0:
        size = (n.bit_length() + 7) // 8
        body = n.to_bytes(size, "big")
        head = 128 + size
    else:
        size = ((-n).bit_length() + 7) // 8
        body = (n + (1 << (8 * size)) - 1).to_bytes(size, "big")
        head = 127 - size
    if size > _MAX_INT_BYTES:
        said = f"An integer of {size} bytes does not fit into the state."
        help = f"The limit is {_MAX_INT_BYTES} bytes: bound it, as in require(n < LIMIT)."
        raise SpecError("SW203", said, help=help)
    return INT_TAG + bytes([head]) + body


@lru_cache(maxsize=1 << 16)
def text_bytes(text: str) -> bytes:
    """Return a text in canonical bytes, without its tag, with what ends it.

    Raises SpecError[SW203].
    """
    if len(text) > _MAX_TEXT:
        message = f"A string of {len(text):,} characters does not fit into the state."
        raise SpecError(
            "SW203", message, help=f"The limit is {_MAX_TEXT:,} characters: store a shorter string."
        )
    return text.encode("utf-8", "surrogatepass").replace(b"\x00", b"\x00\xff") + END


_SMALL = {n: int_bytes(n) for n in range(-16, 1024)}


def encode(value: Any) -> bytes:
    """Return the canonical bytes of a stored value."""
    kind = type(value)
    if kind is str:
        return STR_TAG + text_bytes(value)
    if kind is int:
        return _SMALL.get(value) or int_bytes(value)
    if value is None:
        return NONE_TAG
    if kind is bool:
        return TRUE_TAG if value else FALSE_TAG
    if kind is tuple:
        return TUPLE_TAG + b"".join(map(encode, value)) + END
    canonical = getattr(value, "_canonical", None)
    if canonical is not None:
        result: bytes = canonical()
        return result
    if isinstance(value, Enum):
        check_named(kind)
        number = value.value if isinstance(value, Flag) else list(type(value)).index(value)
        return ENUM_TAG + text_bytes(kind.__name__) + int_bytes(number)
    raise TypeError(f"{value!r} is not a stored value")


def intern_key(value: Any) -> Any:
    """Return a dictionary key that tells values apart as the state does (Python takes 1 for
    True).
    """
    kind = type(value)
    if kind is str or kind is int or value is None or value is ABSENT:
        return value
    return encode(value)


VALUES = (
    "Elements of sets, dict keys and members of tuples are immutable, with all that they contain."
)
"""Why something cannot be changed."""


HOLDS = (
    "It holds numbers, strings, None, enum members, tuples, lists, sets, bags, dicts, records "
    "and roles."
)
"""What the state holds."""
AS_INTEGER = "Use an integer number of a smaller unit: 1500 (milliseconds) instead of 1.5."
AS_NAME = "Store what the function would compute, or a name by which to find it."


def unstorable(value: Any) -> SpecError:
    """Return the error of a value that the state cannot hold."""
    said = f"The state cannot hold {describe(value)}."
    return SpecError("SW203", said, why=HOLDS, help=_hint(value))


def unchangeable(kind: str, name: str) -> SpecError:
    """Return the error of a change to a container that is a value."""
    said = f"This {kind.lower()} is a value and cannot be changed: it has no {name}."
    help = f"Make a copy, {kind}(...), change that, and store it."
    return SpecError("SW202", said, why=VALUES, help=help)


def taken_for(kind: type) -> Any:
    """Return the ``__class__`` of what `isinstance` is to take for another class."""
    return property(lambda self: kind)


def name_alike(*classes: type) -> None:
    """Let Python's own messages name classes as those that their objects are taken for."""
    for cls in classes:
        cls.__name__ = cls.__qualname__ = vars(cls)["__class__"].fget(None).__name__


def describe(value: Any) -> str:
    """Return a value that is not a state value, in words."""
    code = getattr(value, "__code__", None)
    if code is not None:
        return f"a function ({code.co_name}, line {code.co_firstlineno})"
    if isinstance(value, float):
        return f"the float {value!r}"
    return f"{value!r} (a {type(value).__name__})"


def _hint(value: Any) -> str:
    if isinstance(value, float):
        return AS_INTEGER
    if hasattr(value, "__code__"):
        return AS_NAME
    return "Make it a class X(Record) with typed fields."
