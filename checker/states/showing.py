"""Values as reports show them: the same whether they come from a model or from a saved trace."""

from __future__ import annotations

import os
from enum import Enum
from typing import Any

from statewalk.dsl.state.refs import Reference
from statewalk.dsl.values.records import Record, fields_of, record_class
from statewalk.dsl.values.stored import FrozenBag, FrozenDict, FrozenList, FrozenSet, freeze


def text_of(value: Any) -> str:
    """A value in one line, in Python's manner; enum members by their names."""
    if isinstance(value, Reference):
        value = freeze(value)
    kind = type(value)
    if isinstance(value, Enum):
        return value.name or repr(value)  # no flag at all may have no name
    if kind is FrozenList or kind is list:
        return f"[{_listed(value)}]"
    if kind is tuple:
        return f"({_listed(value)}{',' if len(value) == 1 else ''})"
    if kind in (FrozenSet, set, frozenset):
        return f"{{{_listed(value)}}}" if value else "set()"
    if kind is FrozenBag:
        return f"Bag([{_listed(value)}])"
    if kind in (FrozenDict, dict):
        return f"{{{', '.join(f'{text_of(k)}: {text_of(v)}' for k, v in value.items())}}}"
    if isinstance(value, Record):
        fields = ", ".join(f"{n}={text_of(getattr(value, n))}" for n in fields_of(value))
        return f"{record_class(value).__name__}({fields})"
    return " ".join(repr(value).split()) if kind is not str else repr(value)


def _listed(values: Any) -> str:
    return ", ".join(map(text_of, values))


def place(file: str, line: int) -> str:
    """``spec.py:12``; a file below the working directory by its path from there, not by a link."""
    here = os.path.realpath(os.curdir) + os.sep
    real = os.path.realpath(file)
    return f"{real.removeprefix(here) if real.startswith(here) else file}:{line}"
