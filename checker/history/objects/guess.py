"""A guess at the order of operations, from which the search takes its choices; it never decides.

Times say that some operations precede others, and answers say more. How values pass through the
object is learned from the spec: the operations on two of them are tried in all orders. Of a queue,
that shows that what is taken first was put in first; of a stack, the contrary. Where all orders
that are possible agree on two operations, their order is known, and may decide others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from statewalk.checker.history.objects.operations import Time
from statewalk.checker.history.objects.spec import Bound, Object

_MOST = 5000  # operations of which pairs are compared
_ROUNDS = 20
_ONE_EACH = 2

Chain = tuple[int, ...]  # operations on one value, in their order
Places = tuple[bool, ...]  # of each pair across two chains: whether the first precedes


def likely(operations: Sequence[Bound], object: Object, *, by_client: bool = False) -> list[int]:
    """Return a rank for each operation: the likely ones first."""
    ends = [b.op.end if b.required and b.op.end is not None else math.inf for b in operations]
    rank = sorted(range(len(operations)), key=lambda i: (ends[i], i))
    if len(operations) <= _MOST:
        values = _Values(operations, object)
        if values.chains or values.seen:
            known = _Known(operations, by_client=by_client)
            values.settle(known)
            rank.sort(key=known.rank)
    place = [0] * len(operations)
    for position, i in enumerate(rank):
        place[i] = position
    return place


class _Known:
    """Which operations precede which, as bits: closed under what follows."""

    def __init__(self, operations: Sequence[Bound], *, by_client: bool) -> None:
        self.before = [0] * len(operations)
        self.after = [0] * len(operations)
        over: dict[Any, int] = {}
        events = [(b.op.begin, 0, i) for i, b in enumerate(operations)]
        events += [(b.op.end, 1, i) for i, b in enumerate(operations)
                   if b.required and b.op.end is not None]  # fmt: skip
        for _, kind, i in sorted(events):
            client = operations[i].op.client if by_client else None
            if kind:
                over[client] = over.get(client, 0) | 1 << i
            else:
                self.before[i] = over.get(client, 0)
        for _, kind, i in sorted(events, reverse=True):
            client = operations[i].op.client if by_client else None
            if kind:
                self.after[i] = over.get((client,), 0)
            else:
                over[client,] = over.get((client,), 0) | 1 << i

    def rank(self, a: int) -> int:
        """Return a number that grows along the order: more is before, and less after."""
        return self.before[a].bit_count() - self.after[a].bit_count()

    def said(self, pair: tuple[int, int]) -> int:
        """Return 1 if the first of two precedes, 2 if the second does, 0 if that is open."""
        a, b = pair
        return 1 if self.after[a] >> b & 1 else 2 if self.before[a] >> b & 1 else 0

    def precedes(self, a: int, b: int) -> bool:
        """Return whether an operation is known to precede another one."""
        return bool(self.after[a] >> b & 1)

    def add(self, a: int, b: int) -> bool:
        """Add that an operation precedes another one, unless that is known, or cannot be."""
        if a == b or self.after[a] >> b & 1 or self.after[b] >> a & 1:
            return False
        earlier, later = self.before[a] | 1 << a, self.after[b] | 1 << b
        sources, targets = earlier & ~self.before[b], later & ~self.after[a]
        for i in _bits(sources):
            self.after[i] |= later
        for i in _bits(targets):
            self.before[i] |= earlier
        return True


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class _Values:
    """The values in a history: who puts them in, who takes them out, and who sees them."""

    def __init__(self, operations: Sequence[Bound], object: Object) -> None:
        self.operations, self.object = operations, object
        self.rules: dict[tuple[Any, ...], frozenset[Places]] = {}
        self.forced: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
        self.put: dict[Any, list[int]] = {}
        taken: dict[Any, list[int]] = {}
        self.seen: list[int] = []  # answers with several values
        empty: list[Chain] = []
        for i, b in enumerate(operations):
            arguments, answer = b.kind.action.arguments, b.kind.answer
            if arguments and type(arguments[-1][1]) in (int, str):
                self.put.setdefault(arguments[-1][1], []).append(i)
            if type(answer) is int or type(answer) is str:
                taken.setdefault(answer, []).append(i)
            elif answer is None and not arguments and b.required:
                empty.append((i,))
            if answer and type(answer) in (str, list):
                self.seen.append(i)
        self.chains = [
            chain for value, a in self.put.items() if (chain := self._chain(a, taken.get(value)))
        ]
        if any(len(chain) > 1 for chain in self.chains):
            self.chains += empty
        else:
            self.chains = []

    def _chain(self, put: list[int], taken: list[int] | None) -> Chain:
        """Return the operations on a value; none where it does not pass through the object."""
        if len(put) > 1 or (taken and len(taken) > 1):
            return ()
        if taken is None:
            return (put[0],)
        chain = put[0], taken[0]
        with_it = self._run(chain[:1])
        return chain if put != taken and (s := self._run(chain)) and s != with_it else ()

    def _run(self, order: Sequence[int]) -> set[int]:
        """Return the states in which operations can leave the object."""
        states = {*self.object.first}
        for i in order:
            kind = self.operations[i].kind
            states = {to for state in states for to in self.object.after(state, kind)}
        return states

    def settle(self, known: _Known) -> None:
        """Add all that answers say about the order."""
        for late in (False, True):
            for i in self.seen:
                self._see(i, known, late=late)
        for chain in self.chains:
            if len(chain) > 1:
                known.add(*chain)
        open_ = list(self._pairs())
        for _ in range(_ROUNDS):
            before = len(open_)
            open_ = [pair for pair in open_ if self._compare(*pair, known)]
            if len(open_) == before:
                break
        for one, other in open_:  # what nothing decides is as times have it
            for a in one:
                for b in other:
                    known.add(*((a, b) if known.rank(a) < known.rank(b) else (b, a)))
                    self._compare(one, other, known)

    def _pairs(self) -> Iterator[tuple[Chain, Chain]]:
        """Yield pairs of values whose operations were there at once."""
        times = sorted(
            (self.operations[c[0]].op.begin, max(self._end(i) for i in c), c) for c in self.chains
        )
        for at, (_, end, one) in enumerate(times):
            for begin, _, other in times[at + 1 :]:
                if begin > end:
                    break
                if len(one) + len(other) > _ONE_EACH:
                    yield one, other

    def _end(self, i: int) -> Time:
        end = self.operations[i].op.end
        return math.inf if end is None else end

    def _compare(self, one: Chain, other: Chain, known: _Known) -> bool:
        """Add what follows for the operations on two values; whether some order is open then."""
        cross = [(a, b) for a in one for b in other]
        said = tuple(map(known.said, cross))
        follows = self._follows(one, other, said) if 0 in said else []
        for place, way in follows:
            a, b = cross[place]
            known.add(*((a, b) if way == 1 else (b, a)))
        return said.count(0) > len(follows)

    def _see(self, i: int, known: _Known, *, late: bool) -> None:
        """Add the order of what an answer shows. What it does not show was undone by the first of
        that, if it was over, or comes later.
        """
        answer = self.operations[i].kind.answer
        shown: dict[int, int] = {}
        hidden: list[int] = []
        for value, put in self.put.items():
            if isinstance(answer, str):
                at = answer.find(value) if isinstance(value, str) and value else -1
            else:
                at = answer.index(value) if value in answer else -1
            if at < 0:
                hidden += put
            elif len(put) == 1:
                shown[put[0]] = at
        in_order = sorted(shown, key=shown.__getitem__)
        for a, b in zip(in_order, [*in_order[1:], i], strict=False):
            known.add(a, b)
        for a in hidden:
            if late:
                known.add(i, a)
            elif in_order and known.precedes(a, i):
                known.add(a, in_order[0])

    def _follows(self, one: Chain, other: Chain, said: Sequence[int]) -> list[tuple[int, int]]:
        """Return what follows from what is known of two chains: (pair, 1 or 2 for its order)."""
        of = (*map(self._sort, one), None, *map(self._sort, other))
        key = (of, *said)
        found = self.forced.get(key)
        if found is None:
            allowed = self.rules.get(of)
            if allowed is None:
                allowed = self.rules[of] = frozenset(self._allowed(one, other))
            left = [
                places
                for places in allowed
                if all(s in (0, 1 if p else 2) for s, p in zip(said, places, strict=True))
            ]
            found = self.forced[key] = [
                (i, 1 if left[0][i] else 2)
                for i, s in enumerate(said)
                if left and s == 0 and len({p[i] for p in left}) == 1
            ]
        return found

    def _sort(self, i: int) -> tuple[str, str]:
        kind = self.operations[i].kind
        return kind.name, type(kind.answer).__name__

    def _allowed(self, one: Chain, other: Chain) -> Iterator[Places]:
        """Yield the orders of two chains that the object allows, as of each pair across them."""
        size = len(one) + len(other)
        for places in combinations(range(size), len(one)):
            left, right = iter(one), iter(other)
            order = [next(left) if p in places else next(right) for p in range(size)]
            if self._run(order):
                at = {i: p for p, i in enumerate(order)}
                yield tuple(at[a] < at[b] for a in one for b in other)
