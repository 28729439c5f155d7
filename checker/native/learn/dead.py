"""Guesses which slots are dead: from the paths that a search has learned.

Each path to a node that looks at a slot has looked at others before, its guards, and leads there
for some of their values only. A slot is dead where a guard of all these paths has a value from
which none of those can be reached any more; until it is written, if each way to one of them
writes the slot.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from statewalk.checker.engines.hidden import Fields, is_free
from statewalk.checker.engines.layout import Slot
from statewalk.checker.engines.resets import Guard, Rule
from statewalk.checker.native.kernels.arrays import (
    BASE,
    CALL,
    CALL_HASHED,
    CAPACITY,
    FIRST_RESULT,
    FORK,
    KIND,
    OPERAND,
    READ,
    READ_HASHED,
    SLOT,
)
from statewalk.checker.native.learn.learned import Learned
from statewalk.dsl.values.stored import intern_key
from statewalk.dsl.view import Path

_MOST_VALUES = 256  # of a guard
_MOST_NODES = 1 << 20

Masks = dict[int, int]
"""By slot the values that lead to a node, as bits."""


def rule_of(learned: Learned, n_states: int, numbers: Fields) -> Rule:
    """Return a rule by what is known; the roots from ``n_states`` on are of steps."""
    looks = _Looks(learned, n_states, numbers)
    guards = looks.guards()
    guards |= _as_others(learned, guards)
    slots, moves = learned.layout.slots, _Moves(learned)
    listed = {(s.path[0], s.path[2]) for s in slots if len(s.path) == 4 and s.path[3] == "keys"}
    resets: dict[Guard, set[Path]] = defaultdict(set)
    ends: dict[Guard, set[Path]] = defaultdict(set)
    kinds: dict[Path, Any] = {}
    for number, masks in guards.items():
        slot = slots[number]
        key = len(slot.path) > 3 and (slot.path[0], slot.path[2]) in listed
        few = len(slot.values) < (3 if len(slot.path) == 3 else 2)
        if slot.hidden or key or few:
            continue
        until: dict[int, list[int]] = {}
        for guard, mask in masks.items():
            seen = [id for id in range(len(slots[guard].values)) if moves.steady(guard, id)]
            for id in (id for id in seen if not moves.reached(guard, id) & mask):
                ends[_guard(slots[guard], id)].add(slot.path)
                kinds[slot.path] = _kind(learned, slot.path)
            until[guard] = [
                id for id in seen
                if not looks.written(number, guard) >> id & 1
                and not moves.reached(guard, id, number) & mask
            ]  # fmt: skip
        # of several guards one left to itself would not reset what another one let be written
        best = max(until, key=lambda g: (len(until[g]), str(slots[g].path)), default=-1)
        for id in until.get(best, ()):
            if slot.path not in ends[_guard(slots[best], id)]:
                resets[_guard(slots[best], id)].add(slot.path)
                kinds[slot.path] = _kind(learned, slot.path)
    return Rule(_frozen(resets), _frozen(ends), kinds)


def _guard(slot: Slot, id: int) -> Guard:
    return slot.path, intern_key(slot.values[id])


def _frozen(found: dict[Guard, set[Path]]) -> dict[Guard, frozenset[Path]]:
    return {guard: frozenset(paths) for guard, paths in found.items() if paths}


def _kind(learned: Learned, path: Path) -> Any:
    """Return the field of a slot, with the type of the element that it is for."""
    if len(path) < 5:
        return (path[0], path[2]) if len(path) > 2 else path
    element = learned.layout.elements[path]
    first = element[0] if type(element) is tuple and element else element
    return (path[0], path[2], first if isinstance(first, str) else type(first).__name__)


# -- looks -----------------------------------------------------------------------------------------


class _Looks:
    """The looks of roots at slots, each with the values that its guards have there; the roots
    from ``n_states`` on are of steps. ``numbers`` as for `is_free`.
    """

    def __init__(self, learned: Learned, n_states: int, numbers: Fields) -> None:
        self.learned, self.n_states, self.numbers = learned, n_states, numbers
        self._hashed = _hashed(learned)
        self._keys = {number: key for key, number in learned.operation_of.items()}
        self._written: dict[int, Masks] = {}  # by slot: values that a guard may keep meanwhile

    def guards(self) -> dict[int, Masks]:
        """Return the guards of each slot: those on all paths to where it is looked at."""
        guards: dict[int, Masks] = {}
        for slot, masks in self._looks():
            _join(guards, slot, masks)
            guards[slot].pop(slot, None)
        return guards

    def written(self, slot: int, guard: int) -> int:
        """Return the values, as bits, that a guard may have before and after a step that writes a
        slot and does not know them.
        """
        if slot not in self._written:
            return 0
        return self._written[slot].get(guard, -1)

    def _looks(self) -> Iterator[tuple[int, Masks]]:
        learned = self.learned
        if learned.nodes.used > _MOST_NODES:
            yield from ((slot.id, {}) for slot in learned.layout.slots)
            return
        for root, first in enumerate(learned.roots.tolist()):
            apart = root >= self.n_states
            waiting: list[tuple[int, Masks, frozenset[int]]] = [(first, {}, frozenset())]
            while waiting:
                node, masks, read = waiting.pop()
                if node <= FIRST_RESULT:
                    self._note(FIRST_RESULT - node, masks, read)
                    yield from ((slot, masks) for slot in self._updated(FIRST_RESULT - node))
                if node <= 0:
                    continue
                kind, code, operand = (int(learned.nodes.data[node, at]) for at in _RECORD)
                below = self._below(node, kind)
                if kind in (FORK, CALL, CALL_HASHED):
                    calls = () if kind == FORK else learned.calls[operand].slots
                    yield from ((slot, masks) for slot in calls)
                    waiting += [(child, masks, read) for _, child in below]
                    continue
                yield code >> apart, _of_side(masks, code) if apart else masks
                few = len(learned.layout.slots[code >> apart].values) <= _MOST_VALUES
                if kind in (READ, READ_HASHED):
                    read |= {code}
                for value, child in below:
                    mask = self._mask(kind, operand, value) if few else -1
                    waiting.append((child, {**masks, code: masks.get(code, -1) & mask}, read))

    def _below(self, node: int, kind: int) -> list[tuple[int, int]]:
        if kind & 1:
            return self._hashed[node]
        record = self.learned.nodes.data[node]
        base, capacity = int(record[BASE]), int(record[CAPACITY])
        below = self.learned.edges.data[base : base + capacity].tolist()
        return [(value, child) for value, child in enumerate(below) if child]

    def _mask(self, kind: int, operand: int, edge: int) -> int:
        """Return the values of a slot that lead from a node to a child."""
        if kind in (READ, READ_HASHED):
            return 1 << edge
        known = self.learned.projections[operand].known
        return _any(1 << id for id, number in known.items() if number == edge)

    def _note(self, outcome: int, masks: Masks, read: frozenset[int]) -> None:
        """Note which values guards may have while an outcome writes slots."""
        learned = self.learned
        first = int(learned.start.data[outcome])
        written = slice(first, first + int(learned.count.data[outcome]))
        values = learned.write_value.data[written]
        plain = set(learned.write_slot.data[written][values >= 0].tolist())
        unsure = {guard: 0 if guard in plain or guard in read else m for guard, m in masks.items()}
        unsure |= dict.fromkeys(plain - masks.keys(), 0)
        for slot in plain:
            _join(self._written, slot, unsure)

    def _updated(self, outcome: int) -> Iterator[int]:
        """Yield the slots that an outcome updates by what is there, where that may fail."""
        learned = self.learned
        first = int(learned.start.data[outcome])
        for at in range(first, first + int(learned.blind.data[outcome])):
            slot, new = int(learned.write_slot.data[at]), int(learned.write_value.data[at])
            if new < 0 and not self._is_free(slot, self._keys[-1 - new][1]):
                yield slot

    def _is_free(self, slot: int, key: Any) -> bool:
        if isinstance(key, tuple) and key[:1] == ("then",):
            before = self._keys[key[1]][1]
            return self._is_free(slot, before) and self._is_free(slot, key[2])
        return is_free(self.learned.layout.slots[slot].path, key, self.numbers)


_RECORD = (KIND, SLOT, OPERAND)


def _join(found: dict[int, Masks], slot: int, masks: Masks) -> None:
    """Keep the guards that a slot has had until now and here, with the values of both."""
    known = found.get(slot)
    if known is None:
        found[slot] = dict(masks)
        return
    for guard in list(known) if known else ():
        if guard in masks:
            known[guard] |= masks[guard]
        else:
            del known[guard]


def _of_side(masks: Masks, code: int) -> Masks:
    """Return what is known of the same state of a step as a look is at."""
    return {other >> 1: mask for other, mask in masks.items() if other & 1 == code & 1}


def _hashed(learned: Learned) -> dict[int, list[tuple[int, int]]]:
    """Return what is below nodes that keep them in the hash table."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    there = np.flatnonzero(learned.hash_keys)
    for key, child in zip(
        learned.hash_keys[there].tolist(), learned.hash_children[there].tolist(), strict=True
    ):
        found[key >> 32].append((key & 0xFFFFFFFF, child))
    return found


def _as_others(learned: Learned, guards: dict[int, Masks]) -> dict[int, Masks]:
    """Return the guards of slots that nothing looked at yet: those of all others of their kind."""
    slots = learned.layout.slots
    kinds: dict[Any, list[int]] = defaultdict(list)
    for slot in slots:
        kinds[_kind(learned, slot.path)].append(slot.id)
    found: dict[int, Masks] = {}
    for alike in kinds.values():
        known = [number for number in alike if number in guards]
        for number in set(alike).difference(known) if known else ():
            each = [_seen_from(learned, guards[other], other, number) for other in known]
            common = set.intersection(*(set(masks) for masks in each)) - {number}
            found[number] = {g: _any(masks[g] for masks in each) for g in common}
    return found


def _seen_from(learned: Learned, masks: Masks, other: int, number: int) -> Masks:
    """Return the guards of a slot as those of another one: of its own instance, where they were."""
    layout, result = learned.layout, {}
    theirs, own = layout.slots[other].path[:2], layout.slots[number].path[:2]
    for guard, mask in masks.items():
        slot = layout.slots[guard]
        if slot.path[:2] != theirs or theirs == own:
            result[guard] = mask
        elif (mine := layout.by_path.get((*own, *slot.path[2:]))) is not None:
            keys = {intern_key(v) for id, v in enumerate(slot.values) if mask >> id & 1}
            result[mine.id] = _any(1 << id for key, id in mine.ids.items() if key in keys)
    return result


def _any(masks: Iterable[int]) -> int:
    return reduce(or_, masks, 0)


# -- moves -----------------------------------------------------------------------------------------


class _Moves:
    """The moves of each slot from value to value, by outcome."""

    def __init__(self, learned: Learned) -> None:
        self.moves: dict[int, list[tuple[int, int, int]]] = defaultdict(list)  # from -1: any
        self.writers: dict[int, set[int]] = defaultdict(set)
        self._updated: set[tuple[int, int]] = set()  # values that an update may lead to
        self._known: dict[tuple[int, int, frozenset[int]], int] = {}
        for (known, blind, _), outcome in learned.outcome_of.items():
            for slot, old, new in known:
                self.moves[slot].append((old, new, outcome))
                self.writers[slot].add(outcome)
            for slot, new in blind:
                if new >= 0:
                    self.moves[slot].append((-1, new, outcome))
                    self.writers[slot].add(outcome)
                    continue
                for old, to in learned.operated.pairs(-1 - new):
                    self.moves[slot].append((old, to, outcome))
                    self._updated.add((slot, to))

    def steady(self, slot: int, value: int) -> bool:
        """Return whether a slot only gets a value by steps that write that very value."""
        return (slot, value) not in self._updated

    def reached(self, slot: int, value: int, without: int | None = None) -> int:
        """Return the values that a slot may get from one on, that included, as bits; where
        ``without`` is a slot, as long as that is not written.
        """
        moves = self.moves[slot]
        left: frozenset[int] = frozenset()
        if without is not None:
            left = frozenset(self.writers[without].intersection(o for _, _, o in moves))
        known = self._known.get((slot, value, left))
        if known is not None:
            return known
        found, waiting = 1 << value, [value]
        while waiting:
            at = waiting.pop()
            for old, new, outcome in moves:
                if old in (at, -1) and outcome not in left and not found >> new & 1:
                    found |= 1 << new
                    waiting.append(new)
        self._known[slot, value, left] = found
        return found
