"""Values of two loads, traces or specs side by side: classes, members and fields go by names.

`dsl.values.canonical` orders members by definition and record fields by position, which is right
within one spec only. `by_names` gives bytes that are equal where the names are: of classes, of enum
members (of a Flag: its set of members) and of record fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, Flag
from typing import Any

from statewalk.dsl.errors import RunError
from statewalk.dsl.model import Model
from statewalk.dsl.values.canonical import (
    BAG_TAG,
    DICT_TAG,
    END,
    ENUM_TAG,
    LIST_TAG,
    RECORD_TAG,
    SET_TAG,
    TUPLE_TAG,
    encode,
    int_bytes,
    text_bytes,
)
from statewalk.dsl.values.frozen import SCALARS
from statewalk.dsl.values.records import Record, fields_of, record_class
from statewalk.dsl.values.stored import (
    ABSENT,
    FrozenBag,
    FrozenDict,
    FrozenList,
    FrozenSet,
    freeze,
)


def by_names(value: Any) -> bytes:
    """Return bytes that are equal for values that are one by their names; empty for `ABSENT`."""
    return b"" if value is ABSENT else _of(freeze(value))


def alike(a: Any, b: Any) -> bool:
    """Return whether two values are one by their names, whichever load or spec each is of."""
    return a is b or by_names(a) == by_names(b)


def alike_state(a: Mapping[Any, Any], b: Mapping[Any, Any]) -> bool:
    """Return whether two contents of states are one by their names."""
    return a.keys() == b.keys() and all(alike(a[path], b[path]) for path in a)


def check_members(a: Model, b: Model) -> None:
    """Raises RunError[SW360] where a name of an enum is a member in one model, an alias in another.

    Members are compared by name, and such a name does not tell which of two is meant.
    """
    for name, cls in a.classes.items():
        other = b.classes.get(name)
        if other is None or not (issubclass(cls, Enum) and issubclass(other, Enum)):
            continue
        if issubclass(cls, Flag) or issubclass(other, Flag):
            continue  # these are compared by single members
        for one in cls.__members__.keys() & other.__members__.keys():
            mine, theirs = cls.__members__[one].name, other.__members__[one].name
            if mine != theirs:
                raise RunError(
                    "SW360",
                    f"{name}.{one} is {name}.{mine} in {a.name} and {name}.{theirs} in {b.name}.",
                    why="Enum members of two specs are compared by name.",
                    help=f"Give {one} a value of its own in both specs, or in neither.",
                )


def _of(value: Any) -> bytes:
    kind = type(value)
    if kind in SCALARS:
        return encode(value)
    if kind is tuple or kind is FrozenList:
        return _joined(TUPLE_TAG if kind is tuple else LIST_TAG, map(_of, value))
    if kind is FrozenSet:
        return _joined(SET_TAG, sorted(map(_of, value)))
    if kind is FrozenBag:
        return _joined(BAG_TAG, sorted(_of(e) + int_bytes(n) for e, n in value.counts()))
    if kind is FrozenDict:
        return _joined(DICT_TAG, sorted(_of(k) + _of(v) for k, v in value.items()))
    if isinstance(value, Enum):
        return _joined(ENUM_TAG + text_bytes(kind.__name__), _members(value))
    if isinstance(value, Record):
        fields = sorted(fields_of(value))
        parts = (text_bytes(name) + _of(getattr(value, name)) for name in fields)
        return _joined(RECORD_TAG + text_bytes(record_class(value).__name__), parts)
    return encode(value)


def _joined(head: bytes, parts: Any) -> bytes:
    return head + b"".join(parts) + END


def _members(value: Enum) -> list[bytes]:
    """The names of a member; of a Flag, those of its single members and the bits without a name."""
    if not isinstance(value, Flag):
        return [encode(value.name)]
    kind = type(value)
    left, names = value.value, list[str]()
    for member in kind:
        if not member.value & ~value.value:
            names.append(str(member.name))
            left &= ~member.value
    if left and value.name in kind.__members__:
        return [encode(value.name)]
    return [encode(name) for name in sorted(names)] + ([int_bytes(left)] if left else [])
