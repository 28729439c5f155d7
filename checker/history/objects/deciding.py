"""The verdict on a history: its operations, key by key where the spec allows it."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Literal

from statewalk.checker.history.errors import Undecided
from statewalk.checker.history.objects.operations import ABSENT, Operations
from statewalk.checker.history.objects.projecting import Found, without_order
from statewalk.checker.history.objects.search import MOST, DepthFirst, Exploration, Outcome, Search
from statewalk.checker.history.objects.sessions import SessionSearch
from statewalk.checker.history.objects.spec import Bound, Object, is_keys
from statewalk.checker.history.objects.witness import execute
from statewalk.checker.states.shortening import text_of
from statewalk.dsl.values.stored import freeze

if TYPE_CHECKING:
    from statewalk.dsl.view import Path

Order = Literal["real-time", "sessions"]
CONDITIONS: dict[Order, str] = {
    "real-time": "linearizable",
    "sessions": "sequentially consistent",
}
_SLOW = 2  # configurations for each operation, before a quick way to a violation is sought
_SLICE = 200  # configurations of a key, before another one may have its turn


@dataclass
class Part:
    """The operations of one key (None: of all), and what was found of them."""

    key: str | None
    operations: list[Bound]
    outcome: Outcome | None = None


@dataclass
class Verdict:
    """The verdict: ``holds`` is None where it is undecided. ``failing`` is a part that has no
    order, or some operations of a part.
    """

    order: Order
    parts: list[Part]
    holds: bool | None = None
    failing: Part | None = None
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def condition(self) -> str:
        """Return what was asked."""
        return CONDITIONS[self.order]

    @property
    def configurations(self) -> int:
        """Return how many configurations there were."""
        parts = {id(part): part for part in (*self.parts, self.failing) if part is not None}
        return sum(p.outcome.configurations for p in parts.values() if p.outcome is not None)


def decide(
    of: Object, history: Operations, order: Order = "real-time", timeout: float = math.inf
) -> Verdict:
    """Return whether a history is what the object allows.

    Raises:  HistoryError for an operation that the spec does not have; NoWitness for a mistake
             of ours.
    """
    began = time.monotonic()
    bound = of.bind(history)
    parted = order == "real-time" and bound != [] and all(b.key is not ABSENT for b in bound)
    verdict = _decided(of, bound, order, parted, began + timeout)
    try:
        dependent = _dependent(of, verdict, began + timeout) if parted else ""
    except Undecided:
        verdict.holds = verdict.failing = dependent = None
    if dependent:
        verdict = _decided(of, bound, order, False, began + timeout)
        verdict.notes.append(f"not parted by key: {dependent}")
    for part in verdict.parts if verdict.holds else ():
        if part.outcome is not None and part.outcome.order is not None:
            places = [i for i, _ in part.outcome.order]
            execute(of.model, part.operations, places, by_client=order == "sessions")
    of.model.look_outside()
    verdict.seconds = time.monotonic() - began
    return verdict


def _decided(
    of: Object, bound: Sequence[Bound], order: Order, parted: bool, deadline: float
) -> Verdict:
    parts = parts_of(bound) if parted else [Part(None, [*bound])]
    kind = Search if order == "real-time" else SessionSearch
    verdict, open_ = Verdict(order, parts), list[tuple[int, int, Part, DepthFirst]]()
    for number, part in enumerate(parts):
        heappush(open_, (0, number, part, kind(part.operations, of)))
    hard = set[int]()
    while open_:
        _, number, part, search = heappop(open_)
        few: Found | None = None
        try:
            part.outcome = search.run(deadline, _SLICE)
            slow = search.configurations > _SLOW * len(part.operations)
            if part.outcome is None and slow and number not in hard:
                hard.add(number)
                few = without_order(part.operations, of, kind, deadline)
        except Undecided:
            return verdict
        if few is not None:
            values = " and ".join(text_of(value) for value in few.values)
            verdict.notes.append(f"the operations on {values} have no order, so all have none")
            verdict.holds, verdict.failing = False, Part(part.key, few.operations, few.outcome)
            return verdict
        if part.outcome is None:
            if search.configurations > MOST:
                verdict.notes.append(f"undecided after {MOST} configurations")
                return verdict
            # a violation that is met early has fewer orders to exclude
            cost = search.configurations * (search.furthest[0] + 1) ** 2
            heappush(open_, (cost, number, part, search))
        elif part.outcome.order is None:
            verdict.holds, verdict.failing = False, part
            return verdict
    verdict.holds = True
    return verdict


def parts_of(bound: Sequence[Bound]) -> list[Part]:
    """Return the operations of each key."""
    parts: dict[str, Part] = {}
    for b in bound:
        key = "" if b.key is ABSENT else text_of(freeze(b.key))
        parts.setdefault(key, Part(key, [])).operations.append(b)
    return list(parts.values())


def _dependent(of: Object, verdict: Verdict, deadline: float) -> str:
    """Return why the keys are not known to be objects of their own; empty where they are.

    An order of each part needs no more than what its steps touch. That a part has none counts only
    if no operation on another key, in whatever state it can happen, writes what that part looks at.

    Raises:  Undecided
    """
    if verdict.holds is None:
        return ""
    left = MOST
    for part in verdict.parts if verdict.holds is False and not of.in_library else ():
        search = Exploration(part.operations, of)
        if search.run(deadline, left) is None:
            return "there are too many orders to see whether keys are independent"
        left -= search.configurations
    shared = _shared(of, verdict.parts)
    return f"operations of several keys share {shared}" if shared else ""


def _shared(of: Object, parts: Sequence[Part]) -> str:
    """Return a field that operations of one key write and those of another one look at; empty
    where there is none, so that each key is an object of its own.
    """
    for part in parts:
        for b in part.operations:
            if b.kind.call not in of.touched:  # the search had no need of it
                of.after(of.first[0], b.kind)
    users, writers = (
        defaultdict["Path", set[str | None]](set),
        defaultdict["Path", set[str | None]](set),
    )
    for part in parts:
        for call in {b.kind.call for b in part.operations}:
            reads, writes = of.touched.get(call, (set(), set()))
            for path in reads:
                users[path].add(part.key)
            for path in writes:
                writers[path].add(part.key)
    for path, keys in writers.items():
        looking = users.get(path, set())
        if len(keys | looking) > 1 and (looking or not is_keys(path)):
            return of.show_path(path)
    return ""
