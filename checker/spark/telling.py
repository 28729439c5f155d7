"""Making what is told from what was noted: paths with tables that say what their numbers mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from checker.native.arrays import CALL, FIRST_RESULT, PROJECT
from checker.spark.lessons import NO_CALL, Explained, Noted, OutcomeData, Told
from checker.spark.naming import Name, Names
from dsl.values import intern_key

if TYPE_CHECKING:
    from checker.native.learned import Event, Learned

# What was noted: (call or NO_CALL, events, leaf, blind operations, calls relied on).
Note = tuple[int, tuple["Event", ...], int, tuple[int, ...], tuple[Any, ...]]


class Telling:
    """Makes what is told from what was noted."""

    def __init__(self, learned: Learned, names: Names) -> None:
        self._learned = learned
        self._names = names
        self._told = Told()
        self._events: list[Event] = []

    def add(self, row: int, root: int, seconds: float, notes: list[Note], doubtful: bool) -> None:
        """Tell of one evaluation."""
        told, paths = self._told, []
        for call, events, leaf, blind, relied in notes:
            self._events += events
            for kind, _, operand, value in events:
                if kind == PROJECT:
                    told.results[operand, value] = None
                elif kind == CALL:
                    told.call_results[operand, value] = None
            if call != NO_CALL:
                told.call_results[call, FIRST_RESULT - leaf] = None
            elif leaf <= FIRST_RESULT:
                told.outcomes.setdefault(FIRST_RESULT - leaf, _NOTHING)
            told.operations.update(dict.fromkeys(blind, b""))
            told.calls.update((number, b"") for number, _, _ in relied)
            paths.append(Noted(call, len(events), leaf, blind, relied))
        told.explained.append(Explained(row, root, seconds, tuple(paths), doubtful))

    def told(self) -> Told:
        """All of it, with the tables that say what the numbers mean."""
        told, learned, names = self._told, self._learned, self._names
        names.refresh()
        told.events = np.fromiter(chain.from_iterable(self._events), np.int32).reshape(-1, 4)
        told.slots = tuple(slot.path for slot in learned.layout.slots)
        every = list(learned.outcome_of) if told.outcomes else []
        for number in told.outcomes:
            told.outcomes[number] = self._outcome(*every[number])
        for number, result in told.results:
            projection = learned.projections[number]
            told.results[number, result] = _key(projection.results, result)
        for number, result in told.call_results:
            told.call_results[number, result] = _key(learned.calls[number].results, result)
        told.projections = _named({n for n, _ in told.results}, names.projections)
        told.calls = _named({n for n, _ in told.call_results} | told.calls.keys(), names.calls)
        told.operations = _named(told.operations.keys(), names.operations)
        return told

    def _outcome(
        self, known: Any, blind: Sequence[tuple[int, int]], fair: tuple[Any, ...]
    ) -> OutcomeData:
        slots = self._learned.layout.slots
        changed = [
            (s, _key(slots[s].values, old), _key(slots[s].values, new)) for s, old, new in known
        ]
        operations = [(slot, -1 - new) for slot, new in blind if new < 0]
        self._told.operations.update((number, b"") for _, number in operations)
        return OutcomeData(
            tuple(changed),
            tuple((slot, _key(slots[slot].values, new)) for slot, new in blind if new >= 0),
            tuple(operations),
            fair,
        )


_NOTHING = OutcomeData((), (), (), ())


def _key(values: list[Any], number: int) -> Any:
    return intern_key(values[number])


def _named(numbers: Iterable[int], names: list[Name | None]) -> dict[int, Name]:
    return {number: name for number in numbers if (name := names[number]) is not None}
