"""Operations on a few values that have no order by themselves: a quick way to a violation.

The queue and the stack of the library treat each value alike: leave all operations on some values
out of an order, and the rest is an order of the others; as it is without what changes nothing. So a
history has no order if its operations on some values have none. Which values to try is read from
times; that they have no order is for the search to find.

If no value is put in a queue twice, and nobody peeks, this finds all that can be wrong: a value
that nobody put, or that two took; one that overtakes another one; "empty" while something is surely
there (Henzinger, Sezgin, Vafeiadis, "Aspect-oriented linearizability proofs", 2013; Bouajjani,
Emmi, Enea, Hamza, "On reducing linearizability to state reachability", 2015). From a stack, a value
is taken while one that was put later is surely there; that is not all that can be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from statewalk.checker.history.objects.operations import ABSENT, Operation, Time
from statewalk.checker.history.objects.search import DepthFirst, Outcome
from statewalk.checker.history.objects.spec import Bound, Object

_QUEUE, _STACK = "queue", "stack"
_ATTEMPT, _ALL = 2000, 20_000  # configurations

Searching = Callable[[Sequence[Bound], Object], DepthFirst]
Values = dict[tuple[type, Any], "_Value"]  # 1 is not True


@dataclass(frozen=True)
class Found:
    """Values, the operations on them, and how the search for an order of these failed."""

    values: list[Any]
    operations: list[Bound]
    outcome: Outcome


@dataclass(eq=False)
class _Value:
    """A value: the places of its operations, those that put it, take it and see it, and from when
    to when it is surely there.
    """

    value: Any
    places: list[int] = field(default_factory=list)
    puts: list[Operation] = field(default_factory=list)
    takes: list[Operation] = field(default_factory=list)
    looks: list[Operation] = field(default_factory=list)
    since: Time = math.inf
    until: Time = math.inf

    def is_plain(self) -> bool:
        """Return whether it surely is right by itself: put once, then taken at most once."""
        if self.looks or len(self.puts) != 1 or len(self.takes) > 1:
            return False
        return all(self.puts[0].begin <= _end(op) for op in self.takes)


def _end(op: Operation) -> Time:
    return math.inf if op.end is None or op.status != "ok" else op.end


def without_order(
    operations: Sequence[Bound], object: Object, searching: Searching, deadline: float
) -> Found | None:
    """Return operations on a few values that have no order. None says nothing.

    Raises:  Undecided
    """
    name = Path(object.model.path).stem
    if not object.in_library or name not in (_QUEUE, _STACK) or not _are_plain(operations):
        return None
    values, unknown = _values(operations, object)
    left = _ALL
    for few, also in _candidates(name, operations, values):
        places = {*unknown, *also, *(place for value in few for place in value.places)}
        chosen = [
            object.relaxed(operations[i]) if i in unknown else operations[i] for i in sorted(places)
        ]
        search = searching(chosen, object)
        outcome = search.run(deadline, min(left, _ATTEMPT))
        if outcome is not None and outcome.order is None:
            return Found([value.value for value in few], chosen, outcome)
        left -= search.configurations
        if left <= 0:
            break
    return None


def _given(bound: Bound) -> tuple[Any, ...]:
    return tuple(value for _, value in bound.kind.action.arguments)


def _are_plain(operations: Sequence[Bound]) -> bool:
    """Return whether no value can be said in two forms, and none is None."""
    given = all(type(value) in (int, str) for b in operations for value in _given(b))
    answers = (type(b.kind.answer) for b in operations if b.kind.answer not in (ABSENT, None))
    return given and all(one in (int, str, bool, list) for one in answers)


def _values(operations: Sequence[Bound], object: Object) -> tuple[Values, set[int]]:
    """Return the operations on each value, and those that may have taken any."""
    values: Values = {}
    unknown = set[int]()
    first: Time = math.inf
    for i, b in enumerate(operations):
        given, answer = _given(b), b.kind.answer
        for value in given or ([answer] if type(answer) in (int, str) else []):
            of = values.setdefault((type(value), value), _Value(value))
            of.places.append(i)
            if given:
                of.puts.append(b.op)
            elif (b.kind.name, None) in object.changing:
                of.takes.append(b.op)
            else:
                of.looks.append(b.op)
        if answer is ABSENT and not given:
            unknown.add(i)
            first = min(first, b.op.begin)
    for of in values.values():
        of.since = min(map(_end, (*of.puts, *of.looks)), default=math.inf)
        taken = min((op.begin for op in of.takes), default=first)
        of.until = max(taken, *(op.begin for op in of.looks), -math.inf)
    return values, unknown


def _candidates(
    name: str, operations: Sequence[Bound], values: Values
) -> Iterator[tuple[list[_Value], list[int]]]:
    """Yield values, and further operations, that may have no order."""
    for value in values.values():
        if not value.is_plain():
            yield [value], []
    once = [value for value in values.values() if len(value.puts) == 1]
    alone: set[int] = set()
    for i, b in enumerate(operations):
        begin, end, answer = b.op.begin, _end(b.op), b.kind.answer
        if answer is None and (there := _always(once, begin, end)):
            yield there, [i]
        elif answer is None and b.kind.number not in alone:
            alone.add(b.kind.number)
            yield [], [i]
        taken = None if _given(b) else values.get((type(answer), answer))
        if taken is not None and len(taken.puts) == 1:
            put = taken.puts[0]
            if name == _QUEUE:
                sooner = [value for value in once if value.since < put.begin]
            else:
                sooner = [value for value in once if value.puts[0].begin > taken.since]
            if there := _always(sooner, max(begin, put.begin), end):
                yield [*there, taken], []


def _always(values: Sequence[_Value], begin: Time, end: Time) -> list[_Value]:
    """Return values of which one is surely there at each time from begin to end; none where there
    may be nothing.
    """
    chain: list[_Value] = []
    while begin <= end:
        following = max(
            (value for value in values if value.since < begin),
            key=lambda value: value.until,
            default=None,
        )
        if following is None or following.until <= begin:
            return []
        chain.append(following)
        begin = following.until
    return chain
