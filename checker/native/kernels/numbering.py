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


@kernel
def count(batch, first, counts):
    """Count the candidates of each state of a batch, of those from ``first`` on."""
    for p in range(batch.used.shape[0]):
        for i in range(batch.used[p]):
            counts[uint64((batch.link[p, i] >> POSITION_SHIFT) - first)] += 1


@kernel
def arrange(batch, first, ordinal_bits, ends, next_of, keys, fps, source, target, action, outcome):
    """Take the candidates of a batch in the order of (state, action, ordinal), as flat arrays.

    Those of one state are put in order by insertion, which is right for few. ``ends`` (states of
    the batch,) int64 is where each state's end, ``next_of`` where they begin; ``fps`` are the
    fingerprints of the level.

    Shapes:     keys, source, target, action, outcome (candidates,); keys int64
    """
    for p in range(batch.used.shape[0]):
        for i in range(batch.used[p]):
            link = batch.link[p, i]
            state = uint64((link >> POSITION_SHIFT) - first)
            begin = ends[state - U1] if state > U0 else 0
            at = next_of[state]
            next_of[state] += 1
            key = ((link & ((1 << POSITION_SHIFT) - 1)) << 32) | (p << 24) | i
            while at > begin and keys[at - 1] > key:
                keys[at] = keys[at - 1]
                at -= 1
            keys[at] = key
    at = 0
    for state in range(ends.shape[0]):
        while at < ends[state]:
            key = keys[at]
            p, i = (key >> 24) & 255, key & ((1 << 24) - 1)
            source[at] = fps[first + state]
            target[at] = batch.fp[p, i]
            action[at] = key >> (32 + ordinal_bits)
            outcome[at] = batch.outcome[p, i]
            at += 1


@kernel
def recode(codes, numbers, result):
    """The number of each code, where a negative one counts from the end.

    Shapes:     codes, result (n,), numbers (.,) int32
    """
    for i in range(codes.shape[0]):
        code = codes[i]
        result[i] = numbers[code if code >= 0 else code + numbers.shape[0]]
