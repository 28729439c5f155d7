"""The storage of states: the seen table in partitions, the rows of the frontier, the links."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from statewalk.checker.native import memory
from statewalk.checker.native.kernels import runs, tables
from statewalk.checker.native.kernels.arrays import (
    DONE,
    POSITION_SHIFT,
    TABLE_FULL,
    Array,
    Batch,
    Outcomes,
    Rows,
    Segment,
)

_FIRST_TABLE = 1 << 8
_SMALL_TABLE = 1 << 16
_FIRST_SEGMENT = 64
_SURE = 0.3  # of a segment: what will be filled in all probability


def ids_type(widest: int) -> Any:
    """Return the type of value ids below a number."""
    for kind in (np.uint8, np.uint16):
        if widest <= np.iinfo(kind).max + 1:
            return np.dtype(kind)
    return np.dtype(np.uint32)


@dataclass
class Shape:
    """The shape of rows: slots, type of value ids, words of root bits, wide or not."""

    width: int
    dtype: Any
    words: int
    wide: bool

    @property
    def bytes(self) -> int:
        """Return what a state in a segment takes."""
        words = 2 + self.wide + self.words  # fingerprint, link; bits of roots
        return self.width * int(self.dtype.itemsize) + 8 * words

    def rows(self, n: int) -> Rows:
        """Return rows for n states, not filled in."""
        return self._rows(n, 1.0)

    def _rows(self, n: int, huge: float) -> Rows:
        return Rows(
            memory.array((n, self.width), self.dtype, huge),
            memory.array(n, np.uint64, huge),
            memory.array(n if self.wide else 0, np.uint64, huge),
            memory.array((n, self.words), np.uint64, huge),
        )

    def segment(self, n: int) -> Segment:
        """Return a segment for n states, not filled in; there may be less of them."""
        return Segment(*self._rows(n, _SURE), memory.array(n, np.int64, _SURE))


def _lines(size: int) -> Array:
    """So many empty cells, each eight of them in one line of the processor's cache."""
    cells = memory.array(size + 8, np.uint64)
    first = -cells.ctypes.data % 64 // 8
    return cells[first : first + size]


def in_order(fps: Array, lows: Array) -> Array:
    """Return the positions of fingerprints in ascending order; their second words may be none."""
    n = len(fps)
    if n < 2:
        return np.arange(n)
    lowest, most = int(fps.min()), int(fps.max())
    shift = max(0, (most - lowest).bit_length() - (n - 1).bit_length())
    ends, positions = np.empty((most - lowest >> shift) + 1, np.int64), np.empty(n, np.int64)
    at = np.uint64(lowest), np.uint64(shift)
    if not runs.order(fps, lows, *at, ends, np.empty(n, np.uint64), positions):
        positions = np.lexsort((lows, fps)) if len(lows) else np.argsort(fps)
    return positions


def _numbers(size: int) -> Array:
    """As many numbers, those of a line of cells in one line of the cache."""
    return _lines(size // 2).view(np.int32)


class Partition:
    """The states whose fingerprints begin with certain bits: those seen, and the new ones.

    The table grows at a load between 0.75 and 0.85 that differs between partitions, so that they do
    not all grow at once; only one partition exists twice while it is copied. By half, since it may
    be most of the memory; by more as long as it is small.
    """

    def __init__(self, number: int, of: int, shape: Shape) -> None:
        self.number = number
        self.table = _lines(_FIRST_TABLE)
        self.table_low = _lines(_FIRST_TABLE if shape.wide else 0)
        self.numbers = np.zeros(0, np.int32)  # by cell of the table, where states are numbered
        self.order_released: Array = np.zeros(0, np.int64)
        self.entries = 0
        self.load = 0.75 + 0.1 * number / of
        self.shape = shape
        self.segment = shape.segment(0)
        self.n = 0

    def number_states(self) -> None:
        """Number states as they enter the table, from 0 on. Nothing is forgotten then."""
        self.numbers = _numbers(len(self.table))

    def take(self, rows: Rows, outcomes: Outcomes, batch: Batch, fresh: Array, bits: int) -> None:
        """Insert a batch's candidates of this partition; new states go to the segment."""
        if not batch.used[self.number]:
            return
        if self.segment.values.shape[1] < self.shape.width or (
            self.segment.values.dtype != self.shape.dtype
        ):
            self._resize(max(_FIRST_SEGMENT, len(self.segment.fp)))
        progress = np.array([0, self.n, self.entries], np.int64)
        while True:
            status = tables.insert(
                rows, outcomes, batch, self.number, self.table, self.table_low,
                self.numbers, self._limit(), self.segment, progress, fresh, bits,
            )  # fmt: skip
            self.n, self.entries = int(progress[1]), int(progress[2])
            if status == DONE:
                return
            if status == TABLE_FULL:
                self._grow_table()
            else:
                self._resize(max(_FIRST_SEGMENT, 2 * self.n))

    def reserve(self, capacity: int) -> None:
        """Have room for so many new states, which costs nothing until they come."""
        if len(self.segment.fp) < capacity:
            self._resize(capacity)

    def prepare(self, capacity: int) -> None:
        """While it is empty: have room for so many states, in the table too."""
        self.reserve(capacity)
        size = int(capacity / self.load) // 8 * 8 + 8
        if not self.entries and len(self.table) < size:
            self.table, self.table_low = _lines(size), _lines(size * self.shape.wide)

    def _limit(self) -> int:
        return int(self.load * len(self.table))

    def _grow_table(self) -> None:
        old, old_low, old_numbers = self.table, self.table_low, self.numbers
        size = 4 * len(old) if len(old) < _SMALL_TABLE else len(old) // 16 * 24
        self.table, self.table_low = _lines(size), _lines(size if len(old_low) else 0)
        self.numbers = _numbers(size if len(old_numbers) else 0)
        tables.refill(self.table, self.table_low, self.numbers, old, old_low, old_numbers)

    def _resize(self, capacity: int) -> None:
        """A segment of another capacity or shape with the same states."""
        old, n = self.segment, self.n
        new = self.shape.segment(capacity)
        new.values[:n, : old.values.shape[1]] = old.values[:n]
        new.values[:n, old.values.shape[1] :] = 0
        new.fp[:n], new.quiet[:n], new.link[:n] = old.fp[:n], old.quiet[:n], old.link[:n]
        if self.shape.wide:
            new.low[:n] = old.low[:n]
        self.segment = new

    def enter(self, fps: Array, lows: Array) -> None:
        """Take states for seen that are in no segment."""
        while self.entries + len(fps) > self._limit():
            self._grow_table()
        tables.enter(self.table, self.table_low, self.numbers, self.entries, fps, lows)
        self.entries += len(fps)

    def forget(self, fps: Array, lows: Array) -> None:
        """Take states for not seen again."""
        tables.forget(self.table, self.table_low, fps, lows)
        self.entries -= len(fps)

    def has(self, fps: Array, lows: Array) -> Array:
        """Return which states are seen."""
        found = np.zeros(len(fps), np.bool_)
        tables.find(self.table, self.table_low, fps, lows, found)
        return found

    @property
    def seen(self) -> Array:
        """The fingerprints seen (their first words); 0 and 1 are one to the table, so both."""
        found = self.table[self.table != 0]
        return np.append(found, np.uint64(0)) if (found == 1).any() else found

    def seen_words(self) -> tuple[Array, Array]:
        """Return the fingerprints seen, in two words; 0 and 1 are one to the table, so both."""
        if not self.shape.wide:
            return self.seen, self.table_low
        there = self.table != 0
        fps, lows = self.table[there], self.table_low[there]
        again = lows[fps == 1]
        return np.append(fps, np.zeros(len(again), np.uint64)), np.append(lows, again)

    def order(self) -> Array:
        """Return the places of the new states in the segment, in the order of their
        fingerprints.
        """
        return in_order(self.segment.fp[: self.n], self.segment.low[: self.n])

    def clear(self) -> None:
        """Forget the new states; all that the table holds are these."""
        if 8 * self.n < len(self.table):
            self.forget(self.segment.fp[: self.n], self.segment.low[: self.n])
        else:
            self.table.fill(0)
        self.entries = self.n = 0
        self.segment = self.shape.segment(0)

    def release(self, rows: Rows, link: Array, first: int) -> None:
        """Move the segment's states to a level, in the order of their fingerprints."""
        if self.n:
            order = self.order()
            tables.gather(self.segment, order, rows, link, first)
            if len(self.numbers):
                self.order_released = order
        self.segment = self.shape.segment(0)
        self.n = 0

    @property
    def bytes(self) -> int:
        """Memory held for the seen table."""
        return self.table.nbytes + self.table_low.nbytes


@dataclass
class Level:
    """One level's states in the order of their fingerprints, and how each was reached."""

    rows: Rows
    # (N,) int64; at level 0 the index of the initial state; -1 where `Search.links` has them packed
    link: Array

    @property
    def n(self) -> int:
        """Number of states."""
        return len(self.link)

    def key(self, position: int) -> tuple[int, int]:
        """Return the fingerprint of a state, in two words; the second is 0 where there is one."""
        low = int(self.rows.low[position]) if len(self.rows.low) else 0
        return int(self.rows.fp[position]), low

    def kept(self, mask: Array) -> Level:
        """Return the level without the states for which the mask is false; or those at some
        positions.
        """
        low = self.rows.low[mask] if len(self.rows.low) else self.rows.low
        rows = Rows(self.rows.values[mask], self.rows.fp[mask], low, self.rows.quiet[mask])
        return Level(rows, self.link[mask])


@dataclass
class Seen:
    """All partitions; the high bits of a fingerprint tell which."""

    shape: Shape
    partition_bits: int
    partitions: list[Partition] = field(init=False)

    def __post_init__(self) -> None:
        """Make the partitions, empty."""
        n = 1 << self.partition_bits
        self.partitions = [Partition(number, n, self.shape) for number in range(n)]

    @property
    def shift(self) -> int:
        """Return how far to shift a fingerprint to get the partition."""
        return 64 - self.partition_bits

    @property
    def n_new(self) -> int:
        """States in segments."""
        return sum(p.n for p in self.partitions)

    @property
    def bytes(self) -> int:
        """Memory held for the tables."""
        return sum(p.bytes for p in self.partitions)

    def next_level(self, in_threads: Callable[[list[Callable[[], object]]], None]) -> Level:
        """Return the new states as a level; the segments are empty afterwards."""
        n = self.n_new
        rows = self.shape.rows(n)
        link = memory.array(n, np.int64)
        starts = np.cumsum([0, *(partition.n for partition in self.partitions)]).tolist()
        tasks: list[Callable[[], object]] = [
            partial(partition.release, rows, link, starts[partition.number])
            for partition in self.partitions
            if partition.n
        ]
        in_threads(tasks)
        return Level(rows, link)

    def enter(self, fps: Array, lows: Array) -> None:
        """Take states for seen."""
        for partition, _, own in self._split(fps, lows):
            partition.enter(*own)

    def forget(self, fps: Array, lows: Array) -> None:
        """Take states for not seen again."""
        for partition, _, own in self._split(fps, lows):
            partition.forget(*own)

    def has(self, fps: Array, lows: Array) -> Array:
        """Return which states are seen."""
        found = np.zeros(len(fps), np.bool_)
        for partition, chosen, own in self._split(fps, lows):
            found[chosen] = partition.has(*own)
        return found

    def number_states(self) -> None:
        """Number the states of each partition; see `Partition`. Before any is there."""
        for partition in self.partitions:
            partition.number_states()

    def _split(
        self, fps: Array, lows: Array
    ) -> Iterator[tuple[Partition, Array, tuple[Array, Array]]]:
        """Yield partitions with which of some fingerprints are theirs, and those."""
        which = (fps >> np.uint64(self.shift)).astype(np.int64)
        for number in np.unique(which).tolist():
            chosen = which == number
            own = fps[chosen], lows[chosen] if self.shape.wide else lows
            yield self.partitions[number], chosen, own


def unpack(link: int, ordinal_bits: int) -> tuple[int, int, int]:
    """Return a link's (position of the parent, action index, ordinal)."""
    rest = link & ((1 << POSITION_SHIFT) - 1)
    return link >> POSITION_SHIFT, rest >> ordinal_bits, rest & ((1 << ordinal_bits) - 1)
