"""Symmetry in the native search: candidates get the fingerprints of their orbits.

Kernels walk real states and lead to real states; what is canonical is only what tells states apart.
So traces are real, and the bits that say which actions may be enabled hold as they are. Between
walking and inserting, each candidate's state is built, its fingerprint replaced by that of its
orbit, and the candidates are put in their order again. What a value says of the members is worked
out in Python once per value, as everything is learned here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from statewalk.checker.engines.layout import Layout, Slot
from statewalk.checker.native.kernels import orbit_kernels
from statewalk.checker.native.kernels.arrays import (
    DONE,
    POSITION_SHIFT,
    SCRATCH_FULL,
    Array,
    Outcomes,
    Rows,
)
from statewalk.checker.native.kernels.orbit_arrays import HIDDEN, OrbitTables, make_orbit_scratch
from statewalk.checker.native.learn.memo import Growing, Memo
from statewalk.checker.native.state import NativeSearch
from statewalk.checker.native.workers import Worker
from statewalk.checker.symmetry.breaking import STATES, Sample
from statewalk.checker.symmetry.facts import APART, LANES, SELF, Fact, Lanes, Slice
from statewalk.dsl.errors import EngineError

_FACTS = 64  # that relate members, in a state: room to begin with
LOOKED_AT = STATES  # states of each level that are tried out
_MOST_MEASURED = 170  # members: the largest factorial that is a float


class _Runs:
    """Runs of values: one after the other, each with its start and length."""

    def __init__(self, dtype: Any, columns: int = 0) -> None:
        self.start, self.count = Growing(np.int64), Growing(np.int32)
        self.data = Growing(dtype, columns)

    def append(self, values: Sequence[Any]) -> int:
        """Append a run; its number."""
        first = self.data.extend(len(values))
        for at, value in enumerate(values, first):
            self.data.data[at] = value
        self.start.append(first)
        return self.count.append(len(values))


class LearnedOrbits:
    """The facts about members that values give, in the arrays of
    `checker.native.kernels.orbit_arrays`.
    """

    def __init__(self, layout: Layout) -> None:
        assert layout.colouring is not None
        self.layout = layout
        self.colouring = layout.colouring
        self.lanes = 2 if layout.fingerprints.bits == 128 else 1
        self._known: list[int] = []  # per slot: values that are in the arrays
        self._numbers: dict[int, int] = {}  # facts: place in the arrays by number
        self._entry = Memo()
        self._rest = Growing(np.uint64, self.lanes)
        self._single, self._sums = _Runs(np.int32), Growing(np.uint64, self.lanes)
        self._facts = _Runs(np.int32)
        self._members, self._ordered = _Runs(np.int32), Growing(np.uint8)
        self._node_start, self._node_count = Growing(np.int64), Growing(np.int32)
        self._digest, self._arguments = Growing(np.uint64, self.lanes), _Runs(np.int32)
        facts = self.colouring.facts
        self._cell = np.array([cell + 1 for cell in facts.cell], np.uint64)
        self._always = np.array(self.colouring.base[: self.lanes], np.uint64)
        self._constants = np.array([LANES, SELF, APART], np.uint64)

    def refresh(self) -> None:
        """Take in the values that are new since the last time."""
        for slot in self.layout.slots:
            if slot.id == len(self._known):
                self._known.append(1)  # the absent value says nothing and is never asked for
                self._entry.add()
                if slot.hidden:
                    self._entry.capacity.data[slot.id] = HIDDEN
            if not slot.hidden and self._known[slot.id] < len(slot.values):
                self._learn(slot)

    def _learn(self, slot: Slot) -> None:
        for id in range(self._known[slot.id], len(slot.values)):
            found = self.colouring.facts.slice(slot.path, slot.values[id], self.layout.fingerprints)
            self._entry.put(slot.id, id, self._add(found) + 1)
        self._known[slot.id] = len(slot.values)

    def _add(self, found: Slice) -> int:
        self._single.append([member for member, _ in found.single])
        for _, lanes in found.single:
            self._sums.append(self._words(lanes))
        self._facts.append([self._number(fact) for fact in found.facts])
        return self._rest.append(self._words(found.rest))

    def _number(self, fact: Fact) -> int:
        known = self._numbers.get(fact.number)
        if known is None:
            self._node_start.append(self._ordered.used)
            self._node_count.append(len(fact.nodes))
            for node in fact.nodes:
                self._ordered.append(node.ordered)
                self._digest.append(self._words(node.digest))
                self._arguments.append(node.arguments)
            known = self._numbers[fact.number] = self._members.append(fact.members)
        return known

    def _words(self, lanes: Lanes) -> Array:
        return np.array(lanes[: self.lanes], np.uint64)

    def tables(self) -> OrbitTables:
        """Return the arrays as they are now."""
        return OrbitTables(
            base=self._entry.base.data,
            capacity=self._entry.capacity.data,
            entry=self._entry.results.data,
            rest=self._rest.data,
            single_start=self._single.start.data,
            single_count=self._single.count.data,
            single_member=self._single.data.data,
            single_sum=self._sums.data,
            facts_start=self._facts.start.data,
            facts_count=self._facts.count.data,
            fact=self._facts.data.data,
            node_start=self._node_start.data,
            node_count=self._node_count.data,
            member_start=self._members.start.data,
            member_count=self._members.count.data,
            member=self._members.data.data,
            ordered=self._ordered.data,
            digest=self._digest.data,
            argument_start=self._arguments.start.data,
            argument_count=self._arguments.count.data,
            argument=self._arguments.data.data,
            cell=self._cell,
            always=self._always,
            constants=self._constants,
        )


# -- by what was learned: in threads, and in processes that know nothing else ---------------------


def names(
    tables: OrbitTables, slots: int, rows: Rows, links: Array, outcome: Array, outcomes: Outcomes
) -> tuple[Array, Array]:
    """Return fingerprints of the states that links lead to, and how many permutations fix each."""
    lanes, n_facts = tables.rest.shape[1], _FACTS
    fps = np.empty((len(links), lanes), np.uint64)
    fixes = np.empty(len(links), np.float64)
    progress = np.zeros(1, np.int64)
    rest = np.zeros(lanes, np.uint64)
    most_nodes = max(1, int(tables.node_count.max()))
    while True:
        scratch = make_orbit_scratch(slots, n_facts, most_nodes, len(tables.cell), lanes)
        status = orbit_kernels.orbits(
            rows.values, links, outcome, outcomes, tables, scratch, rest, fps, fixes, progress
        )
        if status == DONE:
            return fps, fixes
        if status != SCRATCH_FULL:
            raise EngineError("SW314", "A state holds a value that was never taken apart.")
        n_facts *= 2


def replace(
    tables: OrbitTables, slots: int, worker: Worker, rows: Rows, outcomes: Outcomes, shift: int
) -> None:
    """Give a worker's candidates the fingerprints of their orbits, in canonical order."""
    batch = worker.batch
    used = [(partition, int(n)) for partition, n in enumerate(batch.used.tolist()) if n]
    if not used:
        return
    links = np.concatenate([batch.link[partition, :n] for partition, n in used])
    outcome = np.concatenate([batch.outcome[partition, :n] for partition, n in used])
    order = np.argsort(links, kind="stable")
    links, outcome = links[order], outcome[order]
    fps, _ = names(tables, slots, rows, links, outcome, outcomes)
    orbit_kernels.spread(batch, fps, links, outcome, shift)
    worker.retried = False  # they are in order now


def permutations(tables: OrbitTables, slots: int, rows: Rows, outcomes: Outcomes) -> dict[int, int]:
    """Return how many states are fixed by how many permutations; nothing for too many members.

    Rounded where the size of the group is not exact as a float (a class of 23 members).
    """
    if len(tables.cell) > _MOST_MEASURED:
        return {}
    n = len(rows.values)
    links = np.arange(n, dtype=np.int64) << POSITION_SHIFT
    _, fixes = names(tables, slots, rows, links, np.full(n, -1, np.int32), outcomes)
    sizes, times = np.unique(fixes, return_counts=True)
    return {round(size): int(n) for size, n in zip(sizes.tolist(), times.tolist(), strict=True)}


def orbits_of(search: NativeSearch) -> Orbits | None:
    """Return what names the orbits of a search, where they are searched."""
    symmetry = search.layout.symmetry
    return Orbits(search.layout, Sample(symmetry, search.options)) if symmetry else None


class Orbits:
    """Fingerprints of orbits for one search."""

    def __init__(self, layout: Layout, sample: Sample) -> None:
        assert layout.symmetry is not None
        self.sample = sample
        self.learned = LearnedOrbits(layout)
        self.order = layout.symmetry.order
        self._layout = layout

    def tables(self) -> OrbitTables:
        """Return what every value that there is by now says of members."""
        self.learned.refresh()
        return self.learned.tables()

    def replace_all(self, search: NativeSearch, workers: list[Worker]) -> None:
        """Give the workers' candidates the fingerprints of their orbits, in canonical order."""
        tables, slots, rows = self.tables(), len(self._layout.slots), search.level.rows
        outcomes, shift = search.learner.learned.outcomes(), search.seen.shift
        search.workers.in_threads(
            [partial(replace, tables, slots, w, rows, outcomes, shift) for w in workers]
        )

    def look(self, depth: int, rows: Array) -> None:
        """Try exchanges on the first states of a level. Raises SpecError[SW209]."""
        if self.sample.wants(depth):
            first = rows[:STATES].tolist()
            self.sample.look(depth, [self._layout.state(row) for row in first])

    def measure(self, rows: Rows, outcomes: Outcomes) -> int:
        """Return the sizes of the orbits of a level's states, added up; 0 where there are too
        many.
        """
        found = permutations(self.tables(), len(self._layout.slots), rows, outcomes)
        return self.sizes(found)

    def sizes(self, found: Mapping[int, int]) -> int:
        """Return the sizes of orbits, added up, by how many permutations fix how many states."""
        return sum(self.order // size * count for size, count in found.items())
