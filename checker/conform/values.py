"""The comparison of a value of a log with one of a spec: of JSON, or of EDN, which has sets, and
any keys in dicts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

from statewalk.checker.states.json import plain, to_json
from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import Record, fields_of
from statewalk.dsl.values.stored import FrozenBag, FrozenDict, FrozenList, FrozenSet, freeze

_PAIR = 2


def fits(said: Any, value: Any) -> bool:
    """Return whether a JSON value says this stored value.

    Of a record, only named fields are compared.
    """
    if isinstance(said, dict) and len(said) == 1 and _is_tagged(*next(iter(said.items())), value):
        return True
    kind = type(value)
    if isinstance(value, Enum):
        return (type(said) is str and said == plain(value)) or _says_value(said, value.value)
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
        return _some_order_fits(list(said) if type(said) is frozenset else said, list(value))
    if kind is FrozenDict:
        return isinstance(said, dict) and _entries_fit(said, list(value.items()))
    return type(said) is kind and bool(said == value)


def _is_tagged(tag: Any, said: Any, value: Any) -> bool:
    """Return whether a value is said in the form that traces have; see `states.json`. What begins
    with ``#`` may also be the key of a dict.
    """
    if tag == "#dict" and type(value) is FrozenDict and isinstance(said, list):
        entries = list(value.items())
        pairs = all(isinstance(pair, list) and len(pair) == _PAIR for pair in said)
        return pairs and _some_order_fits(said, entries)
    if tag == "#tuple":
        return type(value) is tuple and fits(said, value)
    if tag == "#set":
        return type(value) is FrozenSet and fits(said, value)
    return isinstance(tag, str) and tag.startswith("#") and _is_said({tag: said}, to_json(value))


def _is_said(said: Any, form: Any) -> bool:
    """Return whether two JSON values are one, where ``true`` is no number."""
    if isinstance(form, dict) and isinstance(said, dict):
        return form.keys() == said.keys() and all(_is_said(said[name], form[name]) for name in form)
    if isinstance(form, list) and isinstance(said, list):
        return len(said) == len(form) and all(map(_is_said, said, form))
    return type(said) is type(form) and bool(said == form)


def _says_value(said: Any, value: Any) -> bool:
    """Return whether a JSON value says the value of an enum's member, which may be no
    stored value.
    """
    try:
        return fits(said, freeze(value))
    except (StatewalkError, TypeError, RecursionError):
        return False


def _all_fit(said: Any, values: list[Any]) -> bool:
    listed = isinstance(said, list | tuple)
    return listed and len(said) == len(values) and all(map(fits, said, values))


def _some_order_fits(said: Any, values: list[Any]) -> bool:
    """Return whether each of what is said is one of the values, and none twice."""
    if not isinstance(said, list) or len(said) != len(values):
        return False
    return _is_matched(
        len(said), lambda at: (n for n, value in enumerate(values) if fits(said[at], value))
    )


def _entries_fit(said: Mapping[Any, Any], entries: list[tuple[Any, Any]]) -> bool:
    """Return whether an object says the entries of a dict, in which ``1`` and ``"1"`` are
    two keys.
    """
    if len(said) != len(entries):
        return False
    named: dict[str, list[int]] = {}
    for number, (key, _) in enumerate(entries):
        for text in _texts(key):
            named.setdefault(text, []).append(number)
    pairs = list(said.items())

    def keyed(key: Any) -> Iterable[int]:
        if isinstance(key, str):
            return named.get(key, ())
        return (n for n, (known, _) in enumerate(entries) if fits(key, known))

    return _is_matched(
        len(pairs),
        lambda at: (n for n in keyed(pairs[at][0]) if fits(pairs[at][1], entries[n][1])),
    )


def _texts(key: Any) -> set[str]:
    """Return the names of a key in an object: JSON has only strings there."""
    if type(key) is str:
        return {key}
    value = plain(key)
    return {repr(key), repr(value), str(value), json.dumps(value)}


def _is_matched(size: int, options: Callable[[int], Iterable[int]]) -> bool:
    """Return whether so many can be given one of their options each, and none twice (a
    matching).
    """
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
