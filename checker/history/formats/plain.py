"""The part of a history that formats of integers can express, and what they leave out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from statewalk.checker.history.data import (
    APPEND,
    DELETE,
    INSERT,
    LIST,
    NIL,
    OK,
    RANGE,
    READ,
    UNKNOWN,
    WRITE,
    History,
    Scalar,
)
from statewalk.checker.history.errors import HistoryError
from statewalk.dsl.files import decoded

UNRECORDED = "that sessions were not recorded (now one for each transaction)"
GOES_ON = "that a session goes on after an indeterminate transaction"
_LARGEST = 2**63
_DEEPEST = 100
_NESTED = (list, dict)


def record_in(line: bytes, fraction: Callable[[str], float] = float) -> Any:
    """The JSON value of a line. Raises `SaidTwice`, ValueError, RecursionError where it is deep."""
    found = decoded(line, fraction)
    level = [found] if line.count(b"[") + line.count(b"{") > _DEEPEST else []
    for _ in range(_DEEPEST):
        inside = [v if isinstance(v, list) else v.values() for v in level if isinstance(v, _NESTED)]
        level = [part for parts in inside for part in parts]
    if level:
        raise RecursionError(f"nested more than {_DEEPEST} deep")
    return found


class Lost(Counter[str]):
    """What a format cannot express, in words, and how often it was dropped."""

    def told(self) -> list[str]:
        """A line for each."""
        return [f"{what} ({n} times)" if n > 1 else what for what, n in self.items() if n]


@dataclass(frozen=True, slots=True)
class PlainTransaction:
    """Session and transaction numbers; operations (READ or WRITE, key, value), 0 = nil."""

    session: int
    number: int
    operations: list[tuple[int, int, int]]


@dataclass(slots=True)
class Plain:
    """Committed register transactions over integers, and what was left out."""

    transactions: list[PlainTransaction] = field(default_factory=list)
    lost: Lost = field(default_factory=Lost)


def flatten(
    history: History,
    *,
    keep_names: bool = True,
    number_sessions: bool = True,
    reserved: Container[int] = (),
) -> Plain:
    """Reads and writes of committed transactions, with integers for keys, values, sessions.

    Integers stay as they are where all are positive (keys: not negative) and none is `reserved`;
    else all of that sort are renumbered, which is said. Sessions that only share a name, because
    one goes on after an indeterminate transaction, stay apart. Without `number_sessions` they
    are the history's own numbers, which the caller names.
    Raises:  HistoryError[SW702] when nothing is left.
    """
    plain = Plain()
    lost = plain.lost
    if history.initial or not history.initial_known:
        lost["the initial state"] += 1
    kept: dict[int, list[tuple[int, int, int]]] = {}
    for t in range(len(history)):
        if history.status[t] != OK:
            lost["transactions that did not commit"] += 1
            continue
        ops = _operations(history, t, lost)
        if not ops:
            lost["transactions without operations"] += 1
            continue
        kept[t] = ops
        lost["times"] += has_times(history, t)
        lost["model states"] += t in history.states
    written = [op for ops in kept.values() for op in ops]
    keys = _numbers("keys", history.keys, [k for _, k, _ in written], 0, lost)
    used = [v for _, _, v in written if v != NIL]
    values = _numbers("values", history.values, used, 1, lost, reserved) | {NIL: 0}
    sessions = {int(s): int(s) for s in history.session}
    if number_sessions:
        sessions = session_numbers(history, {int(history.session[t]) for t in kept}, 0, lost)
    ids = {t: history.names[t] for t in kept if t in history.names}
    numbers = {t: x for t, x in ids.items() if _fits(x, 0, reserved)}
    if not keep_names or len(set(numbers.values())) < len(kept):
        numbers = {t: t for t in kept}
        lost["transaction ids"] += len(ids)
    for t, ops in kept.items():
        plain.transactions.append(
            PlainTransaction(
                sessions[int(history.session[t])],
                int(numbers[t]),
                [(what, keys[k], values[v]) for what, k, v in ops],
            )
        )
    if not kept:
        raise nothing_left(history)
    return plain


def has_times(history: History, t: int) -> bool:
    """Whether it is known when a transaction began or ended."""
    return bool(history.begin[t] == history.begin[t] or history.end[t] == history.end[t])


def session_numbers(history: History, used: set[int], least: int, lost: Lost) -> dict[int, int]:
    """A number for each session in use: its name, where that is one and no other session has it.

    What a client did after an indeterminate transaction is another session of its name.
    """
    own = {s: history.sessions[s] for s in sorted(used)}
    whole = {x for x in own.values() if isinstance(x, int) and least <= x < _LARGEST}
    free, seen, found = 1 + max(whole, default=-1), set[Scalar](), dict[int, int]()
    for s, name in own.items():
        if name is None:
            lost[UNRECORDED] += 1
            found[s], free = free, free + 1
            continue
        lost[GOES_ON] += name in seen
        lost["the names of sessions (now numbers)"] += name not in whole and name not in seen
        if isinstance(name, int) and name in whole and name not in seen:
            found[s] = name
        else:
            found[s], free = free, free + 1
        seen.add(name)
    return found


def nothing_left(history: History) -> HistoryError:
    """A history of which the format can express no transaction."""
    return HistoryError(
        "none of its transactions can be written in this format",
        source=history.source,
        code="SW702",
        expected="one that committed, of operations that the format has (docs/history-format.md)",
    )


def write_folder(
    history: History,
    folder: Path,
    shape: tuple[str, str],
    text: Mapping[int, bytes | bytearray],
    lost: Lost,
    more: Mapping[str, bytes] = MappingProxyType({}),
) -> None:
    """Write a file of each session; it has the session's name where all of them fit the shape.

    `shape` is the pattern that a name must fit, and the format of those that are given otherwise;
    `more` are other files.
    Raises:  HistoryError[SW707] when files there would be read as part of the history.
    """
    given = [history.sessions[s] for s in text]
    named = [name for name in given if name is not None]
    own = [*map(str, given)]
    fit = all(re.fullmatch(shape[0], name, re.ASCII) for name in own) and len(set(own)) == len(own)
    lost[GOES_ON] += len(named) - len(set(named))
    lost[UNRECORDED] += len(given) - len(named)
    if not fit or not all(isinstance(name, str) for name in given):
        own = [shape[1].format(s) for s in text]
        first = dict(reversed([*zip(given, own, strict=True)]))
        changed = any(before not in (None, now) for before, now in first.items())
        lost["the names of sessions (now file names)"] += changed
    folder.mkdir(parents=True, exist_ok=True)
    files = {f"{name}.log": content for name, content in zip(own, text.values(), strict=True)}
    files |= more
    others = {f.name for f in folder.iterdir() if f.suffix in (".log", ".edn")} - files.keys()
    if others:
        raise HistoryError(
            f"{min(others)} in it would be read as part of the history",
            source=str(folder),
            code="SW707",
            expected="a new folder",
        )
    for name, content in files.items():
        (folder / name).write_bytes(content)


def _operations(history: History, t: int, lost: Lost) -> list[tuple[int, int, int]]:
    """READ or WRITE, and the ids of key and value."""
    found = []
    for op in history.operations(t):
        kind, value = int(history.kind[op]), int(history.value[op])
        if kind in (RANGE, LIST, APPEND):
            lost["range and list operations"] += 1
        elif value == UNKNOWN:
            lost["reads of unknown result"] += 1
        else:
            lost["the difference of insert and delete from write"] += kind in (INSERT, DELETE)
            found.append((READ if kind == READ else WRITE, int(history.key[op]), value))
    return found


def _fits(name: Scalar | None, least: int, reserved: Container[int]) -> bool:
    return isinstance(name, int) and least <= name < _LARGEST and name not in reserved


def _numbers(
    what: str,
    names: Sequence[Scalar | None],
    used: list[int],
    least: int,
    lost: Lost,
    reserved: Container[int] = (),
) -> dict[int, int]:
    """The names of the ids in use themselves when they are distinct integers in range, else new."""
    used = sorted(set(used))
    own = [names[i] for i in used]
    if all(_fits(x, least, reserved) for x in own) and len(set(own)) == len(own):
        return {i: int(str(x)) for i, x in zip(used, own, strict=True)}
    new = list(range(least, least + len(used)))
    lost[f"the names of {what} (now numbers)"] += own != new
    return dict(zip(used, new, strict=True))
