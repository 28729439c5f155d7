"""Which stored values hold others, and what stands for those where only that is asked."""

from __future__ import annotations

from typing import Any

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


class StandIn:
    """What stands for a container or a record of a class where only that is looked at."""

    __slots__ = ("_bytes", "example")

    def __init__(self, example: Any) -> None:
        self.example = example
        kind = type(example)
        self._bytes = f"{kind.__module__}.{kind.__qualname__}".encode() + b"\x00\xfd"

    def _canonical(self) -> bytes:
        return self._bytes


_stand_ins: dict[type, StandIn | None] = {}  # by class; None for one that holds nothing


def look(value: Any) -> Any:
    """A scalar itself; of a container or a record only the class, as a `StandIn`."""
    kind = type(value)
    if kind not in _stand_ins:
        example = object.__new__(kind) if issubclass(kind, Record) else None
        if example is None and is_container(value):
            example = kind()
        _stand_ins[kind] = None if example is None else StandIn(example)
    known = _stand_ins[kind]
    return value if known is None else known
