"""Whether a JSON value of a log says a value of a spec."""

from __future__ import annotations

from enum import Enum
from typing import Any

from statewalk.checker.states.json import plain, to_json
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import Record, fields_of
from statewalk.dsl.values.stored import FrozenBag, FrozenDict, FrozenList, FrozenSet


def fits(said: Any, value: Any) -> bool:
    """Whether a JSON value says this stored value. Of a record, only named fields are compared."""
    if isinstance(said, dict) and len(said) == 1 and next(iter(said)).startswith("#"):
        return bool(to_json(value) == said)
    kind = type(value)
    if isinstance(value, Enum):
        return said in (value.name, value.value) and isinstance(said, bool) == isinstance(
            value.value if said != value.name else said, bool
        )
    if isinstance(value, Role):
        return bool(said == repr(value))
    if isinstance(value, Record):
        known = set(fields_of(value))
        return isinstance(said, dict) and all(
            name in known and fits(one, getattr(value, name)) for name, one in said.items()
        )
    if kind in (FrozenList, tuple):
        return _all_fit(said, list(value))
    if kind in (FrozenSet, FrozenBag):
        return _some_order_fits(said, list(value))
    if kind is FrozenDict:
        held = {k if type(k) is str else repr(plain(k)): v for k, v in value.items()}
        return (
            isinstance(said, dict)
            and said.keys() == held.keys()
            and all(fits(one, held[key]) for key, one in said.items())
        )
    return type(said) is kind and bool(said == value)


def _all_fit(said: Any, values: list[Any]) -> bool:
    return isinstance(said, list) and len(said) == len(values) and all(map(fits, said, values))


def _some_order_fits(said: Any, values: list[Any]) -> bool:
    """Whether each of what is said is one of the values, and none twice (a matching)."""
    if not isinstance(said, list) or len(said) != len(values):
        return False
    taken: dict[int, int] = {}

    def placed(at: int, tried: set[int]) -> bool:
        for other, value in enumerate(values):
            if other not in tried and fits(said[at], value):
                tried.add(other)
                if other not in taken or placed(taken[other], tried):
                    taken[other] = at
                    return True
        return False

    return all(placed(at, set()) for at in range(len(said)))
