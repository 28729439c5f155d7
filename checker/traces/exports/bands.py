"""The states that roles are in along a trace: by instance the field that says it, and its values.

The field is one of few names: declared as a ``Literal`` or an enum, or, in a trace from a file,
one that holds nothing else. Of several it is the one called like a state, else the first that
changes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from statewalk.checker.states.content import show_field

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.view import Path


_COLOURS = 6
_NAMES = ("state", "status", "phase", "stage", "mode", "pc", "role", "at")
_WORD = re.compile(r"[A-Za-z][\w \-]{0,27}")
_MOST = 12  # values of a field that tells states
_PART = 3  # components of the place of a field


@dataclass(frozen=True)
class Band:
    """The states of a lane: where they are kept, the value in each state of the trace, and by
    value the number of its colour.
    """

    place: str
    values: tuple[str | None, ...]
    colours: dict[str, int]

    def turns(self, step: int) -> bool:
        """Return whether a step leads into another state than the one before it."""
        return step < len(self.values) and len({*self.values[step - 1 : step + 1]}) > 1


def bands(trace: Trace) -> dict[str, Band]:
    """Return the bands of a trace, by instance as lanes are called."""
    places = dict.fromkeys(p for content in trace.contents for p in content if len(p) == _PART)
    kinds: dict[tuple[str, str], list[list[str | None]]] = {}
    for owner, index, name in places:
        path: Path = (owner, index, name)
        values = [_told(content.get(path)) for content in trace.contents]
        kinds.setdefault((owner, name), []).append(values)
    chosen: dict[str, str] = {}
    for owner in dict.fromkeys(owner for owner, _ in kinds):
        fields = {n: kinds[owner, n] for o, n in kinds if o == owner and _is_state(kinds[owner, n])}
        if owner != "@module" and (best := _best(fields)) is not None:
            chosen[owner] = best
    colours = {
        owner: {v: at % _COLOURS for at, v in enumerate(_values(kinds[owner, name]))}
        for owner, name in chosen.items()
    }
    found = {}
    for owner, index, name in places:
        if chosen.get(owner) == name:
            shown = show_field((owner, index, name), trace.names)
            values = [_told(content.get((owner, index, name))) for content in trace.contents]
            found[shown.rpartition(".")[0]] = Band(shown, tuple(values), colours[owner])
    return found


def _told(value: Any) -> str | None:
    """Return a state by its name; None for what is none."""
    if isinstance(value, Enum):
        return value.name
    return value if isinstance(value, str) and _WORD.fullmatch(value) else None


def _values(columns: Sequence[Sequence[str | None]]) -> list[str]:
    """Return what a field of a class is along a trace, in order of appearance."""
    rows = zip(*columns, strict=True)
    return list(dict.fromkeys(v for row in rows for v in row if v is not None))


def _is_state(columns: list[list[str | None]]) -> bool:
    known = all(v is not None for column in columns for v in column)
    return known and 1 < len(_values(columns)) <= _MOST


def _best(fields: dict[str, list[list[str | None]]]) -> str | None:
    called = [name for name in _NAMES if name in fields]
    return next(iter([*called, *fields]), None)
