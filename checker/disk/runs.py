"""Runs: fingerprints in files, each once and in ascending order, and states in that order."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np

from statewalk.checker.contract.saved import COLUMN
from statewalk.checker.native.kernels.arrays import Array, Rows
from statewalk.checker.native.kernels.runs import mark
from statewalk.checker.native.manifests import Damaged, damaged, why_unread
from statewalk.checker.native.states import Level, Shape
from statewalk.dsl.files import opened

STEP = 1 << 12  # fingerprints between two that are kept in memory
END = 1 << 64
_GAP = 4  # steps that are read although nothing in them is asked for
_TOGETHER = 1 << 8  # steps that are read together
_MANY = 6  # runs until some of them are made one
_MERGED = 1 << 19  # fingerprints that are merged together


@dataclass
class SortedRun:
    """Fingerprints in ascending order; ``index`` has each `STEP`-th of their first words."""

    fp: Column
    low: Column | None
    index: list[Array] = field(default_factory=list)
    _table: Array | None = None

    @property
    def n(self) -> int:
        """Return how many fingerprints."""
        return self.fp.n

    @property
    def columns(self) -> list[Column]:
        """The files."""
        return [self.fp, *([self.low] if self.low is not None else [])]

    def append(self, fps: Array, lows: Array) -> None:
        """Write more, greater than those before. Raises OSError."""
        first = -self.fp.n % STEP
        self.index.append(fps[first::STEP].copy())
        self._table = None
        self.fp.append(fps)
        if self.low is not None:
            self.low.append(lows)

    def read(self, first: int, end: int) -> tuple[Array, Array]:
        """Return some fingerprints, in two words. Raises `Damaged`."""
        low = self.low.read(first, end) if self.low is not None else np.zeros(0, np.uint64)
        return self.fp.read(first, end), low

    @property
    def steps(self) -> Array:
        """Each `STEP`-th fingerprint."""
        if self._table is None:
            if not self.index:  # found again
                ends = range(0, self.n, STEP)
                self.index = [self.fp.read(at, at + 1) for at in ends]
            self._table = np.concatenate(self.index) if self.index else np.zeros(0, np.uint64)
            self.index = [self._table]
        return self._table

    def position(self, fp: int) -> int:
        """Return how many fingerprints have a lesser first word."""
        if fp >= END or not self.n:
            return self.n
        step = int(np.searchsorted(self.steps, np.uint64(fp))) - 1
        if step < 0:
            return 0
        first = step * STEP
        near = self.fp.read(first, min(first + STEP, self.n))
        return first + int(np.searchsorted(near, np.uint64(fp)))

    def mark(self, fps: Array, lows: Array, found: Array) -> None:
        """Set ``found`` where one of some fingerprints, ascending ones, is in this run.

        Reads only what is near them: many are looked up as cheaply as few.
        """
        if not self.n or not len(fps):
            return
        near = [np.searchsorted(self.steps, fps, side) for side in ("left", "right")]
        wanted = np.unique(np.maximum(np.concatenate(near).astype(np.int64) - 1, 0))
        for first, last in _stretches(wanted):
            end = min((last + 1) * STEP, self.n)
            run, run_low = self.read(first * STEP, end)
            here = slice(
                int(np.searchsorted(fps, run[0])), int(np.searchsorted(fps, run[-1], "right"))
            )
            mark(fps[here], lows[here], run, run_low, found[here])


def _stretches(steps: Array) -> Iterator[tuple[int, int]]:
    """Yield the first and last of steps that are read together."""
    apart = np.flatnonzero(np.diff(steps) > _GAP) + 1
    for part in np.split(steps, apart):
        first, last = int(part[0]), int(part[-1])
        for at in range(first, last + 1, _TOGETHER):
            yield at, min(at + _TOGETHER - 1, last)


def new_run(folder: Path, name: str, wide: bool, durable: bool) -> SortedRun:
    """Return a run without fingerprints."""
    low = Column(folder / f"{name}.low{COLUMN}", np.uint64, durable=durable) if wide else None
    return SortedRun(Column(folder / f"{name}.fp{COLUMN}", np.uint64, durable=durable), low)


# -- several runs ----------------------------------------------------------------------------------


def bounds(n: int, most: int) -> list[int]:
    """Return fingerprints that cut n of them, evenly spread, into parts of so many at most."""
    parts = max(1, -(-n // max(1, most)))
    return [END * at // parts for at in range(parts + 1)]


def ordered(fps: Array, lows: Array) -> Array:
    """Return the positions of fingerprints in ascending order: of equal ones the first, alone.

    Made of some that ascend one after the other, which takes little time.
    """
    wide = len(lows) > 0
    order = np.lexsort((lows, fps)) if wide else np.argsort(fps, kind="stable")
    there = fps[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = there[1:] != there[:-1]
    if wide:
        seconds = lows[order]
        new[1:] |= seconds[1:] != seconds[:-1]
    return order if new.all() else order[new]


def merge(runs: Sequence[SortedRun], into: SortedRun) -> None:
    """Write runs, which have nothing in common, as one. Raises OSError, `Damaged`."""
    cuts = bounds(sum(run.n for run in runs), _MERGED)
    at = [0] * len(runs)
    for bound in cuts[1:]:
        ends = [run.position(bound) for run in runs]
        parts = [run.read(a, b) for run, a, b in zip(runs, at, ends, strict=True)]
        fps, lows = (np.concatenate(words) for words in zip(*parts, strict=True))
        order = ordered(fps, lows)
        into.append(fps[order], lows[order] if len(lows) else lows)
        at = ends


def first_to_merge(sizes: Sequence[int]) -> int:
    """From which run on they are to be made one; the last ones, while sizes are alike.

    So each fingerprint is written again a few times at most, however many levels there are.
    """
    if len(sizes) < _MANY:
        return len(sizes)
    first, total = len(sizes), 0
    while first and (total == 0 or sizes[first - 1] <= 2 * total or len(sizes) - first < 3):
        first -= 1
        total += sizes[first]
    return first


# -- states ----------------------------------------------------------------------------------------


@dataclass
class States:
    """States in files, in the order of their fingerprints: a level, or new ones of a level.

    The links are those of a column from ``first`` on; without ``quiet`` every root must be looked
    at.
    """

    run: SortedRun
    link: Column
    values: Column
    quiet: Column | None
    first: int = 0

    @property
    def n(self) -> int:
        """Return how many states."""
        return self.values.n

    def append(self, level: Level, links: bool = True) -> None:
        """Write more, behind those before. Raises OSError."""
        rows = level.rows
        self.run.append(rows.fp, rows.low)
        if links:
            self.link.append(level.link)
        self.values.append(rows.values)
        if self.quiet is not None:
            self.quiet.append(rows.quiet)

    def read(self, first: int, end: int, shape: Shape, links: bool = True) -> Level:
        """Return some of the states, in the shape that rows have by now. Raises `Damaged`."""
        n = end - first
        values = self.values.read(first, end)
        if values.dtype != shape.dtype or values.shape[1] < shape.width:
            wider = np.zeros((n, max(shape.width, values.shape[1])), shape.dtype)
            wider[:, : values.shape[1]] = values
            values = wider
        quiet = np.full((n, shape.words), END - 1, np.uint64)
        if self.quiet is not None:
            quiet = self.quiet.read(first, end)
        link = np.zeros(n, np.int64)
        if links:
            link = self.link.read(self.first + first, self.first + end)
        return Level(Rows(values, *self.run.read(first, end), quiet), link)

    @property
    def own(self) -> list[Column]:
        """The files that are needed to expand the states, and for nothing else."""
        return [self.values, *([self.quiet] if self.quiet is not None else [])]


def new_states(folder: Path, name: str, shape: Shape, run: SortedRun, link: Column) -> States:
    """No states yet, whose rows will have a shape."""
    return States(
        run,
        link,
        Column(folder / f"{name}.values{COLUMN}", shape.dtype, shape.width, run.fp.durable),
        Column(folder / f"{name}.quiet{COLUMN}", np.uint64, shape.words),
        link.n,
    )


_PIECE = 1 << 22  # bytes that are looked at together
_MOST = 1 << 48  # numbers in a file
SavedColumn = tuple[str, str, int | None, int, int]
"""A file's name, the type and width of its numbers, how many there are, and their CRC-32."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


@dataclass
class Column:
    """``n`` numbers of one type, or rows of ``width`` of them; like an array as far as single
    positions are asked for. Only what is ``durable`` has a CRC-32.
    """

    path: Path
    dtype: Any
    width: int | None = None
    durable: bool = False
    n: int = 0
    check: int = 0
    nbytes: int = 0  # held in memory

    def __post_init__(self) -> None:
        """Know the type as numpy does."""
        self.dtype = np.dtype(self.dtype)

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, position: int) -> int:
        try:
            return int(self.read(position, position + 1)[0])
        except Damaged as damage:
            raise damaged([str(damage)]) from None

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return self.n * self._each

    @property
    def _each(self) -> int:
        return int(self.dtype.itemsize) * (1 if self.width is None else self.width)

    def append(self, numbers: Array) -> None:
        """Write more at the end. Raises OSError."""
        if numbers.dtype != self.dtype or (self.width or 1) != numbers[:1].size != 0:
            raise TypeError(f"{self.path} cannot hold {numbers.shape} of {numbers.dtype}")
        data = np.ascontiguousarray(numbers, self.dtype).reshape(-1).view(np.uint8).data
        if not self.size:
            self.path.unlink(missing_ok=True)  # what is a link there is not written through
        how = 0 if self.size else os.O_CREAT | os.O_EXCL
        with FileIO(os.open(self.path, os.O_WRONLY | _NO_LINK | how, 0o666), "w") as file:
            file.seek(self.size)  # what lies behind was never saved
            if self.durable:
                self.check = zlib.crc32(data, self.check)
            while len(data):
                data = data[file.write(data) :]
        self.n += len(numbers)

    def sync(self) -> None:
        """Have everything on the disk. Raises OSError."""
        if self.size:
            with opened(self.path) as file:
                os.fsync(file.fileno())

    def read(self, first: int, end: int) -> Array:
        """Return some of the numbers. Raises `Damaged`."""
        found = np.empty(
            end - first if self.width is None else (end - first, self.width), self.dtype
        )
        rest = found.reshape(-1).view(np.uint8).data if found.size else memoryview(b"")
        if not len(rest):
            return found
        try:
            with opened(self.path) as file:
                file.seek(first * self._each)
                while len(rest):
                    got = file.readinto(rest)
                    if not got:
                        raise Damaged(f"{self.path} is shorter than {self.size} bytes")
                    rest = rest[got:]
        except OSError as error:
            raise Damaged(f"{self.path} {why_unread(error)}") from None
        return found

    def remove(self) -> None:
        """Take the file away."""
        with suppress(OSError):  # one more file does no harm
            self.path.unlink()

    # -- saved and found again ---------------------------------------------------------------------

    def saved(self) -> SavedColumn:
        """Return what is to know of the file."""
        return self.path.name, self.dtype.str, self.width, self.n, self.check


def found(folder: Path, about: SavedColumn, types: tuple[str, ...]) -> Column:
    """Return a column that was saved, not looked at.

    Raises ValueError for what is none of such types.
    """
    name, dtype, width, n, check = about
    numbers = all(0 <= number < _MOST for number in (n, check, width or 0))
    if name != Path(name).name or not name.endswith(COLUMN) or dtype not in types or not numbers:
        raise ValueError(f"{name} is no column")
    return Column(folder / name, dtype, width, True, n, check)


def look_at(path: Path, size: int, check_sum: int) -> None:
    """Read so much of a file byte by byte. Raises `Damaged` unless it has that CRC-32."""
    left, check = size, 0
    if not left:
        return
    try:
        with opened(path) as file:
            there = os.fstat(file.fileno()).st_size
            while left and (piece := file.read(min(left, _PIECE))):
                check, left = zlib.crc32(piece, check), left - len(piece)
    except OSError as error:
        raise Damaged(f"{path} {why_unread(error)}") from None
    if left:
        raise Damaged(f"{path} has {there} bytes instead of {size}")
    if check != check_sum:
        raise Damaged(f"{path} does not hold what was written to it")
