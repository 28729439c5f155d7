"""Sketches of the states there would be without each field, filled while a search finds states."""

from __future__ import annotations

from functools import partial

import numpy as np

from statewalk.checker.contract.search import Without
from statewalk.checker.engines.fields import Groups, estimate
from statewalk.checker.native.kernels.arrays import Array, Rows
from statewalk.checker.native.kernels.sketches import BLOCK, CELL_BITS, CELLS, note
from statewalk.checker.native.state import NativeSearch

_MANY = 1 << 14  # states of a level that are worth a thread
_WORD = (1 << 64) - 1
_RANKS = 64 - CELL_BITS + 2  # a register holds less than this


def fields_of(search: NativeSearch) -> Fields | None:
    """Return the sketches that a search fills; None where there is nothing to fill, and for orbits,
    whose fingerprints are no sums.
    """
    fields = Fields(search) if search.layout.symmetry is None else None
    return fields if fields is not None and fields.groups.keys else None


class Fields:
    """The sketches of a search, in which ``noted`` states are. Each thread has its own, (groups,
    `CELLS`) uint8.
    """

    def __init__(self, search: NativeSearch) -> None:
        self.search = search
        self.groups = Groups(search.model, search.layout, search.options.every_field)
        self.noted = 0
        together = bool(self.groups.unread)
        self._apart = int(together) if self.groups.every else together + len(self.groups.keys)
        self._sketches: list[Array] = []

    def note(self, rows: Rows) -> None:
        """Note states that are new."""
        search, n = self.search, len(rows.fp)
        held = search.learner.learned.outcomes()
        slots, starts, places = self._order(rows.values.shape[1])
        wide = search.shape.wide
        fps = rows.low if wide else rows.fp
        contribution = held.contribution_low if wide else held.contribution
        base = np.uint64(search.layout.base & _WORD)
        parts = max(1, min(search.options.threads, n // _MANY))
        shape = len(self.groups.slots), CELLS
        while len(self._sketches) < parts:
            self._sketches.append(np.zeros(shape, np.uint8))
        cuts = [n * part // parts for part in range(parts + 1)]
        search.workers.in_threads([
            partial(
                note, rows.values[first:end], fps[first:end], slots, held.contribution_base[slots],
                starts, places, self._apart, base, contribution, sketch,
                np.zeros((2, BLOCK), np.uint64),
            )
            for first, end, sketch in zip(cuts, cuts[1:], self._sketches, strict=False)
        ])  # fmt: skip
        self.noted += n

    def _order(self, width: int) -> tuple[Array, Array, Array]:
        """Return the slots that rows have, by group; where those of a group begin; and which group
        that is. Of those that make up the row the largest is last.
        """
        held = [[slot.id for slot in group if slot.id < width] for group in self.groups.slots]
        rest = sorted(range(self._apart, len(held)), key=lambda group: len(held[group]))
        places = [*range(self._apart), *rest]
        slots = [id for group in places for id in held[group]]
        starts = np.cumsum([0, *(len(held[group]) for group in places)])
        return np.array(slots, np.int64), starts.astype(np.int64), np.array(places, np.int64)

    def sizes(self) -> tuple[Without, ...]:
        """Return what the sketches tell; nothing where not all states of the search are in them."""
        if not self.noted or self.noted != self.search.distinct:
            return ()
        whole = np.maximum.reduce(self._sketches)
        counts = [np.bincount(registers, minlength=_RANKS).tolist() for registers in whole]
        return self.groups.sizes(map(estimate, counts))
