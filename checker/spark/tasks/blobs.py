"""States as they lie in files and travel from task to task: in no more bits than will do.

A value id takes as many bits as its slot has need of. Which roots must be looked at (see *quiet* in
`checker.native.kernels.arrays`) takes two words and more, but few combinations of them occur: a
state holds the number of its combination. Fingerprints are not sent: the receiver adds them up
again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from statewalk.checker.native.kernels.arrays import POSITION_SHIFT, Array, Outcomes
from statewalk.checker.spark.tasks.run_kernels import (
    fingerprints,
    narrow_links,
    number_rows,
    pack,
    unpack,
    widen_links,
)
from statewalk.dsl.errors import EngineError

_FIRST_ROOM = 1 << 11
_CODES = (np.uint8, np.uint16, np.uint32)


@dataclass(frozen=True)
class Packing:
    """How many bits each slot's value ids have in a packed row. Shape: bits (W,) int64."""

    bits: Array

    @cached_property
    def n_bytes(self) -> int:
        """Bytes of a row."""
        return -(-int(self.bits.sum()) // 8)

    def pack(self, values: Array, order: Array | None = None) -> Array:
        """Rows packed, in the given order or as they are; slots that they lack are absent."""
        if order is None:
            order = np.arange(len(values))
        packed = np.empty((len(order), self.n_bytes), np.uint8)
        pack(values, order, self.bits, packed)
        return packed

    def unpack(self, packed: Array, dtype: Any, width: int | None = None) -> Array:
        """Rows of value ids again, as wide as said."""
        if width is None or width == len(self.bits):
            values = np.empty((len(packed), len(self.bits)), dtype)
        else:
            assert width > len(self.bits), "rows do not lose slots"
            values = np.zeros((len(packed), width), dtype)
        unpack(packed, self.bits, values)
        return values


def packing_of(bits: Sequence[int]) -> Packing:
    """The packing of slots that need so many bits each."""
    return Packing(np.array(bits, np.int64))


class Coded(NamedTuple):
    """Rows of words by number: row i is ``known[codes[i]]``. Shapes: codes (n,), known (d, B)."""

    codes: Array
    known: Array


def coded(rows: Array) -> Coded:
    """Rows by number."""
    rows = np.ascontiguousarray(rows)
    codes, room = np.empty(len(rows), np.uint32), _FIRST_ROOM
    while True:
        known = np.empty((room, rows.shape[1]), np.uint64)
        n = int(number_rows(rows, np.zeros(2 * room, np.int32), known, codes))
        if n >= 0:
            return Coded(codes, known[:n])
        room *= 8


def _narrowest(codes: Array, n: int) -> Array:
    """Numbers below n in as few bytes as will do."""
    kind = next(kind for kind in _CODES if n - 1 <= np.iinfo(kind).max)
    return codes.astype(kind)


# -- in memory -----------------------------------------------------------------------------------


class States(NamedTuple):
    """States in the order of their fingerprints, each once.

    Shapes:  packed (n, K) uint8, fp (n,), quiet (n, B), link (n,)
    """

    packed: Array
    fp: Array
    quiet: Array
    link: Array

    def pick(self, which: Any) -> States:
        """Some of them, by mask, position or slice."""
        return States(*(array[which] for array in self))


# -- on the way ----------------------------------------------------------------------------------


class Blob(NamedTuple):
    """Some states of one sender, in the order of their fingerprints, for one receiver.

    Fingerprints of a ``part`` are less than those of the next, where there is more than one.

    Shapes:  packed (n, K) uint8, ways (n, L) uint8, codes (n,), known (d, B)
    """

    part: int
    packed: Array
    ways: Array  # links, see `narrow_links`
    codes: Array
    known: Array
    first: int  # subtracted from the links' positions
    ordinal_bits: int  # of the links kept

    @property
    def nbytes(self) -> int:
        """The size of its columns."""
        return sum(array.nbytes for array in self[1:5])


@dataclass(frozen=True)
class Sender:
    """Makes blobs of the new states of a part, which lie in no order."""

    part: int
    packing: Packing
    ordinal_bits: int
    values: Array
    link: Array
    quiet: Coded

    def blob(self, order: Array) -> Blob:
        """The states at some positions, in that order."""
        link = self.link[order]
        positions = link >> POSITION_SHIFT
        first = int(positions.min())
        ordinals = link & ((1 << self.ordinal_bits) - 1)
        kept = int(ordinals.max()).bit_length()
        most = (int(link.max()) - (first << POSITION_SHIFT)) >> self.ordinal_bits
        most = ((most + 1) << kept) - 1
        ways = np.empty((len(order), -(-most.bit_length() // 8)), np.uint8)
        narrow_links(link, np.arange(len(order)), first, self.ordinal_bits, kept, ways)
        codes = _narrowest(self.quiet.codes[order], len(self.quiet.known))
        packed = self.packing.pack(self.values, order)
        return Blob(self.part, packed, ways, codes, self.quiet.known, first, kept)


class Arrived:
    """States of several blobs, one run after the other.

    ``quiet`` numbers rows of ``known``; else as for `States`.
    """

    def __init__(self, blobs: Sequence[Blob], packing: Packing, base: int, ordinal_bits: int,
                 outcomes: Outcomes) -> None:  # fmt: skip
        sizes = [len(blob.codes) for blob in blobs]
        total = sum(sizes)
        self.packed: Array = np.empty((total, packing.n_bytes), np.uint8)
        self.fp: Array = np.empty(total, np.uint64)
        self.link: Array = np.empty(total, np.int64)
        self.code: Array = np.empty(total, np.uint32)
        self.known: Array = np.concatenate([blob.known for blob in blobs])
        self.runs: list[tuple[int, int]] = []
        at = n_known = 0
        start, contribution = outcomes.contribution_base, outcomes.contribution
        for blob, n in zip(blobs, sizes, strict=True):
            here = slice(at, at + n)
            self.packed[here] = blob.packed
            self.code[here] = blob.codes
            self.code[here] += np.uint32(n_known)
            widen_links(blob.ways, blob.first, ordinal_bits, blob.ordinal_bits, self.link[here])
            fps = self.fp[here]
            if not fingerprints(
                blob.packed, packing.bits, np.uint64(base), start, contribution, fps
            ):
                raise EngineError("SW906", "States arrived in another order than they were sent.")
            self._add_run(at, at + n)
            at, n_known = here.stop, n_known + len(blob.known)

    def _add_run(self, first: int, end: int) -> None:
        """Note a run, as part of the one before where it goes on with that."""
        if self.runs and self.fp[first - 1] < self.fp[first]:
            first = self.runs.pop()[0]
        self.runs.append((first, end))

    def pick(self, which: Array, into: States) -> None:
        """Some of the states, by position, to where there is room for them."""
        into.packed[:], into.fp[:], into.link[:] = (
            self.packed[which], self.fp[which], self.link[which],
        )  # fmt: skip
        into.quiet[:] = self.known[self.code[which]]


# -- in files ------------------------------------------------------------------------------------


def columns_of(packed: Array, quiet: Array, packing: Packing) -> dict[str, Array]:
    """The columns of a file of rows."""
    codes, known = coded(quiet)
    return {
        "packed": packed,
        "code": _narrowest(codes, len(known)),
        "known": known,
        "bits": packing.bits,
    }


class PackedRows(NamedTuple):
    """Rows as a file holds them."""

    packed: Array
    quiet: Array
    packing: Packing

    def repacked(self, packing: Packing) -> Array:
        """The rows as another packing has them, which has room for what is in this one."""
        if np.array_equal(packing.bits, self.packing.bits):
            return self.packed
        values = self.packing.unpack(self.packed, np.uint32, len(packing.bits))
        return packing.pack(values)

    def values(self, width: int, dtype: Any) -> Array:
        """The rows' value ids."""
        return self.packing.unpack(self.packed, dtype, width)


def rows_of(columns: Mapping[str, Array], which: Any = slice(None)) -> PackedRows:
    """Some rows of a file, by mask, positions or slice."""
    quiet = columns["known"][columns["code"][which]]
    return PackedRows(columns["packed"][which], quiet, Packing(columns["bits"]))
