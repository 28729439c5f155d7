"""The number of states without a field: it tells which field makes the states.

A fingerprint is a sum over slots, so that of a state without a field is a subtraction. The
reference engine keeps all of them, the native engine a sketch for each field.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import inf, log, sqrt

from statewalk.checker.contract.search import Key, Without
from statewalk.checker.engines.layout import Layout, Slot
from statewalk.dsl.model import Model
from statewalk.dsl.source.readers import Readers, readers_in
from statewalk.dsl.view import Path

RUNS: Key = ("", "@flow")
"""In place of a field: the suspended runs of flows."""
_REST: Key = ("", "@rest")  # what belongs to no field and is not counted


def readers_of(model: Model) -> dict[Key, Readers]:
    """Return who reads each field, by the text; nothing of fields of which it does not tell."""
    return {} if model.tree is None else readers_in(*model.tree) or {}


class Groups:
    """The groups of slots that are left out: the fields that no step reads one by one, or ``every``
    field; and before them all that no step reads, where they are several.
    """

    def __init__(self, model: Model, layout: Layout, every: bool) -> None:
        self.layout, self.every = layout, every
        fields = {k: info for k, info in model.fields.items() if not info.constant}
        if layout.fingerprints.view:
            fields = {key: info for key, info in fields.items() if not info.auxiliary}
        readers = readers_of(model)
        unread = tuple(key for key in fields if key in readers and not readers[key].steps)
        runs = [RUNS] if model.flows is not None else []
        self.keys = (*fields, *runs, _REST) if every else unread
        self.unread = unread if len(unread) > 1 else ()
        self._slots: list[tuple[Slot, ...]] = []
        self._known = -1

    @property
    def slots(self) -> list[tuple[Slot, ...]]:
        """Return the slots of each group: first the unread ones, if any, then each of ``keys``."""
        if len(self.layout.slots) != self._known:
            found: dict[Key, list[Slot]] = {key: [] for key in (*self.keys, _REST)}
            for slot in self.layout.slots:
                if not slot.hidden:
                    found[self._key(slot)].append(slot)
            apart = [tuple(found[key]) for key in self.keys]
            together = tuple(slot for key in self.unread for slot in found[key])
            self._slots = [together, *apart] if self.unread else apart
            self._known = len(self.layout.slots)
        return self._slots

    def _key(self, slot: Slot) -> Key:
        path = slot.path
        key = (str(path[0]), str(path[2])) if len(path) > 2 else _REST
        key = RUNS if key[1] == RUNS[1] else key
        return key if key in self.keys else _REST

    def sizes(self, without: Iterable[float]) -> tuple[Without, ...]:
        """Return what is known of each group."""
        names = [*([self.unread] if self.unread else []), *((key,) for key in self.keys)]
        found = [
            Without(keys, _values(slots), size)
            for keys, slots, size in zip(names, self.slots, without, strict=True)
        ]
        return tuple(one for one in found if one.values and one.keys != (_REST,))


def _values(slots: Iterable[Slot]) -> int:
    """Return how many values an instance's field has had; of a set with slots, its elements."""
    found: Counter[Path] = Counter()
    for slot in slots:
        found[slot.path[:3]] += len(slot.values) - 1
    return max(found.values(), default=0)


def exactly(rows: Collection[Sequence[int]], groups: Groups) -> tuple[Without, ...]:
    """Return how many of some states there would be without each group, from all of them."""
    layout = groups.layout
    slots = [slot.contributions for slot in layout.slots]
    whole = [sum(held[id] for held, id in zip(slots, row, strict=False)) for row in rows]
    found = []
    for group in groups.slots:
        own = [(slot.id, slot.contributions) for slot in group]
        seen = {
            total - sum([held[row[at]] for at, held in own if at < len(row)]) & layout.mask
            for total, row in zip(whole, rows, strict=True)
        }
        found.append(float(len(seen)))
    return groups.sizes(found)


def estimate(counts: Sequence[int]) -> float:
    """Return how many different hashes a sketch was given, by how many of its registers hold each
    number; the standard error is 1.04 by the root of the registers.

    Source: Ertl, New cardinality estimation algorithms for HyperLogLog sketches, 2017, algorithm 6
    """
    cells, last = sum(counts), len(counts) - 1
    z = cells * _tau(1 - counts[last] / cells)
    for count in reversed(counts[1:last]):
        z = 0.5 * (z + count)
    z += cells * _sigma(counts[0] / cells)
    return cells / (2 * log(2)) * cells / z


def _sigma(x: float) -> float:
    if x == 1:
        return inf
    y, z, before = 1.0, x, -1.0
    while z != before:
        x, before = x * x, z
        z, y = z + x * y, y + y
    return z


def _tau(x: float) -> float:
    if x in (0, 1):
        return 0.0
    y, z, before = 1.0, 1 - x, -1.0
    while z != before:
        x, before, y = sqrt(x), z, 0.5 * y
        z -= (1 - x) ** 2 * y
    return z / 3
