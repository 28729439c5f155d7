"""The search for sequential consistency: an order of all operations that keeps the order of each
client, whatever the times of different clients say.

It uses the same observations as `search`. Sequential consistency of each key does not make that of
all: nothing is parted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from statewalk.checker.history.objects.guess import likely
from statewalk.checker.history.objects.operations import Time
from statewalk.checker.history.objects.search import After, Child, DepthFirst, Did
from statewalk.checker.history.objects.spec import Bound, Object


class SessionSearch(DepthFirst):
    """The search for an order by clients; ``past`` is how many required operations are done."""

    def __init__(self, operations: Sequence[Bound], object: Object) -> None:
        self.operations = operations
        required = {i: b for i, b in enumerate(operations) if b.required}
        self.rank = likely(operations, object, by_client=True)
        self.whole = len(required)
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
        super().__init__(operations, object)

    def _ready(self, done: int, gone: int) -> Iterator[int]:
        """Yield the operations that no other one of their clients has to precede."""
        for mine in self.clients.values():
            for i in mine:
                if not gone >> i & 1:
                    if self.before[i] & ~done:
                        break
                    yield i

    def _at_once(self, past: int, done: int, used: int, state: int, did: Did) -> After:
        more, again = list(did), True
        while again:
            again = False
            for i in self._ready(done, done | used):
                b = self.operations[i]
                if b.required and self.idle(state, b.kind):
                    done |= 1 << i
                    more.append((i, state))
                    again = True
        return done.bit_count(), done, tuple(more)

    def _next(self, past: int, done: int, used: int, state: int) -> Iterator[Child]:
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

    def _end(self, i: int) -> Time:
        end = self.operations[i].op.end
        return math.inf if end is None else end

    def _waiting(self, past: int, done: int, used: int) -> tuple[int, ...]:
        return tuple(self._ready(done | used, done | used))
