"""Which stored values hold others."""

from __future__ import annotations

from statewalk.dsl.values.records import Record
from statewalk.dsl.values.stored import FrozenBag, FrozenDict, FrozenList, FrozenSet

_CONTAINERS = (FrozenList, FrozenSet, FrozenBag, FrozenDict, Record)
_known: dict[type, bool] = {}  # by class: these have bases that are slow to ask


def is_container(value: object) -> bool:
    """Whether a value holds others that a spec has a reference to."""
    kind = type(value)
    found = _known.get(kind)
    if found is None:
        found = _known[kind] = isinstance(value, _CONTAINERS)
    return found
