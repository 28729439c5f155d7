"""Values of the state: what may be stored, copying them in and out, and their order.

A stored value is an immutable tree: None, bool, int, str, enum member, role instance, tuple, list,
set, bag, dict, record. `dsl.values.canonical` has their bytes and order, `dsl.values.frozen` the
containers.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from statewalk.dsl.values.canonical import (
    ABSENT,
    describe,
    encode,
    intern_key,
)
from statewalk.dsl.values.dicts import FrozenDict, Keys
from statewalk.dsl.values.frozen import (
    SCALARS,
    FrozenBag,
    FrozenSet,
    elements_of,
    freeze,
    hashable,
)
from statewalk.dsl.values.lists import FrozenList, can_change
from statewalk.dsl.values.ordered_sets import OrderedFrozenSet

__all__ = [
    "ABSENT",
    "FrozenBag",
    "FrozenDict",
    "FrozenList",
    "FrozenSet",
    "Keys",
    "can_change",
    "describe",
    "elements_of",
    "encode",
    "freeze",
    "hashable",
    "intern_key",
    "is_there",
    "ordered",
    "same",
    "same_state",
    "thaw",
    "without_roles",
]


def is_there(value: Any) -> bool:
    """Whether a slot has a value, as a projection of it."""
    return value is not ABSENT


def same(a: Any, b: Any) -> bool:
    """Return whether two values are one value of the state. ``True``, ``1`` and an IntEnum's member
    of value 1 are three, which Python's ``==`` takes for one.
    """
    return a is b or bool(intern_key(freeze(a)) == intern_key(freeze(b)))


def same_state(a: Mapping[Any, Any], b: Mapping[Any, Any]) -> bool:
    """Return whether two states, or contents of states, are one: see `same`."""
    return a.keys() == b.keys() and all(same(a[path], b[path]) for path in a)


def thaw(value: Any) -> Any:
    """A plain Python copy, for code outside the spec: nothing done to it reaches the state."""
    kind = type(value)
    if kind in SCALARS:
        return value
    value = freeze(value)
    kind = type(value)
    if kind is FrozenList:
        return [thaw(v) for v in value]
    if kind is tuple:
        return tuple(thaw(v) for v in value)
    if kind is FrozenSet:
        return OrderedFrozenSet(_thawed_key(v) for v in value)
    if kind is FrozenDict:
        return {_thawed_key(k): thaw(v) for k, v in value.items()}
    return value


def without_roles(value: Any) -> Any:
    """Return a stored value. Raises SpecError[SW213] where a role is in it, as a deep copy has to
    copy that as well.
    """
    pending = [value]
    while pending:
        part = pending.pop()
        kind = type(part)
        if kind is FrozenDict:
            pending += [*part, *part.values()]
        elif kind in (FrozenList, FrozenSet, FrozenBag, tuple):
            pending += part
        elif kind not in SCALARS:
            copy.copy(part)  # which a role refuses
            pending += [part.__dict__[name] for name in getattr(kind, "_fields", ())]
    return value


def _thawed_key(value: Any) -> Any:
    """A plain copy where it can be looked up; what could be changed stays as it is stored."""
    plain = thaw(value)
    try:
        hash(plain)
    except TypeError:
        return value
    return plain


def ordered(values: Iterable[Any]) -> list[Any]:
    """Values in canonical order."""
    if type(values) is FrozenSet:
        return list(values)
    found = list(values)
    if len(set(map(type, found))) == 1 and type(found[0]) in (int, str):  # which have this order
        return sorted(found)
    return sorted(found, key=lambda v: encode(freeze(v)))
