"""The text of a spec on plain Python objects: no state, no view, nothing rewritten."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any


class Record:
    """Fields by annotation; defaults are copied."""

    def __init__(self, *values: Any, **named: Any) -> None:
        names = list(type(self).__annotations__)
        self.__dict__.update({n: copy.deepcopy(getattr(type(self), n)) for n in names})
        self.__dict__.update(zip(names, values, strict=False), **named)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.values()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({shown})"


class Role:
    """An object with an index, which its hash is: sets of roles have one order."""

    made = 0

    def __init__(self) -> None:
        for name in type(self).__annotations__:
            setattr(self, name, copy.deepcopy(getattr(type(self), name)))
        self.index = type(self).made
        type(self).made += 1

    def __hash__(self) -> int:
        return self.index

    def __repr__(self) -> str:
        return f"{type(self).__name__}#{self.index}"


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def run(text: str) -> dict[str, Any]:
    """The names of a spec's module, after its @init functions have run."""
    started: list[Callable[[], None]] = []
    names: dict[str, Any] = {
        "Record": Record, "Role": Role, "action": _as_it_is, "always": _as_it_is,
        "deadlock": lambda wanted: None, "init": started.append,
    }  # fmt: skip
    exec(text.replace("from statewalk import *", ""), names)
    for function in started:
        function()
    return names


def shown(value: Any) -> str:
    """A value of either world in words: sets and dicts in order."""
    if isinstance(value, set):
        return f"{{{', '.join(sorted(map(shown, value)))}}}"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {shown(value[key])}' for key in sorted(value))}}}"
    return repr(value)
