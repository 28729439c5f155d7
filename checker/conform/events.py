"""The events of a log: JSON Lines, or what a function of the user's makes of any line.

An event names a step by any of: its action, its actor, its choices and arguments by name, and the
values of fields before or after it. What it leaves out is not compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

from statewalk.dsl.errors import RunError, did_you_mean

TORN = "The last line ends in the middle: was the program stopped while writing?"
Reader = Callable[[str], Any]
"""From a line to an event as an object, several of them, or None for a line that says nothing."""
_NAMES = ("action", "actor", "process", "sent", "received")
_VALUES = ("with", "before", "after")
_DEEPEST = 100  # values in values: no spec has as many
_MOST_BITS = 10_000  # of an integer: Python writes no longer one
_KEYS = (*_NAMES, *_VALUES, "changes", "clock", "time", "note")
FORM = (
    'An event is an object: {"action": "Server.vote", "actor": "Server#1", "with": {"term": 2},\n'
    '"after": {"voted": true}}. All keys may be left out: ' + ", ".join(_KEYS) + "."
)


@dataclass(frozen=True)
class Event:
    """A line of a log. ``chosen`` are arguments and choices by name, ``before``, ``after`` values
    of fields by name; ``changes`` names fields that get another value. ``process``, ``clock`` (a
    vector clock), ``sent`` and ``received`` (names of messages) and ``time`` order events of
    several processes.
    """

    file: str
    line: int
    action: str = ""
    actor: str = ""
    chosen: Mapping[str, Any] = field(default_factory=dict)
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    changes: tuple[str, ...] = ()
    process: str = ""
    clock: Mapping[str, int] = field(default_factory=dict)
    sent: str = ""
    received: str = ""
    time: int | Decimal | None = None

    @property
    def place(self) -> str:
        """``node1.jsonl:12``"""
        return f"{self.file}:{self.line}"

    @cached_property
    def said(self) -> str:
        """The same of two events that say the same of a step."""
        return repr((self.action, self.actor, self.chosen, self.before, self.after, self.changes))

    @property
    def shown(self) -> str:
        """Return what it says of a step, as it is written in a log."""
        said = {
            "action": self.action, "actor": self.actor, "with": self.chosen, "before": self.before,
            "after": self.after, "changes": list(self.changes), "sent": self.sent,
            "received": self.received,
        }  # fmt: skip
        return json.dumps({k: v for k, v in said.items() if v}, ensure_ascii=False)


def read_events(file: str, lines: Iterable[str], reader: Reader | None = None) -> list[Event]:
    """Return the events of a log. Raises RunError[SW390] for a line that is none."""
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        said = _parsed(file, number, line) if reader is None else _read(file, number, line, reader)
        found += [event_of(file, number, one) for one in said]
    return found


def _parsed(file: str, number: int, line: str) -> list[Any]:
    try:
        return [_DECODER.decode(line)]
    except (ValueError, RecursionError, ArithmeticError) as error:
        why = str(error) or "it is nested too deeply"
        why = "a number has too long an exponent" if isinstance(error, ArithmeticError) else why
        why = f"{why}. {TORN}" if _is_torn(line, error) else why
        raise no_event(file, number, f"it is no JSON object: {why}") from None


def _is_torn(line: str, error: Exception) -> bool:
    """Return whether a line looks like the beginning of an event, and a file ends there."""
    said = line.rstrip()
    if line.endswith("\n") or not said.startswith("{"):
        return False
    return not said.endswith("}") or getattr(error, "pos", 0) >= len(said)


class _Doubled(dict[str, Any]):
    """An object that says something twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        last = {name: at for at, (name, _) in enumerate(pairs)}
        self.twice = next(name for at, (name, _) in enumerate(pairs) if last[name] != at)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _Doubled(pairs)


_DECODER = json.JSONDecoder(
    parse_float=Decimal, parse_constant=Decimal, object_pairs_hook=_object
)  # a note may have anything; what is compared is looked at when an event is made


def _read(file: str, number: int, line: str, reader: Reader) -> list[Any]:
    try:
        said = reader(line.rstrip("\r\n"))
    except (Exception, SystemExit) as error:
        raise no_event(file, number, f"--map raised {type(error).__name__}: {error}") from error
    if said is None:
        return []
    return list(said) if isinstance(said, list | tuple) else [said]


def event_of(file: str, number: int, said: Any) -> Event:
    """Return the event of an object. Raises RunError[SW390]."""
    if not isinstance(said, dict):
        raise no_event(file, number, f"{_shown(said)} is no object")
    if isinstance(said, _Doubled):
        raise no_event(file, number, f"it has {said.twice!r:.60} twice")
    said = dict(dict.items(said))
    for key in said:
        if key not in _KEYS:
            meant = (
                did_you_mean(str(key), _KEYS) or "Other keys go into note, or a --map drops them."
            )
            raise no_event(file, number, f"{_shown(key)} is not a key of events. {meant}")
    for key in said.keys() & {*_NAMES, *_VALUES, "changes"}:
        if key in _NAMES and not isinstance(said[key], str):
            raise no_event(file, number, f"{key} is not a string: {_shown(said[key])}")
        if key in _VALUES and not _is_named(said[key]):
            raise no_event(file, number, f"{key} names no values: {_shown(said[key])}")
        try:
            said[key] = _plain(said[key])
        except ValueError as error:
            raise no_event(file, number, f"{key}: {error}") from None
    changes = said.get("changes", [])
    if not isinstance(changes, list) or not all(isinstance(name, str) for name in changes):
        raise no_event(file, number, f"changes names no fields: {_shown(changes)}")
    clock = said.get("clock", {})
    if not _is_named(clock) or not all(type(n) is int and n >= 0 for n in clock.values()):
        raise no_event(file, number, f"clock does not count events by process: {_shown(clock)}")
    return Event(
        file, number, said.get("action", ""), said.get("actor", ""), said.get("with", {}),
        said.get("before", {}), said.get("after", {}), tuple(changes), said.get("process", ""),
        clock, said.get("sent", ""), said.get("received", ""), _time(file, number, said),
    )  # fmt: skip


def _time(file: str, number: int, said: Mapping[str, Any]) -> int | Decimal | None:
    """Return when an event was, exactly: times are only compared with each other."""
    time = said.get("time")
    if time is None or type(time) is int:
        return time
    if isinstance(time, float | Decimal) and Decimal(time).is_finite():
        return Decimal(time)
    why = f"time is no number: {_shown(time)}. Of dates, a --map makes numbers."
    raise no_event(file, number, why)


def _plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON has it, whatever classes a --map took it from. Raises ValueError
    for what no value of a spec can be compared with.
    """
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        if value.bit_length() > _MOST_BITS:
            raise ValueError("the integer has too many digits for a spec")
        return int.__index__(value)
    if isinstance(value, float | Decimal):
        raise ValueError(f"{value} is not an integer; specs have no other numbers")
    if isinstance(value, _Doubled):
        raise ValueError(f"it has {value.twice!r:.60} twice")
    if not isinstance(value, dict | list | tuple):
        raise ValueError(f"{type(value).__name__} is not a JSON type")
    if depth == _DEEPEST:
        raise ValueError(f"values are nested more than {_DEEPEST} deep")
    if isinstance(value, dict):
        return {_key(k): _plain(v, depth + 1) for k, v in dict.items(value)}
    return [_plain(one, depth + 1) for one in value]


def _key(key: Any) -> str:
    return str.__str__(key) if isinstance(key, str) else repr(_plain(key))


def _shown(value: Any) -> str:
    """Return the beginning of a value as Python writes it; of what it cannot write, the class."""
    try:
        return f"{value!r:.60}"
    except Exception:
        return type(value).__name__


def _is_named(values: Any) -> bool:
    return isinstance(values, dict) and all(isinstance(name, str) for name in values)


def no_event(file: str, number: int, why: str) -> RunError:
    """Return the error of a line that is no event."""
    return RunError("SW390", f"{file}:{number}: {why}", help=FORM)
