"""Steps with the numbers of their states: from the candidates of a batch to flat arrays.

While a level is expanded a state is known by its place among all that entered its partition of the
seen table: k * P + p for the k-th of the p-th of P partitions. Once the level is there, each such
place has a number.

Shapes:  P partitions, n states, m steps · names (P, capacity) int32 · targets (m,) int32 ·
         labels (m,) uint8, uint16 or uint32 · places (.,) int32
"""

# mypy: disable-error-code="no-untyped-call,no-untyped-def,call-arg"
# (numba infers the types of compiled functions; annotations would not be looked at)

from __future__ import annotations

from numba import int64, uint64

from statewalk.checker.machine.compiling import kernel
from statewalk.checker.native.kernels.arrays import POSITION_SHIFT
from statewalk.checker.native.kernels.walking import U0, U1, prefetch, scramble

_AHEAD = 32  # steps between the prefetch of a place and its use


@kernel
def name(batch, first, kinds, keys, numbers, used, counts, names):
    """Name the candidates of a batch, and count those of each state; whether there was room.

    A name belongs to an action, an ordinal and the kind of an outcome; key and number of each are
    in a hash table that is half full at most. ``used`` (1,) int64 is how many there are.

    Shapes:     kinds (outcomes,) int64 · keys (power of two,) uint64, 0 empty · numbers int32 ·
                counts (states of the batch,) int64, of those from ``first`` on
    """
    mask = uint64(keys.shape[0] - 1)
    for p in range(batch.used.shape[0]):
        for i in range(batch.used[p]):
            link = batch.link[p, i]
            code = link & ((1 << POSITION_SHIFT) - 1)
            key = uint64(((kinds[uint64(batch.outcome[p, i])] + 1) << POSITION_SHIFT) | code)
            at = scramble(key) & mask
            while keys[at] != U0 and keys[at] != key:
                at = (at + U1) & mask
            if keys[at] == U0:
                if 2 * used[0] >= keys.shape[0]:
                    return False
                keys[at] = key
                numbers[at] = used[0]
                used[0] += 1
            names[p, i] = numbers[at]
            counts[uint64((link >> POSITION_SHIFT) - first)] += 1
    return True


@kernel
def keep(batch, first, names, next_of, targets, labels):
    """Put the candidates of a batch, inserted and named, in the order of their sources.

    ``next_of`` (states of the batch,) int64 is where the next step of each state goes.
    """
    n_partitions = batch.used.shape[0]
    for p in range(n_partitions):
        for i in range(batch.used[p]):
            source = uint64((batch.link[p, i] >> POSITION_SHIFT) - first)
            at = uint64(next_of[source])
            next_of[source] += 1
            targets[at] = batch.number[p, i] * n_partitions + p
            labels[at] = names[p, i]


@kernel
def renumber(targets, first, places):
    """Turn the places in ``targets`` from ``first`` on into the numbers of states."""
    n = targets.shape[0]
    for at in range(first, n):
        if at + _AHEAD < n:
            prefetch(places, int64(targets[at + _AHEAD]))
        targets[at] = places[targets[at]]
