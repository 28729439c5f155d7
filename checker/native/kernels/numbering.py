"""A table from fingerprints to the numbers of states.

Shapes:  wanted, fingerprints (.,) uint64 · numbers (power of two,) int32, -1 where it is free ·
         result (.,) int32
"""

# mypy: disable-error-code="no-untyped-call,no-untyped-def,call-arg"
# (numba infers the types of compiled functions; annotations would not be looked at)

from __future__ import annotations

import numpy as np

from statewalk.checker.machine.compiling import inlined, kernel
from statewalk.checker.native.kernels.walking import prefetch

_AHEAD = 16  # states between the prefetch of a place in the table and its use


@inlined
def _home(fingerprint, mask):
    return (fingerprint ^ (fingerprint >> np.uint64(32))) & mask


@kernel
def enter(fingerprints, first, numbers):
    """Put the states from a number on into a table with room for them."""
    mask = np.uint64(len(numbers) - 1)
    for i in range(first, len(fingerprints)):
        if i + _AHEAD < len(fingerprints):
            prefetch(numbers, np.int64(_home(fingerprints[i + _AHEAD], mask)))
        at = _home(fingerprints[i], mask)
        while numbers[at] >= 0:
            at = (at + np.uint64(1)) & mask
        numbers[at] = i


@kernel
def find(wanted, fingerprints, numbers, result):
    """The numbers of states in the table of `enter`; -1 where they are not there."""
    mask = np.uint64(len(numbers) - 1)
    for i in range(len(wanted)):
        if i + 2 * _AHEAD < len(wanted):
            prefetch(numbers, np.int64(_home(wanted[i + 2 * _AHEAD], mask)))
        if i + _AHEAD < len(wanted):
            coming = numbers[_home(wanted[i + _AHEAD], mask)]
            prefetch(fingerprints, np.int64(max(coming, 0)))
        at = _home(wanted[i], mask)
        while numbers[at] >= 0 and fingerprints[numbers[at]] != wanted[i]:
            at = (at + np.uint64(1)) & mask
        result[i] = numbers[at]
