"""The learned tables, as flat arrays that grow: tries, outcomes, projections, operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from operator import is_not
from typing import Any

import numpy as np

from statewalk.checker.engines.layout import Layout, Slot
from statewalk.checker.engines.resets import Reset, ResetRead
from statewalk.checker.native.kernels.arrays import (
    BASE,
    CALL,
    CAPACITY,
    EDGES,
    FORK,
    KIND,
    MISSING,
    NODE_FIELDS,
    OPERAND,
    PROGRAM,
    PROJECT,
    READ,
    SLOT,
    Array,
    Tries,
    make_scratch,
)
from statewalk.checker.native.learn.memo import OPAQUE, Call, Growing, Memo, Projection, result_id
from statewalk.checker.native.learn.outcomes import Effects
from statewalk.dsl.view import CallResult

# One thing noted while a spec ran: (kind of node, slot, operand, value). For a fork the operand is
# the number of options and the value the index taken.
Event = tuple[int, int, int, int]
Look = tuple[int, int, int]  # the first three of an event: what a node looks at

_DIRECT = 4096  # children beyond this value id are hashed
_SPARSE = 256  # from here on also if few of the values have a child


class Learned(Effects):
    """Everything learned about one model. ``layout`` gives ids; roots are told by bits."""

    def __init__(self, layout: Layout, n_roots: int, n_bits: int) -> None:
        super().__init__(layout, n_bits)
        self.roots: Array = np.zeros(n_roots, np.int32)
        self.call_roots = Growing(np.int32)
        self.nodes = Growing(np.int32, NODE_FIELDS)
        self.edges = Growing(np.int32)
        self.nodes.extend(1)
        self._looks: list[Look] = [(READ, 0, 0)]  # by node
        self._owners: list[int] = [-1]  # by node: the call whose trie it is in, if any
        self._tries: Tries | None = None
        self.n_edges = 0
        self.hash_keys: Array = np.zeros(1 << 10, np.uint64)
        self.hash_children: Array = np.zeros(1 << 10, np.int32)
        self.n_hashed = 0
        self.projections: list[Projection] = []
        self.projection_of: dict[tuple[int, object], int] = {}
        self.projected = Memo()
        self.calls: list[Call] = []
        self.call_of: dict[object, Call] = {}
        # (root, function): calls that look at what the step has changed before.
        self.inlined: set[tuple[int, object]] = set()
        self.not_only_reading: set[object] = set()  # functions that were thought to
        self.programs: Array = np.zeros((0, 2), np.int64)
        self.before_kernels: Callable[[], None] = _nothing
        self._learned_before: dict[int, int] = {}
        self.programmed: dict[int, int] = {}  # root: the node that is its program
        self._row: Sequence[int] = ()
        self._row_array: Array = np.zeros(0, np.int64)
        self._scratch = make_scratch(256)

    # -- tries ---------------------------------------------------------------------------------

    def _new_node(self, look: Look, owner: int) -> int:
        kind, slot, operand = look
        capacity = operand if kind == FORK else 4
        base = self.edges.extend(capacity)
        node = self.nodes.extend(1)
        at, fields = NODE_FIELDS * node, self.nodes.flat
        fields[at + KIND], fields[at + SLOT], fields[at + BASE] = kind, slot, base
        fields[at + CAPACITY], fields[at + OPERAND] = capacity, operand
        self._looks.append(look)
        self._owners.append(owner)
        return node

    def install(self, root: int, code: int, arguments: int) -> int:
        """Let a root be a program: compiled code, and the address of its arguments; its place."""
        self.programs = np.concatenate([self.programs, np.array([[code, arguments]], np.int64)])
        node = self._new_node((PROGRAM, 0, len(self.programs) - 1), root)
        self._learned_before[root] = int(self.roots[root])
        self.roots[root] = self.programmed[root] = node
        return len(self.programs) - 1

    def uninstall(self, root: int) -> None:
        """Let a root be the trie that it was."""
        del self.programmed[root]
        self.roots[root] = self._learned_before.pop(root)

    def forget(self, root: int | None = None) -> None:
        """Forget what was learned of a root, or of all; programs stay."""
        if root is None:
            self.roots[:] = MISSING
        else:
            self.roots[root] = MISSING
        for number, node in self.programmed.items():
            self.roots[number] = node

    def child(self, node: int, value: int) -> int:
        """Return what stands at a node under a value; 0 for nothing."""
        at, fields = NODE_FIELDS * node, self.nodes.flat
        if value < fields[at + CAPACITY] and not fields[at + KIND] & 1:
            child: int = self.edges.flat[fields[at + BASE] + value]
            return child
        if fields[at + KIND] & 1:
            from statewalk.checker.native.kernels import tables

            return int(tables.hashed_child(self.hash_keys, self.hash_children, node, value))
        return MISSING

    def set_child(self, node: int, value: int, child: int) -> None:
        """Put a node or leaf where nothing was."""
        at, fields = NODE_FIELDS * node, self.nodes.flat
        self.n_edges += 1
        fields[at + EDGES] += 1
        if value >= fields[at + CAPACITY] and not fields[at + KIND] & 1:
            self._widen(node, value)
        if fields[at + KIND] & 1:
            self._put_hashed(node, value, child)
        else:
            self.edges.flat[fields[at + BASE] + value] = child

    def _widen(self, node: int, value: int) -> None:
        """Make room for a larger value: a longer run of children, or the hash table."""
        record = self.nodes.data[node]
        base, old = int(record[BASE]), int(record[CAPACITY])
        capacity = max(4, old)
        while capacity <= value:
            capacity *= 2
        if capacity > _DIRECT or (capacity > _SPARSE and record[EDGES] * 32 < capacity):
            record[KIND] += 1
            for id in np.flatnonzero(self.edges.data[base : base + old]).tolist():
                self._put_hashed(node, id, int(self.edges.data[base + id]))
            return
        first = self.edges.extend(capacity)
        self.edges.data[first : first + old] = self.edges.data[base : base + old]
        record[BASE], record[CAPACITY] = first, capacity

    def _put_hashed(self, node: int, value: int, child: int) -> None:
        from statewalk.checker.native.kernels import tables

        if 2 * self.n_hashed >= len(self.hash_keys):
            keys, children = self.hash_keys, self.hash_children
            self.hash_keys = np.zeros(2 * len(keys), np.uint64)
            self.hash_children = np.zeros(2 * len(keys), np.int32)
            tables.put_hashed(
                self.hash_keys, self.hash_children, keys[keys > 0], children[keys > 0]
            )
        key = np.array([(node << 32) | value], np.uint64)
        tables.put_hashed(self.hash_keys, self.hash_children, key, np.array([child], np.int32))
        self.n_hashed += 1

    def insert(self, roots: Array, root: int, events: Sequence[Event], leaf: int) -> str | None:
        """Add a path; None, or in words how it contradicts what was learned before."""
        node, value = 0, 0
        here = int(roots[root])
        owner = root if roots is self.call_roots.data else -1
        looks, child = self._looks, self.child
        for event in events:
            if here > 0:
                if looks[here] != event[:3]:
                    first = self.describe(*looks[here])
                    return f"first {first}, then {self.describe(*event[:3])}"
            elif here < 0:
                return "first it was done, then " + self.describe(*event[:3])
            else:
                here = self._new_node(event[:3], owner)
                self._attach(roots, root, node, value, here)
            node, value = here, event[3]
            here = child(node, value)
        if here == MISSING:
            self._attach(roots, root, node, value, leaf)
        elif here > 0:
            return f"first {self.describe(*looks[here])}, then it was done"
        elif here != leaf:
            return "what it did in the end differed"
        return None

    def _attach(self, roots: Array, root: int, node: int, value: int, below: int) -> None:
        if node:
            self.set_child(node, value, below)
        else:
            roots[root] = below

    def describe(self, kind: int, slot: int, operand: int) -> str:
        """Return an event in words."""
        if kind in (READ, PROJECT):
            return f"it looked at {self.layout.show(self.layout.slots[slot].path)}"
        return "it called a function" if kind == CALL else f"it chose among {operand}"

    # -- projections, operations, calls ----------------------------------------------------------

    def projection(self, slot: Slot, key: object, function: Callable[[Any], Any]) -> int:
        """Return the number of a projection."""
        known = self.projection_of.get((slot.id, key))
        if known is None:
            known = self.projection_of[slot.id, key] = self.projected.add()
            self.projections.append(Projection(slot, function))
        return known

    def project(self, number: int, id: int, compute: Callable[[], Any] | None = None) -> int:
        """Return the result id of a projection for a value id, computed once.

        ``compute`` gives the same as the projection does, with less work.
        """
        projection = self.projections[number]
        known = projection.known.get(id)
        if known is not None:
            return known
        before = projection.slot.values[id]
        if type(before) is Reset:
            raise ResetRead(projection.slot.path)
        try:
            value = compute() if compute else projection.function(before)
        except Exception:
            result = OPAQUE
        else:
            result = result_id(projection.results, projection.ids, value)
        projection.known[id] = result
        self.projected.put(number, id, result + 1)
        return result

    def call(self, key: tuple[object, ...], run: CallResult) -> Call:
        """Return the call of a key, which begins with the function; ``run`` gives its result."""
        known = self.call_of.get(key)
        if known is None:
            number = self.call_roots.append(MISSING)
            known = self.call_of[key] = Call(number, key[:2], run if run.lasts() else None)
            self.calls.append(known)
        return known

    def call_result(self, call: Call, row: Sequence[int]) -> int:
        """Return the result number of a call in a state, if it is known without running it;
        else -1.
        """
        if self.call_roots.flat[call.number] == MISSING:
            return -1
        from statewalk.checker.native.kernels import expand as kernels

        if row is not self._row:
            self._row, self._row_array = row, np.array(row, np.int64)
        result = kernels.call_result(self._row_array, call.number, self.tries(), self._scratch)
        return int(result)

    def choices_of(
        self, root: int, row: Sequence[int], script: Sequence[int]
    ) -> list[tuple[int, int]] | None:
        """Return the choices that a root makes in a state when it follows a script; None if
        not known.
        """
        node = int(self.roots[root])
        choices: list[tuple[int, int]] = []
        while node > 0:
            kind, slot, operand = self._looks[node]
            if kind == FORK:
                value = script[len(choices)] if len(choices) < len(script) else 0
                choices.append((value, operand))
            elif kind == CALL:
                value = self.call_result(self.calls[operand], row)
            else:
                value = row[slot] if slot < len(row) else 0
                if kind == PROJECT:
                    value = self.projections[operand].known.get(value, -1)
            node = MISSING if value < 0 else self.child(node, value)
        return choices if node < 0 else None

    # -- dependencies --------------------------------------------------------------------------

    def depend(self, root: int, slots: set[int], calls: set[int]) -> None:
        """Note that a quiet verdict of a root looked at slots and relied on calls."""
        bit = 1 << root
        for number in calls:
            call = self.calls[number]
            if not call.users & bit:
                call.users |= bit
                slots = slots | call.slots
        self._mark(slots, bit)

    def call_reads(self, number: int, slots: set[int], callees: set[int]) -> set[int]:
        """Note what a call looked at; whoever relies on it depends on that too.

        Returns the roots that have to be learned anew: they asked for the call after they had
        changed what it has turned out to look at.
        """
        call = self.calls[number]
        for callee in callees:
            self.calls[callee].callers.add(number)
            slots = slots | self.calls[callee].slots
        new = slots - call.slots
        if not new:
            return set()
        call.slots |= new
        self._mark(new, call.users)
        wrong = {root for root, had in call.overwritten.items() if not had.isdisjoint(new)}
        for root in wrong:
            self.inline(root, call.function)
        for caller in tuple(call.callers):
            wrong |= self.call_reads(caller, new, set())
        return wrong

    def inline(self, root: int, function: object) -> None:
        """No longer remember calls of a function after a root has changed something."""
        self.inlined.add((root, function))
        self.forget(root)

    def never_remember(self, function: object) -> None:
        """No longer remember calls of a function: whatever may rely on one is learned anew."""
        self.not_only_reading.add(function)
        self.forget()
        self.call_roots.data[:] = MISSING

    # -- for the kernels -------------------------------------------------------------------------

    def tries(self) -> Tries:
        """Return the tries as they are now."""
        if self.programmed:
            self.before_kernels()
        now = (
            self.roots,
            self.nodes.data,
            self.edges.data,
            self.hash_keys,
            self.hash_children,
            self.projected.base.data,
            self.projected.capacity.data,
            self.projected.results.data,
            self.call_roots.data,
            self.programs,
        )
        if self._tries is None or any(map(is_not, self._tries, now)):
            self._tries = Tries(*now)
        return self._tries

    def missed_call(self, operand: int) -> Call | None:
        """Return the call in whose trie something was missed (``operand`` as of a miss of an
        edge), where it may be asked for without the root that came across it.
        """
        number = self._owners[operand] if operand >= 0 else -1 - (1 << 30) - operand
        call = self.calls[number] if number >= 0 else None
        return call if call is not None and call.run is not None else None


def _nothing() -> None:
    """Nothing is to be done before kernels run."""


def widest_variable(layout: Layout) -> tuple[str, int] | None:
    """Return the variable with most distinct values, and their number."""
    return next(iter(widths(layout).most_common(1)), None)


def widths(layout: Layout) -> Counter[str]:
    """Return how many values each variable has had; of a set with slots, how many elements."""
    found: Counter[str] = Counter()
    for slot in layout.slots:
        found[layout.show(slot.path)] += len(slot.values) - 1
    return found
