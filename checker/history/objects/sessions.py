"""The search for sequential consistency: an order of all operations that keeps the order of each
client, whatever the times of different clients say.

It uses the same observations as `search`. Sequential consistency of each key does not make that of
all: nothing is parted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence

from statewalk.checker.history.errors import Undecided
from statewalk.checker.history.objects.search import HALTS, MOST, Halt, Idle, Outcome, likely
from statewalk.checker.history.objects.spec import Bound, Object

_LOOK = 256
_Child = tuple[int, int, int, int]  # done, used, state, operation


class SessionSearch:
    """A depth-first search over (operations done, state)."""

    def __init__(self, operations: Sequence[Bound], object: Object) -> None:
        self.operations, self.object = operations, object
        self.configurations = 0
        self.idle = Idle(operations, object)
        required = {i: b for i, b in enumerate(operations) if b.required}
        ends = sorted(required, key=lambda i: (required[i].op.end or 0, i))
        self.rank = likely(operations, ends)
        self.all = sum(1 << i for i in required)
        self.clients: dict[int | str, list[int]] = {}
        self.before: list[int] = []  # the required ones of the same client that were over
        for i, b in enumerate(operations):
            mine = self.clients.setdefault(b.op.client, [])
            self.before.append(
                sum(
                    1 << j for j in mine if j in required and (required[j].op.end or 0) < b.op.begin
                )
            )
            mine.append(i)
        self._begin()

    def _begin(self) -> None:
        self.known: dict[tuple[int, int], list[int]] = {}
        self.parents: list[int] = []
        self.did: list[tuple[tuple[int, int], ...]] = []
        self.furthest: tuple[int, list[tuple[int, int, int]]] = (-1, [])  # (done, [(id, …)])
        self.idle.states.clear()
        first: list[_Child] = [(0, 0, state, -1) for state in self.object.first]
        self._open: list[tuple[int, Iterator[_Child]]] = [(-1, iter(first))]

    def run(self, deadline: float, budget: int = MOST) -> Outcome | None:
        """Return what was found, or None when ``budget`` configurations were looked at.

        Raises:  Undecided
        """
        until = self.configurations + budget
        while self._open:
            parent, children = self._open[-1]
            child = next(children, None)
            if self.idle.refuted():
                self._begin()
                continue
            if child is None:
                self._open.pop()
                continue
            done, used, state, op = child
            done, did = self._at_once(done, used, state, ((op, state),) if op >= 0 else ())
            known = self.known.setdefault((done, state), [])
            if any(other & used == other for other in known):
                continue
            known.append(used)
            self.idle.look(state)
            number = len(self.parents)
            self.configurations += 1
            self.parents.append(parent)
            self.did.append(did)
            if done == self.all:
                return Outcome(self._order(number), self.configurations, done.bit_count())
            if done.bit_count() >= self.furthest[0]:
                if done.bit_count() > self.furthest[0]:
                    self.furthest = (done.bit_count(), [])
                self.furthest[1].append((number, done | used, state))
            self._open.append((number, self._next(done, used, state)))
            if self.configurations % _LOOK == 0 and time.monotonic() > deadline:
                raise Undecided
            if self.configurations >= until:
                return None
        count, found = self.furthest
        first: dict[int, tuple[int, int]] = {}
        for number, gone, state in found:
            if len(first) < HALTS:
                first.setdefault(state, (number, gone))
        halts = [
            Halt(state, self._order(number), tuple(self._ready(gone, gone)))
            for state, (number, gone) in first.items()
        ]
        return Outcome(None, self.configurations, count, -1, halts)

    def _ready(self, done: int, gone: int) -> Iterator[int]:
        """Yield the operations that no other one of their clients has to precede."""
        for mine in self.clients.values():
            for i in mine:
                if not gone >> i & 1:
                    if self.before[i] & ~done:
                        break
                    yield i

    def _at_once(
        self, done: int, used: int, state: int, did: tuple[tuple[int, int], ...]
    ) -> tuple[int, tuple[tuple[int, int], ...]]:
        """Do what changes nothing."""
        more, again = list(did), True
        while again:
            again = False
            for i in self._ready(done, done | used):
                b = self.operations[i]
                if b.required and self.idle(state, b.kind):
                    done |= 1 << i
                    more.append((i, state))
                    again = True
        return done, tuple(more)

    def _next(self, done: int, used: int, state: int) -> Iterator[_Child]:
        """Yield what can be next, the likely ones at the front."""
        first: dict[tuple[int | str | None, int], int] = {}
        ready = sorted(self._ready(done, done | used), key=self._end)
        for i in ready:
            b = self.operations[i]
            of = b.op.client if b.required else None
            first.setdefault((of, b.kind.number), i)  # of one kind, the one that ends first
        for i in sorted(first.values(), key=self.rank.__getitem__):
            b = self.operations[i]
            for following in self.object.after(state, b.kind):
                if b.required:
                    yield done | 1 << i, used, following, i
                elif following != state:
                    yield done, used | 1 << i, following, i

    def _end(self, i: int) -> float:
        end = self.operations[i].op.end
        return math.inf if end is None else end

    def _order(self, number: int) -> tuple[tuple[int, int], ...]:
        chain = []
        while number >= 0:
            chain.append(self.did[number])
            number = self.parents[number]
        return tuple(step for did in reversed(chain) for step in did)
