"""A table from fingerprints to the numbers of states.

Shapes:  fingerprints, keys (.,) uint64 · numbers, values, result (.,) int32
"""

from __future__ import annotations

import numpy as np

from statewalk.checker.machine.compiling import kernel
from statewalk.checker.native.kernels.arrays import Array


@kernel
def enter(fingerprints: Array, numbers: Array, keys: Array, values: Array) -> None:
    """Put states into a table with room for them; its size is a power of two, -1 marks free."""
    mask = len(keys) - 1
    for i in range(len(fingerprints)):
        at = (fingerprints[i] ^ (fingerprints[i] >> np.uint64(32))) & np.uint64(mask)
        while values[at] >= 0:
            at = (at + np.uint64(1)) & np.uint64(mask)
        keys[at] = fingerprints[i]
        values[at] = numbers[i]


@kernel
def find(fingerprints: Array, keys: Array, values: Array, result: Array) -> None:
    """The numbers of states in the table of `enter`; -1 where they are not there."""
    mask = len(keys) - 1
    for i in range(len(fingerprints)):
        at = (fingerprints[i] ^ (fingerprints[i] >> np.uint64(32))) & np.uint64(mask)
        while values[at] >= 0 and keys[at] != fingerprints[i]:
            at = (at + np.uint64(1)) & np.uint64(mask)
        result[i] = values[at]
