"""The independent interpreter of levels below snapshots: runs operations in an order of commits.

It knows nothing of graphs. Each read must return what some transaction left before, and for
each transaction the writes that were visible to it are counted up, key by key: a read must
return the newest of them. Prefix consistency is replayed by checker.history.certify.replay.
Source: the client-centric definitions of Crooks et al., PODC 2017.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from statewalk.checker.history.certify.replay import Mismatch, Store
from statewalk.checker.history.data import APPEND, LIST, NIL, RANGE, READ, UNKNOWN, Array, History
from statewalk.dsl.library.levels import (
    ATOMIC,
    CAUSAL,
    PARALLEL,
    READ_COMMITTED,
    VIEW,
    IsolationLevel,
)

_ROOM = 1 << 26  # places in the table of newest visible versions, 4 bytes each
_T0 = -1


@dataclass(slots=True)
class _Done:
    """One transaction as it ran: external reads (key, turn of the writer), keys it wrote.

    `moments` are the reads by operation: a range query sees all its rows at one moment.
    `before` are the turns of the transactions that it depends on without having read from them.
    """

    turn: int
    moments: list[list[tuple[int, int]]] = field(default_factory=list)
    wrote: list[int] = field(default_factory=list)
    before: list[int] = field(default_factory=list)

    @property
    def reads(self) -> list[tuple[int, int]]:
        """The reads of all operations."""
        return [read for moment in self.moments for read in moment]


def replay_weak(history: History, order: list[int], level: IsolationLevel) -> None:
    """Run the transactions in an order; return when that is an execution at the level.

    Raises:  Mismatch when a read, the order of a session, or what was visible is wrong.
    """
    missing = set((history.status == 0).nonzero()[0].tolist()) - set(order)
    if missing or len(order) != len(set(order)):
        raise Mismatch(f"{len(missing)} committed transactions are missing, or one is run twice")
    ran = _Run(history, order).run(level)
    if level.rule in (VIEW, ATOMIC):
        _direct(history, order, ran, level)
    if level.rule in (CAUSAL, PARALLEL):
        _transitive(history, order, ran)


class _Run:
    """The transactions committed so far, in the order."""

    def __init__(self, history: History, order: list[int]) -> None:
        self.history, self.order, self.store = history, order, Store(history)
        self.writer: dict[tuple[int, int], int] = {}
        self.newest: dict[int, int] = {}
        self.lists: dict[int, list[int]] = {}
        self.ends: dict[int, dict[int, int]] = {}

    def run(self, level: IsolationLevel) -> list[_Done]:
        last: dict[int, tuple[int, int]] = {}
        done = []
        for turn, t in enumerate(self.order):
            session = int(self.history.session[t])
            one = _Done(turn)
            if level.session and session in last:
                place, before = last[session]
                if place > t:
                    raise Mismatch(f"{self.history.name(t)} runs after the rest of its session")
                one.before.append(before)
            last[session] = (t, turn)
            left = self._read(t, one, level)
            one.wrote = list(left)
            if level.rule == PARALLEL:
                one.before += (self.newest[k] for k in left if k in self.newest)
            self._commit(turn, left)
            done.append(one)
        return done

    def _read(self, t: int, one: _Done, level: IsolationLevel) -> dict[int, list[int]]:
        """Check t's reads one by one; per key what it leaves: its last write, or its appends."""
        h, left, seen = self.history, dict[int, list[int]](), dict[int, int]()
        for op in h.operations(t):
            kind, k, v = int(h.kind[op]), int(h.key[op]), int(h.value[op])
            if kind == APPEND:
                left.setdefault(k, []).append(v)
            elif kind not in (READ, LIST, RANGE):
                left[k] = [v]
            elif kind != READ or v != UNKNOWN:
                one.moments.append([*self._sources(t, op, left)])
                for key, turn in one.moments[-1]:
                    if seen.setdefault(key, turn) != turn and level.rule not in (
                        READ_COMMITTED,
                        VIEW,
                    ):
                        raise Mismatch(f"{h.name(t)}: {h.show(op)} differs from an earlier read")
        return left

    def _sources(self, t: int, op: int, left: dict[int, list[int]]) -> Iterator[tuple[int, int]]:
        """Yield the keys that an operation reads from others, with the turn of each one's
        writer.
        """
        h = self.history
        if h.kind[op] == RANGE:
            live, dead = h.rows(op)
            rows = dict((*live, *dead))
            for k in self.store.keys_between(h.bounds[op].low, h.bounds[op].high):
                yield from self._source(t, op, k, rows.get(k, NIL), left)
        elif h.kind[op] == LIST:
            yield self._list(t, op, h.elements(op), left)
        else:
            yield from self._source(t, op, int(h.key[op]), int(h.value[op]), left)

    def _source(
        self, t: int, op: int, k: int, v: int, left: dict[int, list[int]]
    ) -> Iterator[tuple[int, int]]:
        h = self.history
        if k in self.ends or k in self.store.given or (k in left and self._appends(t, k)):
            if v != NIL:
                raise Mismatch(f"{h.name(t)}: {h.show(op)} of a list")
            yield self._list(t, op, [], left, k)
        elif k in left:
            if left[k] != [v]:
                raise Mismatch(f"{h.name(t)}: {h.show(op)} is not its own write")
        elif v != NIL and (k, v) in self.writer:
            yield k, self.writer[k, v]
        else:
            if not h.initial_known:
                self.store.now.setdefault(k, v)
            if v != self.store.now.get(k, NIL):
                raise Mismatch(f"{h.name(t)}: {h.show(op)}, which nobody wrote before")
            yield k, _T0

    def _appends(self, t: int, k: int) -> bool:
        h = self.history
        return any(h.kind[op] == APPEND and h.key[op] == k for op in h.operations(t))

    def _list(
        self, t: int, op: int, found: list[int], left: dict[int, list[int]], key: int = -1
    ) -> tuple[int, int]:
        k = int(self.history.key[op]) if key < 0 else key
        mine = left.get(k, [])
        whole = self.lists.get(k, [])
        given = self.store.at_start(k, found, whole + mine)
        if found[: len(given)] != given:
            raise Mismatch(f"{self.history.name(t)}: {self.history.show(op)}")
        found = found[len(given) :]
        outside = found[: len(found) - len(mine)]
        fits = outside + mine == found and outside == whole[: len(outside)]
        turn = self.ends.get(k, {}).get(len(outside), _T0 if not outside else None)
        if not fits or turn is None:
            raise Mismatch(f"{self.history.name(t)}: {self.history.show(op)}")
        return k, turn

    def _commit(self, turn: int, left: dict[int, list[int]]) -> None:
        t = self.order[turn]
        for k, values in left.items():
            if self._appends(t, k):
                self.lists.setdefault(k, []).extend(values)
                self.ends.setdefault(k, {})[len(self.lists[k])] = turn
            else:
                self.writer[k, values[0]] = turn
            self.newest[k] = turn


def _wrong(history: History, t: int, k: int) -> Mismatch:
    return Mismatch(f"{history.name(t)} reads {history.keys[k]} older than what was visible to it")


def _direct(history: History, order: list[int], ran: list[_Done], level: IsolationLevel) -> None:
    """Check that its direct sources (for VIEW: earlier ones) and its session do not
    be missed.
    """
    sessions: dict[int, dict[int, int]] = {}
    for one in ran:
        t = order[one.turn]
        own = sessions.setdefault(int(history.session[t]), {})
        visible = dict(own) if level.session and level.rule == ATOMIC else {}

        def see(writer: int, visible: dict[int, int] = visible) -> None:
            for k in ran[writer].wrote if writer != _T0 else ():
                visible[k] = max(visible.get(k, _T0), writer)

        if level.rule == ATOMIC:
            for _, writer in one.reads:
                see(writer)
        for moment in one.moments:
            for _, writer in moment:
                see(writer)
            for k, writer in moment:
                if writer < visible.get(k, _T0):
                    raise _wrong(history, t, k)
        own.update(dict.fromkeys(one.wrote, one.turn))


def _transitive(history: History, order: list[int], ran: list[_Done]) -> None:
    """Everything that it depends on over any way must not be missed; some keys at a time."""
    keys = len(history.keys)
    width = max(1, min(keys, _ROOM // max(1, len(ran))))
    for base in range(0, keys, width):
        newest: Array = np.full((len(ran), min(width, keys - base)), _T0, np.int32)
        for one in ran:
            row = newest[one.turn]
            depends = {writer for _, writer in one.reads if writer != _T0} | set(one.before)
            if depends:
                np.maximum.reduce(newest[sorted(depends)], axis=0, out=row)
            for k, writer in one.reads:
                if base <= k < base + len(row) and row[k - base] != writer:
                    raise _wrong(history, order[one.turn], k)
            for k in one.wrote:
                if base <= k < base + len(row):
                    row[k - base] = one.turn
