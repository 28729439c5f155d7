"""The two operations behind an edge between transactions."""

from __future__ import annotations

from typing import Any

from statewalk.checker.history.data import APPEND, LIST, RANGE, READ, WRITE, History


def cited(history: History, kind: str, a: int, b: int, key: int) -> tuple[int, int]:
    """Return the operations on `key` of a and of b that an edge from a to b cites.

    Of a transaction that reads the key more than once, a read that shows the other's write for
    `wr`, and one that does not for `rw`; -1 when there is none.
    """
    if kind == "rw":
        two = _last_write(history, b, key)
        return _read(history, a, key, two, shows=False), two
    one = _last_write(history, a, key)
    if kind == "wr":
        return one, _read(history, b, key, one, shows=True)
    return one, _last_write(history, b, key)


def _last_write(history: History, t: int, key: int) -> int:
    writes = (
        op
        for op in history.operations(t)
        if history.key[op] == key and WRITE <= history.kind[op] <= APPEND
    )
    return max(writes, default=-1)


def _read(history: History, t: int, key: int, write: int, *, shows: bool) -> int:
    """Return the first read of the key that shows the write, or does not; else the first of all."""
    reads = [op for op in history.operations(t) if _reads(history, op, key)]
    fitting = [op for op in reads if _shows(history, op, key, write) == shows]
    # one that names the key says more than a query over many
    return min(fitting or reads, key=lambda op: (history.kind[op] == RANGE, op), default=-1)


def _reads(history: History, op: int, key: int) -> bool:
    if history.kind[op] == RANGE:
        return _in_range(history, op, key)
    return bool(history.key[op] == key and history.kind[op] in (READ, LIST))


def _shows(history: History, op: int, key: int, write: int) -> bool:
    if write < 0:
        return False
    value = int(history.value[write])
    if history.kind[op] == LIST:
        return value in history.elements(op)
    if history.kind[op] == RANGE:
        return any((key, value) in rows for rows in history.rows(op))
    return int(history.value[op]) == value


def _in_range(history: History, op: int, k: int) -> bool:
    low: Any = history.bounds[op].low
    high: Any = history.bounds[op].high
    key: Any = history.keys[k]
    if any(bound is not None and type(bound) is not type(key) for bound in (low, high)):
        return False
    return (low is None or low <= key) and (high is None or key <= high)
