"""Tries as dicts, followed in Python: what is learned, where no kernels follow it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from statewalk.checker.engines.layout import Layout, Slot
from statewalk.checker.native.kernels.arrays import CALL, FIRST_RESULT, FORK, MISSING, READ
from statewalk.checker.native.learn.learned import Learned, Look
from statewalk.checker.native.learn.memo import Call

Row = tuple[int, ...]


class PlainLearned(Learned):
    """Everything learned about one model, without arrays for kernels."""

    def __init__(self, layout: Layout, n_roots: int, n_bits: int) -> None:
        super().__init__(layout, n_roots, n_bits)
        self._children: list[dict[int, int]] = [{}]  # by node
        self._effects: dict[int, tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {}
        self._looked_at: Sequence[int] = ()
        self._results: dict[int, int] = {}  # of calls, in the state that is looked at

    def value_id(self, slot: Slot, value: Any) -> int:
        """See `Effects.value_id`; contributions are the layout's."""
        return self.layout.value_id(slot, value)

    def _new_node(self, look: Look, owner: int) -> int:
        self._looks.append(look)
        self._owners.append(owner)
        self._children.append({})
        return len(self._looks) - 1

    def child(self, node: int, value: int) -> int:
        """See `Learned.child`."""
        return self._children[node].get(value, MISSING)

    def set_child(self, node: int, value: int, child: int) -> None:
        """See `Learned.set_child`."""
        self.n_edges += 1
        self._children[node][value] = child

    def call_result(self, call: Call, row: Sequence[int]) -> int:
        """See `Learned.call_result`."""
        if row is not self._looked_at:
            self._looked_at, self._results = row, {}
        known = self._results.get(call.number)
        if known is None:
            leaves = self._followed(self.call_roots.flat[call.number], row, None)
            if leaves is None:
                return -1
            known = self._results[call.number] = FIRST_RESULT - leaves[0]
        return known

    def leaves(
        self, root: int, row: Sequence[int], before: Sequence[int] | None
    ) -> list[int] | None:
        """Return the leaves of a root in a state, or a step, in the order of their choices; None
        where some are not known.
        """
        return self._followed(self.roots.data[root], row, before)

    def _followed(
        self, node: int, row: Sequence[int], before: Sequence[int] | None
    ) -> list[int] | None:
        looks, known = self._looks, self._children
        found: list[int] = []
        waiting: list[int] = []
        while True:
            while node > 0:
                kind, slot, operand = looks[node]
                children = known[node]
                if kind == FORK:
                    waiting += [children.get(at, MISSING) for at in range(operand - 1, 0, -1)]
                    value = 0
                elif kind == CALL:
                    value = self.call_result(self.calls[operand], row)
                else:
                    at = row
                    if before is not None:
                        at, slot = (before if slot & 1 else row), slot >> 1
                    value = at[slot] if slot < len(at) else 0
                    if kind != READ:
                        results = self.projections[operand].known
                        value = results[value] if value in results else self.project(operand, value)
                node = children.get(value, MISSING)
            if node == MISSING:
                return None
            found.append(node)
            if not waiting:
                return found
            node = waiting.pop()

    def _effect(self, outcome: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Return the writes of an outcome: (slot, value id), and (slot, operation)."""
        known = self._effects.get(outcome)
        if known is None:
            first = self.start.flat[outcome]
            slots, values = self.write_slot.flat, self.write_value.flat
            places = range(first, first + self.count.flat[outcome])
            known = self._effects[outcome] = (
                [(slots[at], values[at]) for at in places if values[at] >= 0],
                [(slots[at], -1 - values[at]) for at in places if values[at] < 0],
            )
        return known

    def readers(self, outcome: int) -> int:
        """Return the roots, as bits, whose quiet verdicts look at what an outcome writes."""
        found, depends = 0, self.depends
        for writes in self._effect(outcome):
            for slot, _ in writes:
                if slot < len(depends):
                    found |= depends[slot]
        return found

    def missed(self, row: Row, outcome: int) -> tuple[int, int] | None:
        """Return an (operation, value id) of an outcome whose result is not known, if any."""
        for slot, operation in self._effect(outcome)[1]:
            id = row[slot] if slot < len(row) else 0
            if not self.operated.get(operation, id):
                return operation, id
        return None

    def reached(self, row: Row, outcome: int) -> Row:
        """Return the row after an outcome, all of whose operations are known."""
        result = [*row]
        result += [0] * (len(self.layout.slots) - len(row))
        writes, operations = self._effect(outcome)
        for slot, new in writes:
            result[slot] = new
        for slot, operation in operations:
            result[slot] = self.operated.get(operation, result[slot]) - 1
        while result and not result[-1]:
            result.pop()
        return tuple(result)
