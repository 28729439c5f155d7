"""From the new states of a level to the next one: what was found twice is left out, and what was
seen before; the rest is checked and written, by slices of all fingerprints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np

from statewalk.checker.disk.runs import END, SortedRun, States, bounds, ordered
from statewalk.checker.native.kernels import tables
from statewalk.checker.native.kernels.arrays import Array
from statewalk.checker.native.states import Level, Partition, Shape


class Source(Protocol):
    """New states in the order of their fingerprints."""

    def position(self, fp: int) -> int:
        """Return the number of states with a lesser fingerprint."""
        ...

    def fingerprints(self, first: int, end: int) -> tuple[Array, Array]:
        """Some of the fingerprints, in two words."""
        ...

    def pick(self, first: int, end: int, chosen: Array, shape: Shape) -> Level:
        """Some of the states from ``first`` to ``end``, by their positions behind ``first``."""
        ...


@dataclass
class Written:
    """New states that were written, as there was no room for them."""

    states: States

    def position(self, fp: int) -> int:
        """See `Source`."""
        return self.states.run.position(fp)

    def fingerprints(self, first: int, end: int) -> tuple[Array, Array]:
        """See `Source`."""
        return self.states.run.read(first, end)

    def pick(self, first: int, end: int, chosen: Array, shape: Shape) -> Level:
        """See `Source`."""
        return self.states.read(first, end, shape).kept(chosen)


@dataclass
class Held:
    """New states in the segment of a partition."""

    partition: Partition

    @cached_property
    def order(self) -> Array:
        """The places of the states in the segment, by fingerprint."""
        return self.partition.order()

    @cached_property
    def fps(self) -> Array:
        """The first words of the fingerprints."""
        return self.partition.segment.fp[self.order]

    def position(self, fp: int) -> int:
        """See `Source`."""
        return len(self.fps) if fp >= END else int(np.searchsorted(self.fps, np.uint64(fp)))

    def fingerprints(self, first: int, end: int) -> tuple[Array, Array]:
        """See `Source`."""
        low = self.partition.segment.low
        return self.fps[first:end], low[self.order[first:end]] if len(low) else low

    def pick(self, first: int, end: int, chosen: Array, shape: Shape) -> Level:
        """See `Source`."""
        level = Level(shape.rows(len(chosen)), np.empty(len(chosen), np.int64))
        order = self.order[first:end][chosen]
        tables.gather(self.partition.segment, order, level.rows, level.link, 0)
        return level

    def clear(self) -> None:
        """Forget the states, the order too."""
        self.__dict__.pop("order", None)
        self.__dict__.pop("fps", None)
        self.partition.clear()


@dataclass
class Merging:
    """One level's new states, sorted out. ``written`` come first: they were found first."""

    written: Sequence[States]
    partitions: Sequence[Partition]
    shift: int  # how far to shift a fingerprint to get the partition
    seen: Sequence[SortedRun]
    shape: Shape
    most: int  # states that are looked at together
    held: list[Held] = field(init=False)

    def __post_init__(self) -> None:
        """Begin with what is held."""
        self.held = [Held(partition) for partition in self.partitions]

    def slices(self) -> Iterator[Level]:
        """Yield the states that are new, a slice of fingerprints after the other; each is
        held by this as long as it is looked at. Raises `Damaged`.
        """
        sources: list[Source] = [Written(states) for states in self.written]
        at, begun = [0] * len(sources), 0
        for first, last, bound in self._cuts():
            ends = [source.position(bound) for source in sources]
            parts = [*zip(sources, at, ends, strict=True)]
            here = self.held[first : last + 1]
            parts += [(held, held.position(begun), held.position(bound)) for held in here]
            yield self._new([part for part in parts if part[1] < part[2]])
            at, begun = ends, bound
            if bound >= min(END, (last + 1) << self.shift):
                for held in here:
                    held.clear()

    def _cuts(self) -> Iterator[tuple[int, int, int]]:
        """Slices as (first partition, last one, the fingerprint where it ends): several partitions
        where few states are in them, a part of one where many are.
        """
        edges = [[source.position(p << self.shift) for p in range(len(self.held) + 1)]
                 for source in map(Written, self.written)]  # fmt: skip
        sizes = [
            held.partition.n + sum(edge[p + 1] - edge[p] for edge in edges)
            for p, held in enumerate(self.held)
        ]
        first = total = 0
        for last, size in enumerate(sizes):
            if total and total + size > self.most:
                yield first, last - 1, last << self.shift
                first, total = last, 0
            total += size
            if total > self.most:
                start = last << self.shift
                for cut in bounds(total, self.most)[1:]:
                    yield last, last, start + (cut * (1 << self.shift) >> 64)
                first, total = last + 1, 0
        if first < len(sizes):
            yield first, len(sizes) - 1, END

    def _new(self, parts: list[tuple[Source, int, int]]) -> Level:
        """Return the states of a slice that are new, each by its first way."""
        if not parts:
            return Level(self.shape.rows(0), np.zeros(0, np.int64))
        words = [source.fingerprints(first, end) for source, first, end in parts]
        fps, lows = (np.concatenate(word) for word in zip(*words, strict=True))
        order = ordered(fps, lows) if len(parts) > 1 else np.arange(len(fps))
        fps, lows = fps[order], lows[order] if len(lows) else lows
        known = np.zeros(len(fps), np.bool_)
        for run in self.seen:
            run.mark(fps, lows, known)
        new = order[~known]
        ends = np.cumsum([0, *(end - first for _, first, end in parts)])
        if len(parts) == 1:
            source, first, end = parts[0]
            return source.pick(first, end, new, self.shape)
        found = Level(self.shape.rows(len(new)), np.empty(len(new), np.int64))
        for (source, first, end), (begin, stop) in zip(parts, pairwise(ends.tolist()), strict=True):
            to = np.flatnonzero((new >= begin) & (new < stop))
            _put(found, to, source.pick(first, end, new[to] - begin, self.shape))
        return found


def _put(level: Level, to: Array, part: Level) -> None:
    """Write states to some places of a level."""
    level.link[to] = part.link
    for target, source in zip(level.rows, part.rows, strict=True):
        if len(target):
            target[to] = source


def in_order(held: Held, most: int, shape: Shape) -> Iterator[Level]:
    """Yield the states of a segment in the order of their fingerprints, so many at a time."""
    n = held.partition.n
    for first in range(0, n, most):
        end = min(n, first + most)
        yield held.pick(first, end, np.arange(end - first), shape)
