"""Taking over what tasks have found out: their paths, as the driver would have inserted them.

A path is inserted only if the driver knows every projection, operation and call in it by name, if
the driver's own projections and calls give in this row what they gave there, and if the driver
would not have gone another way: with an update that is known to raise, or a call that it does not
remember at this root. Dependencies are noted as `Learner` does. Otherwise nothing is inserted, and
the driver evaluates the situation itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from checker.native.arrays import (
    CALL,
    EVENT,
    FIRST_RESULT,
    FORK,
    MISSING,
    PROJECT,
    QUIET,
    READ,
)
from checker.native.memo import OPAQUE, Call, leaf_of_result, result_id
from checker.spark.lessons import NO_CALL, Explained, Noted, OutcomeData, Told, value_of
from checker.spark.naming import Name, Names

if TYPE_CHECKING:
    from checker.layout import Slot
    from checker.native.learned import Event
    from checker.native.learning import Learner


class _Refused(Exception):
    """The driver has to see for itself."""


class Taking:
    """Takes over what one task told."""

    def __init__(self, learner: Learner, names: Names, told: Told) -> None:
        self._learner = learner
        self._learned = learned = learner.learned
        self._names = names
        self._told = told
        self._slots: list[Slot] = [learned.layout.slot(path) for path in told.slots]
        self._projections: dict[int, int] = {}
        self._operations: dict[int, int] = {}
        self._calls: dict[int, Call] = {}
        self._results: dict[tuple[int, int], int] = {}
        self._call_results: dict[tuple[int, int], int] = {}
        self._outcomes: dict[int, int] = {}
        self._events: list[list[int]] = told.events.tolist()
        self._at = 0

    def take(self, explained: Explained, row: list[int]) -> bool:
        """Insert the paths of an evaluation in a row; whether all of the root's were."""
        root, whole = explained.root, not explained.doubtful
        for path in explained.paths:
            events = self._events[self._at : self._at + path.events]
            self._at += path.events
            try:
                if path.call != NO_CALL:
                    self._take_call(path, events, root, row)
                elif whole:
                    self._take_path(path, events, root, row)
            except _Refused:
                whole = whole and path.call != NO_CALL
        return whole

    # -- paths -----------------------------------------------------------------------------------

    def _take_path(self, path: Noted, events: list[list[int]], root: int, row: list[int]) -> None:
        """Insert a path of a root. See `Learner._run`."""
        learned, known = self._learned, self._known_events(events, row)
        leaf = self._leaf(path.leaf)
        operations = [self._operation(number) for number in path.blind]
        relied = [
            (self._call(number), outermost, {self._slots[slot].id for slot in slots})
            for number, outermost, slots in path.relied
        ]
        for call, _, changed in relied:
            if (root, call.function) in learned.inlined or not call.slots.isdisjoint(changed):
                raise _Refused
        for call, outermost, changed in relied:
            if outermost:
                call.overwritten.setdefault(root, set()).update(changed)
        if leaf == QUIET and root < learned.n_bits:
            learned.depend(root, *_looked_at(known))
        for operation in operations:
            learned.operations[operation].users.add(root)
        if learned.insert(learned.roots, root, known, leaf) is not None:
            raise _Refused

    def _take_call(self, path: Noted, events: list[list[int]], root: int, row: list[int]) -> None:
        """Insert a path of a call. See `TracingView._learn_call`."""
        learned, call = self._learned, self._call(path.call)
        result = self._call_result(path.call, FIRST_RESULT - path.leaf)
        if learned.call_result(call, row) >= 0:
            return
        known = self._known_events(events, row)
        roots, leaf = learned.call_roots.data, leaf_of_result(result)
        if learned.insert(roots, call.number, known, leaf) is not None:
            raise _Refused
        if root in learned.call_reads(call.number, *_looked_at(known)):
            raise _Refused

    def _known_events(self, events: list[list[int]], row: list[int]) -> list[Event]:
        """Events in numbers of the driver, with what the driver's own functions give."""
        learned, width = self._learned, len(row)
        result: list[Event] = []
        for kind, slot, operand, value in events:
            if kind == READ:
                number = self._slots[slot].id
                result.append((READ, number, 0, row[number] if number < width else 0))
            elif kind == PROJECT:
                projection = self._projection(operand)
                number = self._slots[slot].id
                found = learned.project(projection, row[number] if number < width else 0)
                if found != self._result(operand, value):
                    raise _Refused
                result.append((PROJECT, number, projection, found))
            elif kind == FORK:
                result.append((FORK, 0, operand, value))
            else:
                call = self._call(operand)
                found = self._result_here(call.number, row)
                if found <= OPAQUE or found != self._call_result(operand, value):
                    raise _Refused
                result.append((CALL, 0, call.number, found))
        return result

    def _result_here(self, call: int, row: list[int]) -> int:
        """The number of a call's result in a row; -1 where it is not known.

        The kernel stops at a projection that nobody has asked for with this value; here it is
        computed.
        """
        learned = self._learned
        found = learned.call_result(learned.calls[call], row)
        below = MISSING if found >= 0 else learned.call_roots.data.item(call)
        while below > 0:
            kind, slot, operand = learned.looks_at(below)
            if kind == CALL:
                value = self._result_here(operand, row)
            else:
                value = row[slot] if slot < len(row) else 0
                if kind == PROJECT:
                    value = learned.project(operand, value)
            below = MISSING if value < 0 else learned.child(below, value)
        return found if below == MISSING else FIRST_RESULT - below

    def _leaf(self, leaf: int) -> int:
        """A leaf; what failed is looked at by the driver."""
        if leaf in (QUIET, EVENT):
            return leaf
        if leaf > FIRST_RESULT:
            raise _Refused
        number = FIRST_RESULT - leaf
        known = self._outcomes.get(number)
        if known is None:
            known = self._outcomes[number] = self._outcome(self._told.outcomes[number])
        return leaf_of_result(known)

    def _outcome(self, data: OutcomeData) -> int:
        known = [
            (self._slots[slot].id, self._value(slot, old), self._value(slot, new))
            for slot, old, new in data.known
        ]
        blind = [(self._slots[slot].id, self._value(slot, new)) for slot, new in data.unseen]
        blind += [(self._slots[s].id, -1 - self._operation(n)) for s, n in data.operations]
        return self._learned.outcome(sorted(known), sorted(blind), data.fair)

    # -- the driver's numbers ----------------------------------------------------------------------

    def _numbered(self, names: dict[int, Name], number: int, known: dict[Name, int]) -> int:
        """What the driver has under a name."""
        name = names.get(number)
        if name is None:
            raise _Refused
        if name not in known:
            self._names.refresh()
        if name not in known:
            raise _Refused
        return known[name]

    def _projection(self, number: int) -> int:
        found = self._projections.get(number)
        if found is None:
            found = self._numbered(self._told.projections, number, self._names.projection_of)
            self._projections[number] = found
        return found

    def _operation(self, number: int) -> int:
        """An operation that is applied without looking."""
        found = self._operations.get(number)
        if found is None:
            found = self._numbered(self._told.operations, number, self._names.operation_of)
            self._operations[number] = found
        if self._learned.operations[found].raising:
            raise _Refused
        return found

    def _call(self, number: int) -> Call:
        found = self._calls.get(number)
        if found is None:
            at = self._numbered(self._told.calls, number, self._names.call_of)
            found = self._calls[number] = self._learned.calls[at]
        return found

    def _result(self, projection: int, result: int) -> int:
        """The number of a projection's result; -1 where the driver's has never given it."""
        if result == OPAQUE:
            return OPAQUE
        found = self._results.get((projection, result))
        if found is None:
            known = self._learned.projections[self._projection(projection)]
            found = known.ids.get(self._told.results[projection, result], -1)
            if found >= 0:
                self._results[projection, result] = found
        return found

    def _call_result(self, call: int, result: int) -> int:
        """The number of a call's result, given when new. Those that raise are the driver's."""
        if result == OPAQUE:
            raise _Refused
        found = self._call_results.get((call, result))
        if found is None:
            known, key = self._call(call), self._told.call_results[call, result]
            found = known.ids.get(key, OPAQUE)
            if found == OPAQUE:
                found = result_id(known.results, known.ids, self._new_value(key))
            self._call_results[call, result] = found
        return found

    def _value(self, slot: int, key: Any) -> int:
        """The id of a value in a slot, given when new."""
        own = self._slots[slot]
        known = own.ids.get(key)
        return self._learned.value_id(own, self._new_value(key)) if known is None else known

    def _new_value(self, key: Any) -> Any:
        try:
            return value_of(key, self._learner.model.classes)
        except LookupError:
            raise _Refused from None


def _looked_at(events: Sequence[Event]) -> tuple[set[int], set[int]]:
    """The slots and the calls that events looked at."""
    slots = {slot for kind, slot, _, _ in events if kind in (READ, PROJECT)}
    return slots, {operand for kind, _, operand, _ in events if kind == CALL}
