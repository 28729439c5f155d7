"""The part of a history that formats of integers can express, and what they leave out."""

from __future__ import annotations

from collections import Counter
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


class Lost(Counter[str]):
    """What a format cannot express, in words, and how often it was dropped."""

    def told(self) -> list[str]:
        """A line for each."""
        return [f"{what} ({n} times)" if n > 1 else what for what, n in self.items()]


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
    plain, lost = Plain(), Lost()
    keys = _numbers(list(history.keys), 0)
    values = _numbers([v for v in history.values[1:] if v is not None], 1)
    sessions = _numbers(list(history.sessions), 0)
    for name, kept, table in (
        ("keys", history.keys, keys),
        ("values", history.values[1:], values),
        ("sessions", history.sessions, sessions),
    ):
        if list(kept) != table:
            lost[f"the names of {name} (now numbers)"] += 1
    if history.initial or not history.initial_known:
        lost["the initial state"] += 1
    named = set(range(len(history))) <= history.names.keys() and all(
        isinstance(x, int) and x >= 0 for x in history.names.values()
    )
    for t in range(len(history)):
        if history.status[t] != OK:
            lost["transactions that did not commit"] += 1
            continue
        if history.begin[t] == history.begin[t] or history.end[t] == history.end[t]:
            lost["times"] += 1
        if t in history.states or (t in history.names and not (named and keep_names)):
            lost["transaction ids and model states"] += 1
        ops = _operations(history, t, keys, values, lost)
        if not ops:
            lost["transactions without operations"] += 1
            continue
        given = history.names.get(t)
        number = given if isinstance(given, int) and named and keep_names else t
        plain.transactions.append(
            PlainTransaction(sessions[history.session[t]], number, ops, int(history.place[t]))
        )
    plain.lost = lost.told()
    return plain


def _operations(
    history: History, t: int, keys: list[int], values: list[int], lost: Lost
) -> list[tuple[int, int, int]]:
    found = []
    for op in history.operations(t):
        kind, value = int(history.kind[op]), int(history.value[op])
        if kind in (RANGE, LIST, APPEND):
            lost["range and list operations"] += 1
            continue
        if value == UNKNOWN:
            lost["reads of unknown result"] += 1
            continue
        if kind in (INSERT, DELETE):
            lost["the difference of insert and delete from write"] += 1
        what = READ if kind == READ else WRITE
        found.append((what, keys[history.key[op]], 0 if value == NIL else values[value - 1]))
    return found


def _numbers(names: list[Scalar], least: int) -> list[int]:
    """The names themselves when they are all integers in range, else fresh numbers."""
    if all(isinstance(x, int) and least <= x < 2**63 for x in names):
        return [int(x) for x in names]
    return list(range(least, least + len(names)))
