"""Types of fields: those of which the state can hold no value, and those that say nothing."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable
from enum import Enum
from typing import Any

from statewalk.dsl.errors import Mistakes
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.tree import SpecTree, field_span, says_no_types
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.canonical import AS_INTEGER, AS_NAME, HOLDS
from statewalk.dsl.values.domains import meant_by
from statewalk.dsl.values.records import Bag, Record, declared_fields

_SCALARS = (bool, int, str, type(None), None)
_CONTAINERS = (list, set, frozenset, dict, tuple, Bag)
_ANYTHING = (Any, object)


def check_types(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW203 for fields of types that the state cannot hold, SW610 for those that say nothing."""
    for module in tree.loading.modules:
        if says_no_types(module):
            continue
        for cls in [*tree.records, *tree.roles]:
            if module.namespace.get(cls.__name__) is cls:
                _check_class(tree, cls, mistakes)


def _check_class(tree: SpecTree, cls: type, mistakes: Mistakes) -> None:
    try:
        hints = tree.hints(cls)
    except Exception:
        return  # SW110, said where fields are made
    for name in declared_fields(cls):
        part = _unfit(tree, hints[name])
        if part is None:
            continue
        where = field_span(tree, cls, name)
        word = getattr(part, "__name__", str(part))
        if part in _ANYTHING:
            mistakes.warn(
                "SW610",
                f"{cls.__name__}.{name} may hold anything, so what is stored there is not checked.",
                at=where,
                help="Say what it holds: int | None, list[Job], a record.",
            )
        else:
            mistakes.add(
                "SW203",
                f"{cls.__name__}.{name} is to hold {_described(part, word)}, which the state "
                "cannot hold.",
                at=where,
                why=HOLDS,
                help=_hint(part, word),
            )


def _unfit(tree: SpecTree, hint: Any) -> Any:
    """The part of a type of which the state can hold no value, or that says nothing; else None."""
    hint = meant_by(hint)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _unfit(tree, args[0])
    if origin is typing.Literal or hint in _SCALARS:
        return None
    if origin in (typing.Union, types.UnionType) or origin in _CONTAINERS:
        found = [_unfit(tree, arg) for arg in args if arg is not Ellipsis]
        found = [part for part in found if part is not None]
        surely = [part for part in found if part not in _ANYTHING]
        return (surely or found or [None])[0]
    known = origin or hint
    if known in _CONTAINERS or known in _ANYTHING:
        return known if known in _ANYTHING else None
    if known is Callable or not isinstance(known, type):
        return Callable if known is Callable else object
    if inspect.isabstract(known) or getattr(known, "_is_protocol", False):
        return object
    if issubclass(known, Role | Record | Enum):
        return None
    parts = tree.classes.values()
    return None if any(issubclass(part, known) for part in parts) else known


def _described(part: Any, word: str) -> str:
    if part is Callable:
        return "a function"
    if dataclasses.is_dataclass(part):
        return f"a {word}, a dataclass"
    return f"a {word}"


def _hint(part: Any, word: str) -> str:
    if part is float:
        return AS_INTEGER
    if part is Callable:
        return AS_NAME
    if part.__module__ == "builtins":
        return "Use a tuple of integers, a string, or a record of what matters."
    return f"Make it a record: class {word}(Record), with typed fields."
