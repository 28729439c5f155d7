"""States as they travel from task to task: in no more bytes per value than will do."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from checker.native.arrays import Array

_BYTE = 1 << 8


class States(NamedTuple):
    """States in the order of their fingerprints, each once.

    Shapes:  values (n, W), fp (n,), quiet (n, B), link (n,)
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
