"""Whether a JSON value of a log says a value of a spec."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
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
        return isinstance(said, dict) and _entries_fit(said, list(value.items()))
    return type(said) is kind and bool(said == value)


def _all_fit(said: Any, values: list[Any]) -> bool:
    return isinstance(said, list) and len(said) == len(values) and all(map(fits, said, values))


def _some_order_fits(said: Any, values: list[Any]) -> bool:
    """Whether each of what is said is one of the values, and none twice."""
    if not isinstance(said, list) or len(said) != len(values):
        return False
    return _is_matched(
        len(said), lambda at: (n for n, value in enumerate(values) if fits(said[at], value))
    )


def _entries_fit(said: Mapping[str, Any], entries: list[tuple[Any, Any]]) -> bool:
    """Whether an object says the entries of a dict, in which ``1`` and ``"1"`` are two keys."""
    if len(said) != len(entries):
        return False
    named: dict[str, list[int]] = {}
    for number, (key, _) in enumerate(entries):
        for text in _texts(key):
            named.setdefault(text, []).append(number)
    pairs = list(said.items())
    return _is_matched(
        len(pairs),
        lambda at: (n for n in named.get(pairs[at][0], ()) if fits(pairs[at][1], entries[n][1])),
    )


def _texts(key: Any) -> set[str]:
    """The names of a key in an object: JSON has only strings there."""
    if type(key) is str:
        return {key}
    value = plain(key)
    return {repr(key), repr(value), str(value), json.dumps(value)}


def _is_matched(size: int, options: Callable[[int], Iterable[int]]) -> bool:
    """Whether so many can be given one of their options each, and none twice (a matching)."""
    taken: dict[int, int] = {}

    def placed(at: int, tried: set[int]) -> bool:
        for option in options(at):
            if option not in tried:
                tried.add(option)
                if option not in taken or placed(taken[option], tried):
                    taken[option] = at
                    return True
        return False

    return all(placed(at, set()) for at in range(size))
