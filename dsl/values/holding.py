"""What is in a value of Python's own, read without calling code of the spec's."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Mapping
from contextlib import suppress
from enum import EnumMeta
from itertools import tee
from types import CellType, GeneratorType, MemberDescriptorType
from typing import Any

SCALARS = frozenset({bool, int, float, complex, str, bytes, type(None)})
ABSENT = object()
# What Python notes of flags: their combinations in the class, its inverse in a member.
NOTED_OF_FLAGS = frozenset({"_value2member_map_", "_inverted_"})
_OF_A_MEMBER = NOTED_OF_FLAGS | {"_value_", "_name_", "__objclass__", "_sort_order_"}
_PARTS = (tuple, type(gc.get_referents(tee(())[0])[-1]))


def progress(iterator: Any) -> list[Any]:
    """How far an iterator of Python's own is, and what it still refers to."""
    at: Any = None
    if type(iterator) is GeneratorType:
        at = iterator.gi_frame and iterator.gi_frame.f_lasti
    else:
        for ask in ("__length_hint__", "tell", "__reduce__"):
            with suppress(Exception), warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of itertools
                at = _plain(getattr(iterator, ask)())
                break
    found = [at]
    for part in gc.get_referents(iterator):
        # its own tuples have holes, and are written again: only what is in them is handed on; so is
        # what a tee has read, as Python 3.14 does not tell how far that is
        found += gc.get_referents(part) if type(part) in _PARTS else [part]
    return found


def _plain(value: Any) -> Any:
    """What a position says by itself; what it refers to is looked at on its own."""
    if type(value) is tuple:
        return tuple(_plain(v) for v in value)
    return value if type(value) in SCALARS else type(value).__name__


def remembered(cache: Any) -> list[Any]:
    """What a `functools.lru_cache` would give again. Its own table, which grows, comes just before
    the function in what Python says it refers to.
    """
    found, function = gc.get_referents(cache), cache.__wrapped__
    at = max((i for i, v in enumerate(found) if v is function), default=0)
    if cache.cache_parameters()["maxsize"] is not None:
        return found[: max(0, at - 1)]
    return [*found[at - 1].values()] if isinstance(found[at - 1], dict) else []


def in_cell(cell: CellType) -> list[Any]:
    """What a variable around a function has, if it has a value."""
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


def in_slots(value: Any, slots: Mapping[str, MemberDescriptorType]) -> list[Any]:
    """The names of slots, and as many values."""
    values = []
    for slot in slots.values():
        try:
            values.append(slot.__get__(value))
        except AttributeError:
            values.append(ABSENT)
    return [*slots, *values]


def in_array(value: Any) -> bytes | None:
    """What is in an array, of whatever library."""
    try:
        return memoryview(value).tobytes()
    except (TypeError, BufferError, ValueError):
        return None


def in_combined(flags: EnumMeta) -> list[Any]:
    """What the author's code gave to combinations of flags: names, and as many values."""
    found = {
        f"{member.name}.{name}": value
        for member in flags._value2member_map_.values()
        if member.name not in flags.__members__
        for name, value in vars(member).items()
        if name not in _OF_A_MEMBER
    }
    return [*found, *found.values()]
