"""Memory savings of a search: large arrays in pages of their own, links packed.

Freed memory of a few megabytes is kept by the C library, in pieces that the next level's arrays, a
bit larger, do not fit into: a quarter of what a search of ten million states took.
"""

from __future__ import annotations

import errno
import mmap
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from statewalk.checker.native.kernels.arrays import Array

_LARGE = 1 << 20  # bytes from which on an array has memory of its own
_HUGE = 1 << 21  # bytes of a huge page
_FEW = 1 << 10  # links that are not worth packing
_TOGETHER = 1 << 14  # links that are packed together


def array(shape: int | tuple[int, ...], dtype: Any, huge: float = 1.0) -> Array:
    """Return an array of zeros, which takes memory only where it is written to.

    The first ``huge`` of it asks for pages of 2 MB: what will be full for sure.
    Raises MemoryError.
    """
    kind = np.dtype(dtype)
    size = prod(shape if isinstance(shape, tuple) else (shape,)) * kind.itemsize
    if size < _LARGE or not hasattr(mmap, "MAP_PRIVATE"):
        return np.zeros(shape, kind)
    try:
        room = mmap.mmap(-1, size + _HUGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        if error.errno == errno.ENOMEM:
            raise MemoryError from None
        raise
    whole = np.frombuffer(room, np.uint8)
    first = -whole.ctypes.data % _HUGE
    large = int(huge * size) // _HUGE * _HUGE
    if large and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # not in this kernel
            room.madvise(mmap.MADV_HUGEPAGE, first, large)
    result: Array = whole[first : first + size].view(kind).reshape(shape)
    return result


@dataclass
class PackedLinks:
    """The links of a level in as few bytes as their bits need: four, or five.

    Between action and ordinal, links have bits that are 0 wherever few outcomes are.
    """

    low: Array  # (N,) uint32
    high: Array  # (N,) uint8; empty where four bytes are enough
    kept: int  # bits of ordinals
    ordinal_bits: int

    @classmethod
    def of(cls, links: Array, ordinal_bits: int) -> PackedLinks | Array:
        """Return some links packed, or as they are where that saves nothing."""
        if len(links) < _FEW:
            return links
        used = int(np.bitwise_or.reduce(links))
        kept = (used & ((1 << ordinal_bits) - 1)).bit_length()
        bits = (used >> ordinal_bits).bit_length() + kept
        if bits > 40:
            return links
        low = np.empty(len(links), np.uint32)
        high = np.empty(len(links) if bits > 32 else 0, np.uint8)
        for first in range(0, len(links), _TOGETHER):
            part = links[first : first + _TOGETHER]
            packed = (part >> ordinal_bits << kept) | (part & ((1 << kept) - 1))
            low[first : first + _TOGETHER] = packed & 0xFFFFFFFF
            high[first : first + _TOGETHER] = (packed >> 32)[: len(high)]
        return cls(low, high, kept, ordinal_bits)

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self.low.nbytes + self.high.nbytes

    def __len__(self) -> int:
        return len(self.low)

    def __getitem__(self, at: Any) -> Any:
        packed = self.low[at].astype(np.int64)
        if len(self.high):
            packed |= self.high[at].astype(np.int64) << 32
        return (packed >> self.kept << self.ordinal_bits) | (packed & ((1 << self.kept) - 1))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return all of them, as they were."""
        return np.asarray(self[:], dtype)
