"""Outcomes of actions, blind operations, and the roots that a write may wake."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np

from statewalk.checker.engines.layout import Layout, Slot
from statewalk.checker.native.kernels.arrays import Array, Outcomes
from statewalk.checker.native.learn.memo import Growing, Memo, Operation
from statewalk.dsl.values.stored import ABSENT
from statewalk.dsl.view import FairChoice

_WORD = (1 << 64) - 1


class Effects:
    """Outcomes and operations of one model. ``layout`` gives ids; roots are told by bits."""

    def __init__(self, layout: Layout, n_bits: int) -> None:
        self.layout = layout
        self.wide = layout.fingerprints.bits == 128
        self.words = max(1, -(-n_bits // 64))
        self.n_bits = n_bits
        self.operations: list[Operation] = []
        self.operation_of: dict[tuple[int, object], int] = {}
        self.operated = Memo()
        self.outcome_of: dict[tuple[Any, ...], int] = {}
        self.delta, self.delta_low = Growing(np.uint64), Growing(np.uint64)
        self.start, self.blind, self.count = Growing(np.int64), Growing(np.int32), Growing(np.int32)
        self.write_slot, self.write_value = Growing(np.int32), Growing(np.int32)
        self.contribution_base = Growing(np.int64)
        self.contribution, self.contribution_low = Growing(np.uint64), Growing(np.uint64)
        self._contributed: list[tuple[int, int]] = []  # per slot: (values known, room)
        self.widest = 1  # most value ids of a slot
        self.depends: list[int] = []  # per slot: roots whose quiet verdict looked at it, as bits
        self._depends_changed = False
        self.grown: list[Slot] | None = None  # slots with new values, where somebody wants to know
        self._readers: dict[str, int] = {}
        self._readers_known = 0
        self._refreshing = Lock()
        self.fair_of: dict[int, tuple[FairChoice, ...]] = {}
        self.dirty: Array = np.zeros((0, self.words), np.uint64)

    def operation(self, slot: Slot, key: object, function: Callable[[Any], Any]) -> int:
        """Return the number of an operation."""
        known = self.operation_of.get((slot.id, key))
        if known is None:
            known = self.operation_of[slot.id, key] = self.operated.add()
            self.operations.append(Operation(slot, function))
        return known

    def operate(self, number: int, id: int) -> int:
        """Return the value id after an operation. Raises what the operation raises."""
        known = self.operated.get(number, id)
        if known:
            return known - 1
        operation = self.operations[number]
        result = self.value_id(operation.slot, operation.function(operation.slot.values[id]))
        self.operated.put(number, id, result + 1)
        return result

    def operated_on(self, number: int, id: int) -> None:
        """Take over the result of an operation that has been computed for a value id."""
        operation = self.operations[number]
        if not self.operated.get(number, id):
            result = self.value_id(operation.slot, operation.after[id])
            self.operated.put(number, id, result + 1)

    def value_id(self, slot: Slot, value: Any) -> int:
        """Return the id of a value in a slot, with its contribution where kernels find it."""
        id = self.layout.value_id(slot, value)
        while slot.id >= len(self._contributed):
            self._contributed.append((0, 0))
            self.contribution_base.append(0)
        if id >= self._contributed[slot.id][0]:
            self._contribute(slot)
            if self.grown is not None:
                self.grown.append(slot)
        return id

    def _contribute(self, slot: Slot) -> None:
        known, room = self._contributed[slot.id]
        if len(slot.values) > room:
            room, known = max(4, 2 * len(slot.values)), 0
            self.contribution_base.data[slot.id] = self.contribution.extend(room)
            if self.wide:
                self.contribution_low.extend(room)
        base = int(self.contribution_base.data[slot.id]) + known
        for at, whole in enumerate(slot.contributions[known:], base):
            self.contribution.data[at] = whole >> 64 if self.wide else whole
            if self.wide:
                self.contribution_low.data[at] = whole & _WORD
        self._contributed[slot.id] = (len(slot.values), room)
        self.widest = max(self.widest, len(slot.values))

    def contribute_all(self) -> None:
        """Take over what the layout knows already."""
        for slot in self.layout.slots:
            self.value_id(slot, slot.values[-1])

    def outcome(
        self,
        known: list[tuple[int, int, int]],
        blind: list[tuple[int, int]],
        fair: tuple[FairChoice, ...] = (),
    ) -> int:
        """Return the number of an outcome: writes (slot, old, new), blind ones (slot, new or
        -1 - op).

        Outcomes that differ in their fair choices are told apart, see ``fair_of``.
        """
        key = (tuple(known), tuple(blind), fair)
        number = self.outcome_of.get(key)
        if number is not None:
            return number
        slots = self.layout.slots
        delta = sum(
            slots[slot].contributions[new] - slots[slot].contributions[old]
            for slot, old, new in known
        )
        delta &= self.layout.mask
        number = self.outcome_of[key] = self.delta.append(delta >> 64 if self.wide else delta)
        if self.wide:
            self.delta_low.append(delta & _WORD)
        writes = [*blind, *((slot, new) for slot, _, new in known)]
        self.start.append(self.write_slot.extend(len(writes)))
        first = self.write_value.extend(len(writes))
        for at, (slot, new) in enumerate(writes, first):
            self.write_slot.data[at] = slot
            self.write_value.data[at] = new
        self.blind.append(len(blind))
        self.count.append(len(writes))
        if fair:
            self.fair_of[number] = fair
        return number

    def _mark(self, slots: set[int], bits: int) -> None:
        top = max(slots, default=-1)
        if top >= len(self.depends):
            self.depends.extend([0] * (top + 1 - len(self.depends)))
        for slot in slots:
            if self.depends[slot] & bits != bits:
                self.depends[slot] |= bits
                self._depends_changed = True

    def apply(self, row: list[int], outcome: int) -> list[int]:
        """Return a row after an outcome."""
        result = row + [0] * (len(self.layout.slots) - len(row))
        first = int(self.start.data[outcome])
        for at in range(first, first + int(self.count.data[outcome])):
            slot, new = int(self.write_slot.data[at]), int(self.write_value.data[at])
            result[slot] = new if new >= 0 else self.operate(-1 - new, result[slot])
        return result

    def outcomes(self) -> Outcomes:
        """Return the outcomes as they are now. Workers ask for them side by side."""
        slots = len(self.layout.slots)
        with self._refreshing:
            while len(self._contributed) < slots:
                self.value_id(self.layout.slots[len(self._contributed)], ABSENT)
            self._refresh_dirty()
        none = np.zeros(0, np.uint64)
        return Outcomes(
            self.delta.data,
            self.delta_low.data if self.wide else none,
            self.start.data,
            self.blind.data,
            self.count.data,
            self.write_slot.data,
            self.write_value.data,
            self.operated.base.data,
            self.operated.capacity.data,
            self.operated.results.data,
            self.contribution_base.data,
            self.contribution.data,
            self.contribution_low.data if self.wide else none,
            self.dirty,
        )

    def read_by(self, readers: dict[str, int]) -> None:
        """Take down which roots may read a field, as bits by its name, in whatever slot it is."""
        self._readers = readers
        self._readers_known = 0

    def _note_readers(self) -> None:
        for slot in self.layout.slots[self._readers_known :] if self._readers else ():
            bits = self._readers.get(slot.path[2], 0) if len(slot.path) > 2 else 0
            if bits:
                self._mark({slot.id}, bits)
        self._readers_known = len(self.layout.slots)

    def _refresh_dirty(self) -> None:
        """Bring the outcomes' bits up to date: the roots that depend on a slot they write."""
        self._note_readers()
        n = self.delta.used
        done = len(self.dirty)
        if self._depends_changed:
            done = 0
            self._depends_changed = False
        if done == n:
            return
        width = max(len(self.layout.slots), len(self.depends), 1)
        words = np.zeros((width + 1, self.words), np.uint64)
        for slot, bits in enumerate(self.depends):
            for word in range(self.words):
                words[slot, word] = (bits >> (64 * word)) & _WORD
        counts = self.count.data[done:n]
        fresh = np.zeros((n - done, self.words), np.uint64)
        some = np.flatnonzero(counts)
        if len(some):
            first = int(self.start.data[done])
            per_write = words[self.write_slot.data[first : self.write_slot.used]]
            starts = self.start.data[done:n][some] - first
            fresh[some] = np.bitwise_or.reduceat(per_write, starts, axis=0)
        self.dirty = fresh if done == 0 else np.concatenate([self.dirty, fresh])
