"""States as they lie in files and travel from task to task: in no more bits than will do.

A value id takes as many bits as its slot has need of. Which roots must be looked at (see *quiet* in
`checker.native.kernels.arrays`) takes two words and more, but few combinations of them occur: a
state holds the number of its combination. Fingerprints are not sent: the receiver adds them up
again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from statewalk.checker.native.kernels.arrays import POSITION_SHIFT, Array, Outcomes
from statewalk.checker.spark.tasks.files import Stored, opened, write
from statewalk.checker.spark.tasks.run_kernels import (
    add_up,
    fingerprints,
    narrow_links,
    number_rows,
    pack,
    unpack,
    widen_links,
)
from statewalk.dsl.errors import EngineError

_FIRST_ROOM = 1 << 11
_BYTE = 8  # bits
_NONE: Array = np.zeros(0, np.uint64)
_CODES = (np.uint8, np.uint16, np.uint32)


class Places(NamedTuple):
    """The places of slots in a packed row: those of up to eight bits share bytes, others do not.

    Shapes:  narrow (n, 3) uint64, by byte: slot, how far to shift, mask; ends (B,) uint64: where
             those of a byte end; wide (m, 2) int64: slot, number of bytes
    """

    narrow: Array
    ends: Array
    wide: Array


@lru_cache(maxsize=8)
def _places(bits: tuple[int, ...]) -> Places:
    """Return the places of slots of so many bits: each in the first byte that has room for it."""
    shared: list[list[tuple[int, int, int]]] = []
    used: list[int] = []
    for slot, n in enumerate(bits):
        if 0 < n <= _BYTE:
            byte = next((byte for byte, at in enumerate(used) if at + n <= _BYTE), len(used))
            if byte == len(used):
                shared.append([])
                used.append(0)
            shared[byte].append((slot, used[byte], (1 << n) - 1))
            used[byte] += n
    narrow = np.array([place for byte in shared for place in byte], np.uint64)
    ends = np.cumsum([len(byte) for byte in shared]).astype(np.uint64)
    wide = [(slot, -(-n // _BYTE)) for slot, n in enumerate(bits) if n > _BYTE]
    return Places(narrow.reshape(-1, 3), ends, np.array(wide, np.int64).reshape(-1, 2))


@dataclass(frozen=True)
class Packing:
    """The number of bits of each slot's value ids in a packed row. Shape: bits (W,) int64."""

    bits: Array

    @cached_property
    def places(self) -> Places:
        """Return where slots are."""
        return _places(tuple(self.bits.tolist()))

    @cached_property
    def n_bytes(self) -> int:
        """Bytes of a row."""
        return len(self.places.ends) + int(self.places.wide[:, 1].sum())

    def pack(self, values: Array, order: Array | None = None) -> Array:
        """Return rows packed, in the given order or as they are; slots that they lack are
        absent.
        """
        if order is None:
            order = np.arange(len(values))
        if (lacking := len(self.bits) - values.shape[1]) > 0:
            values = np.pad(values, ((0, 0), (0, lacking)))
        packed = np.empty((len(order), self.n_bytes), np.uint8)
        pack(values, order, *self.places, packed)
        return packed

    def unpack(self, packed: Array, dtype: Any, width: int | None = None) -> Array:
        """Return rows of value ids again, as wide as said."""
        width = len(self.bits) if width is None else width
        assert width >= len(self.bits), "rows do not lose slots"
        values = np.zeros((len(packed), width), dtype)
        unpack(packed, *self.places, values)
        return values


def packing_of(bits: Sequence[int]) -> Packing:
    """Return the packing of slots that need so many bits each."""
    return Packing(np.array(bits, np.int64))


class Coded(NamedTuple):
    """Rows of words by number: row i is ``known[codes[i]]``. Shapes: codes (n,), known (d, B)."""

    codes: Array
    known: Array


def coded(rows: Array) -> Coded:
    """Return rows by number."""
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

    Shapes:  packed (n, K) uint8, fp, low (n,), quiet (n, B), link (n,); low is empty where
             fingerprints are one word
    """

    packed: Array
    fp: Array
    low: Array
    quiet: Array
    link: Array

    def pick(self, which: Any) -> States:
        """Return some of them, by mask, position or slice."""
        return States(*(array[which] if len(array) else array for array in self))


# -- on the way ----------------------------------------------------------------------------------


class Blob(NamedTuple):
    """Some states of one sender, in the order of their fingerprints, for one receiver.

    Fingerprints of a ``part`` are less than those of the next, where there is more than one.

    Shapes:  packed (n, K) uint8, ways (n, L) uint8, codes (n,), known (d, B), fps (words, n): none
             but where they cannot be added up again
    """

    part: int
    packed: Array
    ways: Array  # links, see `narrow_links`
    codes: Array
    known: Array
    fps: Array
    first: int  # subtracted from the links' positions
    ordinal_bits: int  # of the links kept

    @property
    def nbytes(self) -> int:
        """The size of its columns."""
        return sum(array.nbytes for array in self[1:6])

    def put(self, folder: str, name: str) -> Filed:
        """Write it to a file, which is sent in its place; where nothing goes over a network."""
        columns = dict(zip(self._fields[1:6], self[1:6], strict=True))
        return Filed(folder, write(folder, name, columns, durable=False), *self[::6], self[7])


class Filed(NamedTuple):
    """A blob in a file."""

    folder: str
    stored: Stored
    part: int
    first: int
    ordinal_bits: int

    def blob(self) -> Blob:
        """Return the blob, mapped."""
        columns = opened(self.folder, self.stored)
        return Blob(
            part=self.part, first=self.first, ordinal_bits=self.ordinal_bits, **columns
        )  # fmt: skip


@dataclass(frozen=True)
class Sender:
    """Makes blobs of the new states of a part, which lie in no order."""

    part: int
    packing: Packing
    ordinal_bits: int
    values: Array
    link: Array
    quiet: Coded
    fps: tuple[Array, ...] = ()

    def blob(self, order: Array) -> Blob:
        """Return the states at some positions, in that order."""
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
        fps = np.array([words[order] for words in self.fps], np.uint64)
        return Blob(self.part, packed, ways, codes, self.quiet.known, fps, first, kept)


class Naming:
    """Adds up fingerprints of states that arrive."""

    def __init__(self, packing: Packing, base: Array, outcomes: Outcomes) -> None:
        narrow, ends, self.wide = packing.places
        lows = outcomes.contribution_low if len(base) > 1 else _NONE
        self.base = base
        self.shares = (outcomes.contribution_base, outcomes.contribution, lows)
        self.table = np.empty((len(ends), 256), np.uint64)
        self.table_low = np.empty((len(ends) * (len(base) > 1), 256), np.uint64)
        add_up(narrow, ends, *self.shares, self.table, self.table_low)

    def name(self, blob: Blob, fp: Array, low: Array) -> bool:
        """Fill in fingerprints of a blob's states; whether they ascend, each being there once."""
        if len(blob.fps):
            fp[:] = blob.fps[0]
            low[:] = blob.fps[1] if len(low) else low
            tied = fp[1:] == fp[:-1]
            after = low[1:] > low[:-1] if len(low) else np.zeros(len(tied), np.bool_)
            return bool(((fp[1:] > fp[:-1]) | (tied & after)).all())
        return bool(
            fingerprints(
                blob.packed, self.table, self.table_low, self.wide, self.base, *self.shares, fp, low
            )
        )


class Arrived:
    """States of several blobs, one run after the other.

    ``quiet`` numbers rows of ``known``; else as for `States`.
    """

    def __init__(self, blobs: Sequence[Blob], packing: Packing, base: Array, ordinal_bits: int,
                 outcomes: Outcomes) -> None:  # fmt: skip
        sizes = [len(blob.codes) for blob in blobs]
        total = sum(sizes)
        self.packed: Array = np.empty((total, packing.n_bytes), np.uint8)
        self.fp: Array = np.empty(total, np.uint64)
        self.low: Array = np.empty(total if len(base) > 1 else 0, np.uint64)
        self.link: Array = np.empty(total, np.int64)
        self.code: Array = np.empty(total, np.uint32)
        self.known: Array = np.concatenate([blob.known for blob in blobs])
        self.runs: list[tuple[int, int]] = []
        naming = Naming(packing, base, outcomes)
        at = n_known = 0
        for blob, n in zip(blobs, sizes, strict=True):
            here = slice(at, at + n)
            self.packed[here] = blob.packed
            self.code[here] = blob.codes
            self.code[here] += np.uint32(n_known)
            widen_links(blob.ways, blob.first, ordinal_bits, blob.ordinal_bits, self.link[here])
            if not naming.name(blob, self.fp[here], self.low[here]):
                raise EngineError("SW906", "States arrived in another order than they were sent.")
            self._add_run(at, at + n)
            at, n_known = here.stop, n_known + len(blob.known)

    def _add_run(self, first: int, end: int) -> None:
        """Note a run, as part of the one before where it goes on with that."""
        if self.runs and self._key(first - 1) < self._key(first):
            first = self.runs.pop()[0]
        self.runs.append((first, end))

    def _key(self, at: int) -> tuple[int, int]:
        return int(self.fp[at]), int(self.low[at]) if len(self.low) else 0

    def pick(self, which: Array, into: States) -> None:
        """Some of the states, by position, to where there is room for them."""
        if len(self.low):
            into.low[:] = self.low[which]
        np.take(self.packed, which, 0, into.packed, "clip")
        np.take(self.fp, which, 0, into.fp, "clip")
        np.take(self.link, which, 0, into.link, "clip")
        np.take(self.known, self.code[which], 0, into.quiet, "clip")


# -- in files ------------------------------------------------------------------------------------


def columns_of(packed: Array, quiet: Array, packing: Packing) -> dict[str, Array]:
    """Return the columns of a file of rows."""
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
        """Return the rows as another packing has them, which has room for what is in this one."""
        if np.array_equal(packing.bits, self.packing.bits):
            return self.packed
        values = self.packing.unpack(self.packed, np.uint32, len(packing.bits))
        return packing.pack(values)

    def values(self, width: int, dtype: Any) -> Array:
        """Return the rows' value ids."""
        return self.packing.unpack(self.packed, dtype, width)


def rows_of(columns: Mapping[str, Array], which: Any = slice(None)) -> PackedRows:
    """Return some rows of a file, by mask, positions or slice."""
    quiet = columns["known"].take(columns["code"][which], 0)
    return PackedRows(columns["packed"][which], quiet, Packing(columns["bits"]))
