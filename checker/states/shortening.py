"""Values that do not fit, shown by what matters: where two differ, what is not at its default.

A path leads into a value in steps: ("f", field), ("i", index), ("k", key), ("s", place in a text).
What is on the path is shown; beside it records lose the fields that are at their default, long
lists all but a few elements, and deep values what is in them. ``…`` stands for what is not shown.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.state.refs import Reference
from statewalk.dsl.values.records import Record, fields_of, record_class
from statewalk.dsl.values.stored import (
    ABSENT,
    FrozenBag,
    FrozenDict,
    FrozenList,
    FrozenSet,
    freeze,
    same,
    typed,
)

Steps = tuple[tuple[str, Any], ...]
_MORE = "…"
_LONG = 10_000  # characters of a text that is cut first
_TEXT = 24  # characters of a text on either side of what matters
_TRIES = ((9, 6, 400), (4, 4, 80), (3, 3, 40), (2, 2, 24), (1, 2, 24), (1, 1, 24), (0, 1, 24))


def fit(value: Any, limit: int, path: Steps = ()) -> str:
    """Return a value on one line of at most so many characters, with what is at the end of a
    path.
    """
    if isinstance(value, Reference):
        value = freeze(value)
    text = text_of(value) if path or type(value) is not str else _quoted(value, limit)
    if len(text) <= limit:
        return text
    for depth, few, width in _TRIES:
        text = _Shown(depth, few, width).text(value, path)
        if len(text) <= limit:
            return text
    return (not path and _first_fields(value, limit)) or cut(text, limit)


def _first_fields(value: Any, limit: int) -> str:
    """Return a record by as many of its first fields as fit: they say which one it is.

    Or nothing.
    """
    if not isinstance(value, Record):
        return ""
    start, shown = f"{record_class(value).__name__}(", list[str]()
    for name in fields_of(value):
        room = limit - len(start) - len(f", {_MORE})")
        part = f"{', ' if shown else ''}{name}="
        content = getattr(value, name)
        text = text_of(content)
        if len(part) + len(text) > room:
            if shown or not (text := _first_fields(content, room - len(part))):
                break
        shown.append(text)
        start += part + text
    return f"{start}, {_MORE})" if shown else ""


def fit_in_lines(value: Any, line: int, lines: int) -> str:
    """Return a value on one line where that needs no more than leaving defaults out, else on
    several.
    """
    try:
        brief = _Shown(*_TRIES[0]).text(freeze(value), ())
    except StatewalkError:  # a property may speak of what no state can hold
        return cut(text_of(value), line)
    return fit(value, line) if len(brief) <= line else fit(value, max(line, lines))


def cut(text: str, limit: int) -> str:
    """Return a text with its middle left out, and a count of what was."""
    if len(text) <= limit:
        return text
    left_out = len(text) - limit + 12
    keep = max(8, limit - len(f" …{left_out} more… "))
    head = keep * 2 // 3
    tail = keep - head
    return f"{text[:head]} …{len(text) - head - tail} more… {text[len(text) - tail :]}"


def _quoted(text: str, limit: int) -> str:
    """Return a string in quotes, with its middle left out; where it is long, before it is
    quoted.
    """
    return cut(repr(text if len(text) <= _LONG else cut(text, limit)), limit)


def first_difference(a: Any, b: Any) -> Steps:
    """Return the path to the first place where two values differ; not further than both go."""
    a, b = (freeze(v) if isinstance(v, Reference) else v for v in (a, b))
    if type(a) is not type(b):
        return ()
    if type(a) is str:
        at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
        return (("s", min(len(a), len(b)) if at is None else at),)
    for step, one, other in _parts(a, b):
        if one is ABSENT or other is ABSENT:
            return (step,)
        if not _same(one, other):
            return (step, *first_difference(one, other))
    return ()


def _parts(a: Any, b: Any) -> list[tuple[tuple[str, Any], Any, Any]]:
    """Return the parts of two values of one kind, by step."""
    if isinstance(a, Record):
        names = dict.fromkeys([*fields_of(a), *fields_of(b)])
        return [(("f", n), getattr(a, n, ABSENT), getattr(b, n, ABSENT)) for n in names]
    if isinstance(a, FrozenDict | dict):
        keys = [*a, *(k for k in b if k not in a)]
        return [(("k", k), a.get(k, ABSENT), b.get(k, ABSENT)) for k in keys]
    if isinstance(a, list | tuple):
        size = max(len(a), len(b))
        x, y = ([*v, *[ABSENT] * (size - len(v))] for v in (a, b))
        return [(("i", i), x[i], y[i]) for i in range(size)]
    if type(a) in (FrozenSet, FrozenBag, set, frozenset):
        mine = [(("e", e), e, ABSENT) for e in a if e not in b]
        return mine + [(("e", e), ABSENT, e) for e in b if e not in a]
    return []


def _same(a: Any, b: Any) -> bool:
    try:
        return same(a, b)
    except (StatewalkError, TypeError):
        return bool(a == b)


@dataclass(frozen=True)
class _Shown:
    """One way to leave things out: below a depth, all but a few elements, long texts' middles."""

    depth: int
    few: int
    width: int

    def text(self, value: Any, path: Steps) -> str:
        kind = type(value)
        if kind is str:
            return self._words(value, path)
        if isinstance(value, Record):
            return f"{record_class(value).__name__}({self._fields(value, path)})"
        if isinstance(value, Enum) or not isinstance(
            value, tuple | list | set | frozenset | dict | FrozenBag
        ):
            return cut(text_of(value), self.width)
        if isinstance(value, dict):
            return f"{{{self._entries(value, path)}}}"
        inner = self._elements(value, path)
        if kind is FrozenBag:
            return f"Bag([{inner}])"
        if isinstance(value, set | frozenset):
            return f"{{{inner}}}" if len(value) else "set()"
        if isinstance(value, list):
            return f"[{inner}]"
        return f"({inner}{',' if len(value) == 1 else ''})"

    def _inside(self, value: Any, rest: Steps | None) -> str:
        """Return a part: with the rest of the path where it is on it, else a little less deep."""
        if rest is not None:
            return self.text(value, rest)
        if self.depth <= 0 and _has_parts(value):
            if isinstance(value, Record):
                return f"{record_class(value).__name__}({_MORE})"
            return _MORE
        return replace(self, depth=self.depth - 1).text(value, ())

    def _fields(self, record: Record, path: Steps) -> str:
        shown, left_out = [], False
        for name in fields_of(record):
            value = getattr(record, name)
            on_path = path[:1] == (("f", name),)
            if not on_path and _at_default(record, name, value):
                left_out = True
            else:
                shown.append(f"{name}={self._inside(value, path[1:] if on_path else None)}")
        return ", ".join([*shown, *([_MORE] if left_out else [])])

    def _entries(self, value: Any, path: Steps) -> str:
        wanted = path[0][1] if path and path[0][0] == "k" else ABSENT
        items = [
            (k, f"{text_of(k)}: {self._inside(v, path[1:] if _same_key(k, wanted) else None)}")
            for k, v in value.items()
        ]
        at = next((i for i, (k, _) in enumerate(items) if _same_key(k, wanted)), 0)
        return self._around([text for _, text in items], at)

    def _elements(self, value: Any, path: Steps) -> str:
        elements = list(value)
        at, rest = 0, None
        if path and path[0][0] == "i":
            at, rest = min(path[0][1], len(elements)), path[1:]
        elif path and path[0][0] == "e":
            at = next((i for i, e in enumerate(elements) if _same(e, path[0][1])), 0)
        return self._around(
            [self._inside(e, rest if i == at else None) for i, e in enumerate(elements)], at
        )

    def _around(self, texts: list[str], at: int) -> str:
        """Return the few that are next to one, and how many are not shown."""
        if len(texts) <= self.few + 1:
            return ", ".join(texts)
        start = max(0, min(at - self.few // 2, len(texts) - self.few))
        before, after = start, len(texts) - start - self.few
        return ", ".join(
            [
                *([f"{before} more {_MORE}"] if before else []),
                *texts[start : start + self.few],
                *([f"{_MORE} {after} more"] if after else []),
            ]
        )

    def _words(self, text: str, path: Steps) -> str:
        if path and path[0][0] == "s" and len(text) > self.width:
            at = path[0][1]
            start, end = max(0, at - _TEXT), at + _TEXT
            head, tail = _MORE if start else "", _MORE if end < len(text) else ""
            return repr(f"{head}{text[start:end]}{tail}")
        return _quoted(text, self.width)


def _has_parts(value: Any) -> bool:
    return isinstance(value, Record | tuple | list | set | frozenset | dict | FrozenBag) and (
        isinstance(value, Record) or len(value) > 0
    )


def _same_key(key: Any, wanted: Any) -> bool:
    return wanted is not ABSENT and _same(key, wanted)


def _at_default(record: Record, name: str, value: Any) -> bool:
    """Return whether a field has the value it has when nothing is said."""
    default = getattr(record_class(record), name, ABSENT)
    return default is not ABSENT and not isinstance(default, property) and _same(default, value)


def text_of(value: Any) -> str:
    """Return a value in one line, in Python's manner; enum members by their names."""
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
    if callable(value):
        return typed(value)
    return " ".join(repr(value).split()) if kind is not str else repr(value)


def _listed(values: Any) -> str:
    return ", ".join(map(text_of, values))


def place(file: str, line: int) -> str:
    """``spec.py:12``; a file below the working directory by its path from there, not by a link."""
    here = os.path.realpath(os.curdir) + os.sep
    real = os.path.realpath(file)
    return f"{real.removeprefix(here) if real.startswith(here) else file}:{line}"
