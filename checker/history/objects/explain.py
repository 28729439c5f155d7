"""The explanation of a violation: how far an order goes, what does not fit, and why not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from statewalk.checker.history.objects.deciding import Order, Part
from statewalk.checker.history.objects.operations import Time
from statewalk.checker.history.objects.search import Halt, Search
from statewalk.checker.history.objects.sessions import SessionSearch
from statewalk.checker.history.objects.spec import Bound, Object

_STATES = 5  # that are told of
_MOST = 400  # operations among which those that matter are looked for
_BUDGET = 2000  # configurations for each attempt
_SPENT = 50_000  # and for all


@dataclass(frozen=True)
class Candidate:
    """An operation that could be next, and why it cannot; empty where it can, and leads to another
    of the states.
    """

    operation: int
    why: str


@dataclass(frozen=True)
class End:
    """A state in which the longest orders end, and what could be next."""

    state: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Explanation:
    """Why a part has no order.

    ``order`` is a longest one, of (operation, state after it). ``failed`` is the operation that
    fits nowhere (None: one of the candidates). ``ends`` are the states in which orders end;
    ``more`` further ones are left out. ``needed`` are operations that have no order, whatever the
    others were told and whether they happened or not; without any of them there is one, unless
    that took too long to find. It is empty where it was not looked for.
    """

    part: Part
    order: tuple[tuple[int, str], ...]
    failed: int | None
    ends: tuple[End, ...]
    more: int
    needed: tuple[int, ...]


def explained(object: Object, part: Part, order: Order) -> Explanation:
    """Return why a part of a history has no order."""
    outcome = part.outcome
    assert outcome is not None
    failed = outcome.failed if outcome.failed >= 0 else None
    ends = tuple(
        End(object.show(halt.state), _candidates(object, part, halt, failed))
        for halt in outcome.halts[:_STATES]
    )
    longest = max(outcome.halts, key=lambda halt: len(halt.order), default=None)
    steps = longest.order if longest is not None else ()
    return Explanation(
        part,
        tuple((op, object.show(state)) for op, state in steps),
        failed,
        ends,
        max(0, len(outcome.halts) - _STATES),
        needed_of(object, part, order),
    )


def _candidates(
    object: Object, part: Part, halt: Halt, failed: int | None
) -> tuple[Candidate, ...]:
    found = []
    for i in sorted(halt.open, key=lambda i: (i != failed, i)):
        kind = part.operations[i].kind
        possible = object.after(halt.state, kind)
        found.append(Candidate(i, "" if possible else object.why_not(halt.state, kind)))
    return tuple(found)


def needed_of(object: Object, part: Part, order: Order) -> tuple[int, ...]:
    """Return operations that matter: all others may be unknown, and there still is no order."""
    outcome, operations = part.outcome, part.operations
    assert outcome is not None
    end = operations[outcome.failed].op.end if outcome.failed >= 0 else None
    until: Time = math.inf if end is None else end
    now = {i: b for i, b in enumerate(operations) if b.op.begin <= until}
    known = [i for i, b in now.items() if b.required]
    if len(known) > _MOST:
        return ()
    size, spent = max(1, len(known) // 2), 0
    while size:
        at = 0
        while at < len(known) and spent < _SPENT:
            tried = {**now, **{i: object.relaxed(now[i]) for i in known[at : at + size]}}
            fails, cost = _fails(object, list(tried.values()), order, until)
            spent += cost
            if fails:
                now, known = tried, known[:at] + known[at + size :]
            else:
                at += size
        size //= 2
    return tuple(known)


def _fails(
    object: Object, operations: Sequence[Bound], order: Order, until: Time
) -> tuple[bool, int]:
    """Return whether operations surely have no order up to a time, whatever begins after it, and
    what it cost to look.
    """
    kind = Search if order == "real-time" else SessionSearch
    search = kind(operations, object)
    found = search.run(math.inf, _BUDGET)
    if found is None or found.order is not None:
        return False, search.configurations
    end = operations[found.failed].op.end if found.failed >= 0 else None
    return end is None or end <= until, search.configurations
