"""The part of a history that formats of integers can express, and what they leave out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

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

Drop = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PlainTransaction:
    """Session and transaction numbers; operations (READ or WRITE, key, value), 0 = nil."""

    session: int
    number: int
    operations: list[tuple[int, int, int]]
    place: int


@dataclass(slots=True)
class Plain:
    """Committed register transactions over integers, and in words what was left out."""

    transactions: list[PlainTransaction] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def flatten(history: History, *, keep_names: bool) -> Plain:
    """Reads and writes of committed transactions, with integers for keys, values, sessions.

    Integers stay as they are where all are positive (keys: not negative); else all of that sort
    are renumbered, which is said.
    """
    plain, lost = Plain(), dict[str, int]()

    def drop(what: str) -> None:
        lost[what] = lost.get(what, 0) + 1

    keys = _numbers(list(history.keys), 0)
    values = _numbers([v for v in history.values[1:] if v is not None], 1)
    sessions = _numbers(list(history.sessions), 0)
    for name, kept, table in (
        ("keys", history.keys, keys),
        ("values", history.values[1:], values),
        ("sessions", history.sessions, sessions),
    ):
        if list(kept) != table:
            drop(f"the names of {name} (now numbers)")
    if history.initial or not history.initial_known:
        drop("the initial state")
    named = set(range(len(history))) <= history.names.keys() and all(
        isinstance(x, int) and x >= 0 for x in history.names.values()
    )
    for t in range(len(history)):
        if history.status[t] != OK:
            drop("transactions that did not commit")
            continue
        if history.begin[t] == history.begin[t] or history.end[t] == history.end[t]:
            drop("times")
        if t in history.states or (t in history.names and not (named and keep_names)):
            drop("transaction ids and model states")
        ops = _operations(history, t, keys, values, drop)
        if not ops:
            drop("transactions without operations")
            continue
        given = history.names.get(t)
        number = given if isinstance(given, int) and named and keep_names else t
        plain.transactions.append(
            PlainTransaction(sessions[history.session[t]], number, ops, int(history.place[t]))
        )
    plain.lost = [f"{what} ({n} times)" if n > 1 else what for what, n in lost.items()]
    return plain


def _operations(
    history: History, t: int, keys: list[int], values: list[int], drop: Drop
) -> list[tuple[int, int, int]]:
    found = []
    for op in history.operations(t):
        kind, value = int(history.kind[op]), int(history.value[op])
        if kind in (RANGE, LIST, APPEND):
            drop("range and list operations")
            continue
        if value == UNKNOWN:
            drop("reads of unknown result")
            continue
        if kind in (INSERT, DELETE):
            drop("the difference of insert and delete from write")
        what = READ if kind == READ else WRITE
        found.append((what, keys[history.key[op]], 0 if value == NIL else values[value - 1]))
    return found


def _numbers(names: list[Scalar], least: int) -> list[int]:
    """The names themselves when they are all integers in range, else fresh numbers."""
    if all(isinstance(x, int) and least <= x < 2**63 for x in names):
        return [int(x) for x in names]
    return list(range(least, least + len(names)))
