"""The independent interpreter: runs a history's operations as a store would, in a given order.

It knows nothing of graphs. An accepted history comes with an order of begins and commits; here
each transaction, at its begin, must see in the current state exactly what it recorded, no two
overlapping ones may write the same key (but for prefix consistency), and the order must be the
level's.
Source: the client-centric definitions of Crooks et al., PODC 2017.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Any

from statewalk.checker.history.clock import later
from statewalk.checker.history.data import (
    APPEND,
    INFO,
    INITIAL,
    LIST,
    NIL,
    RANGE,
    READ,
    UNKNOWN,
    History,
    Scalar,
)
from statewalk.dsl.library.levels import PREFIX, IsolationLevel

_COMMITTED = INITIAL - 1


class Mismatch(Exception):
    """The order is not an execution of the history at the level: what went wrong first."""


class Store:
    """The current value of every key; a list key's value is a Python list."""

    def __init__(self, history: History) -> None:
        """A store in the initial state."""
        self.history = history
        self.now: dict[int, Any] = dict(history.initial)
        self.assumed = not history.initial_known
        self.lists: dict[int, list[int]] = {}
        self.given: dict[int, list[int]] = {}
        self.ranked: dict[type, list[tuple[Scalar, int]]] = {}
        for kind in (int, str):
            self.ranked[kind] = sorted(
                (key, k) for k, key in enumerate(history.keys) if isinstance(key, kind)
            )

    def keys_between(self, low: Scalar | None, high: Scalar | None) -> Iterable[int]:
        """Ids of the keys within bounds; open on both sides means every key."""
        bounded = low if low is not None else high
        kinds = (int, str) if bounded is None else (type(bounded),)
        for kind in kinds:
            named = self.ranked[kind]
            a = 0 if low is None else bisect_left(named, low, key=lambda pair: pair[0])
            z = len(named) if high is None else bisect_right(named, high, key=lambda p: p[0])
            for _, k in named[a:z]:
                yield k

    def begin(self, t: int) -> dict[int, Any]:
        """Run t's operations against the current state; what it leaves to be installed.

        Raises:  Mismatch at the first operation that recorded something else.
        """
        h, mine = self.history, dict[int, Any]()
        a, z = int(h.first[t]), int(h.first[t + 1])
        ops = zip(h.kind[a:z].tolist(), h.key[a:z].tolist(), h.value[a:z].tolist(), strict=True)
        for op, (kind, k, v) in enumerate(ops, a):
            if kind == READ:
                if v != UNKNOWN and not self._sees(mine, k, v):
                    raise Mismatch(f"{h.name(t)}: {h.show(op)}")
            elif kind == APPEND:
                mine.setdefault(k, []).append(v)
            elif kind == LIST:
                if not self._lists(mine, k, h.elements(op)):
                    raise Mismatch(f"{h.name(t)}: {h.show(op)}")
            elif kind == RANGE:
                self._range(mine, t, op)
            else:
                mine[k] = v
        return mine

    def at_start(self, k: int, found: list[int], appended: list[int]) -> list[int]:
        """Return what list k held before all appends. Where that is unknown, the first read of it
        tells: what it ``found`` before any of what was ``appended``.
        """
        if not self.assumed or k in self.now:
            return []
        if k not in self.given:
            old = next((x for x, v in enumerate(found) if v in appended), len(found))
            self.given[k] = found[:old]
        return self.given[k]

    def _lists(self, mine: dict[int, Any], k: int, found: list[int]) -> bool:
        """Return whether list k is now what was found."""
        appended = self.lists.get(k, []) + mine.get(k, [])
        held: bool = self.at_start(k, found, appended) + appended == found
        return held

    def _sees(self, mine: dict[int, Any], k: int, v: int) -> bool:
        if k in self.lists or k in self.given or isinstance(mine.get(k), list):
            return v == NIL and self._lists(mine, k, [])
        if k in mine:
            return bool(mine[k] == v)
        if self.assumed and k not in self.now:
            self.now[k] = v
        return bool(self.now.get(k, NIL) == v)

    def _range(self, mine: dict[int, Any], t: int, op: int) -> None:
        h = self.history
        live, dead = h.rows(op)
        rows = dict((*live, *dead))
        for k in self.keys_between(h.bounds[op].low, h.bounds[op].high):
            if not self._sees(mine, k, rows.get(k, NIL)):
                raise Mismatch(f"{h.name(t)}: {h.show(op)} at key {h.keys[k]}")

    def commit(self, mine: dict[int, Any]) -> None:
        """Install what a transaction wrote."""
        for k, v in mine.items():
            if isinstance(v, list):
                self.lists.setdefault(k, []).extend(v)
            else:
                self.now[k] = v


def replay(
    history: History,
    events: Iterable[tuple[int, bool]],
    level: IsolationLevel,
    clock_error: float = 0.0,
) -> None:
    """Run (transaction, is commit) events in order; return when they are a legal execution.

    Raises:  Mismatch when a read, a write conflict, a session, real time or seriality is wrong.
    """
    store, open_, held = Store(history), dict[int, dict[int, Any]](), dict[int, int]()
    last = dict[int, int]()
    order: list[tuple[int, bool]] = []
    for t, commits in events:
        order.append((t, commits))
        if not commits:
            if level.serial and open_:
                raise Mismatch(f"{history.name(t)} begins inside another transaction")
            _session(history, t, level, last)
            open_[t] = store.begin(t)
            for k in open_[t] if level.rule != PREFIX else ():
                if k in held:
                    other = history.name(held[k])
                    raise Mismatch(f"{history.name(t)} overlaps {other} on {history.keys[k]}")
                held[k] = t
            continue
        mine = open_.pop(t)
        store.commit(mine)
        for k in mine if level.rule != PREFIX else ():
            del held[k]
        last[int(history.session[t])] = t
    if open_:
        raise Mismatch(f"{len(open_)} transactions never commit")
    _complete(history, order)
    if level.real_time:
        _times(history, order, clock_error)


def _session(history: History, t: int, level: IsolationLevel, last: dict[int, int]) -> None:
    before = last.get(int(history.session[t]), _COMMITTED)
    if level.session and before > t:
        raise Mismatch(f"{history.name(t)} begins after {history.name(before)} of its session")


def _complete(history: History, order: list[tuple[int, bool]]) -> None:
    begun = [t for t, commits in order if not commits]
    missing = set((history.status == 0).nonzero()[0].tolist()) - set(begun)
    if missing or len(begun) != len(set(begun)):
        raise Mismatch(f"{len(missing)} committed transactions are missing, or one is run twice")


def _times(history: History, order: list[tuple[int, bool]], clock_error: float) -> None:
    """Whoever ended more than the error before another began must have committed before it.

    Walks back through the order with the least end among the commits still to come.
    """
    soonest, who = float("inf"), -1
    for t, commits in reversed(order):
        end, begin = float(history.end[t]), float(history.begin[t])
        if commits:
            if end < soonest and history.status[t] != INFO:
                soonest, who = end, t
        elif soonest < begin and later(soonest, clock_error, history.exact) < later(
            begin, 0, history.exact
        ):
            raise Mismatch(f"{history.name(who)} ended before {history.name(t)} began")
