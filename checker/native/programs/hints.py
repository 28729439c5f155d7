"""The types of stored values as annotations: what can be assumed of fields without a type."""

from __future__ import annotations

from collections.abc import Collection
from types import GenericAlias
from typing import Any, Union

from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import Record
from statewalk.dsl.values.stored import FrozenDict, FrozenList, FrozenSet

_PLAIN: dict[type, type] = {FrozenList: list, FrozenSet: set, FrozenDict: dict, tuple: tuple}


def hint_of_constant(value: Any) -> Any:
    """Return the type of a constant as an annotation; object where it has none that is useful."""
    if value is None or type(value) in (str, int, bool):
        return None if value is None else type(value)
    if isinstance(value, Role | Record):
        return type(value)
    if type(value) is tuple and value:
        parts = tuple(map(hint_of_constant, value))
        return object if object in parts else GenericAlias(tuple, parts)
    if isinstance(value, FrozenList | FrozenDict) and value:
        columns = [value] if isinstance(value, FrozenList) else [value.keys(), value.values()]
        hints = [set(map(hint_of_constant, column)) for column in columns]
        if all(len(found) == 1 and object not in found for found in hints):
            return GenericAlias(
                list if len(columns) == 1 else dict, tuple(found.pop() for found in hints)
            )
    return object


def attributes_in(value: Any, found: dict[str, list[Any]]) -> None:
    """Take down the attributes of all records of any fields in a value."""
    if isinstance(value, Record):
        if value._open:
            for name, held in value._content().items():
                found.setdefault(name, []).append(held)
                attributes_in(held, found)
    elif isinstance(value, FrozenDict):
        for held in value.values():
            attributes_in(held, found)
    elif isinstance(value, FrozenList | FrozenSet | tuple):
        for held in value:
            attributes_in(held, found)


def hint_of(values: Collection[Any]) -> Any:
    """Return the type of all of some values as an annotation; object where it has none."""
    if not values:
        return object
    kinds: dict[type, list[Any]] = {}
    for value in values:
        kinds.setdefault(type(value), []).append(value)
    found = [_hint_of_kind(kind, group) for kind, group in kinds.items()]
    return object if object in found else Union[tuple(found)]  # noqa: UP007  (at run time)


def _hint_of_kind(kind: type, values: list[Any]) -> Any:
    """Return the same of values of one class."""
    if kind is type(None):
        return None
    if kind in (str, int, bool) or issubclass(kind, Role | Record):
        return kind
    plain = _PLAIN.get(kind)
    if plain is None:
        return object
    if plain is dict:
        columns = [[k for v in values for k in v], [e for v in values for e in v.values()]]
    else:
        columns = [[element for v in values for element in v]]
    hints = tuple(map(hint_of, columns))
    if object in hints:
        return plain
    return GenericAlias(plain, (*hints, ...) if plain is tuple else hints)


def alike_inside(values: Collection[Any]) -> bool:
    """Return whether values of one class have the same type as an annotation."""
    return not any(isinstance(v, tuple) for v in values)
