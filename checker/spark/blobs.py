"""States as they travel from task to task: in no more bytes per value than will do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from checker.native.arrays import Array
from checker.native.run_kernels import pack, unpack

_BYTE = 1 << 8
_WORD = 64


@dataclass(frozen=True)
class Packing:
    """Where in a row's words each slot's value id is: as many bits as the slot has need of.

    Shapes:  word (W,) int64, shift and mask (W,) uint64
    """

    word: Array
    shift: Array
    mask: Array
    n_words: int

    def pack(self, values: Array) -> Array:
        """Rows as words."""
        words = np.zeros((len(values), self.n_words), np.uint64)
        pack(values, self.word, self.shift, words)
        return words

    def unpack(self, words: Array, dtype: Any) -> Array:
        """Rows from words."""
        values = np.empty((len(words), len(self.word)), dtype)
        unpack(words, self.word, self.shift, self.mask, values)
        return values


def packing_of(bits: Sequence[int]) -> Packing:
    """The packing of slots that need so many bits each."""
    word, shift, at, used = [], [], 0, 0
    for n in bits:
        if used + n > _WORD:
            at, used = at + 1, 0
        word.append(at if n else 0)
        shift.append(used if n else 0)
        used += n
    masks = [(1 << n) - 1 for n in bits]
    return Packing(
        np.array(word, np.int64), np.array(shift, np.uint64), np.array(masks, np.uint64), at + 1
    )


class States(NamedTuple):
    """States in the order of their fingerprints, each once; their values packed on the way.

    Shapes:  values (n, W) or words (n, k), fp (n,), quiet (n, B), link (n,)
    """

    values: Array
    fp: Array
    quiet: Array
    link: Array

    def pick(self, which: Any) -> States:
        """Some of them, by mask, position or slice."""
        return States(*(array[which] for array in self))

    @property
    def nbytes(self) -> int:
        """Their size."""
        return sum(array.nbytes for array in self)


def narrow(values: Array) -> Array:
    """Value ids as bytes, where all of them fit."""
    if values.size and values.max() < _BYTE:
        return values.astype(np.uint8)
    return np.ascontiguousarray(values)


def wide(values: Array, width: int, dtype: Any) -> Array:
    """Rows of value ids as wide as rows are by now."""
    if values.shape[1] == width:
        return np.ascontiguousarray(values, dtype)
    result = np.zeros((len(values), width), dtype)
    result[:, : values.shape[1]] = values
    return result
