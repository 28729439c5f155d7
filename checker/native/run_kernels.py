"""The kernels of sorted runs of fingerprints, and of rows packed into few bits to be sent.

A *run* is a stretch of fingerprints in ascending order, each once.
"""

# mypy: disable-error-code="no-untyped-def,call-arg"
# (numba infers the types of compiled functions; annotations would not be looked at)

from __future__ import annotations

from numba import uint64

from checker.native.loading import kernel


@kernel
def merge(fps, links, first, first_n, second, second_n, merged):
    """Merge two lists of positions, each ascending by fingerprint, into one; how many there are.

    Of positions with the same fingerprint the one with the least link stays.

    Shapes:     fps (n,) uint64, links (n,) int64; first, second, merged int64: positions in them
    Slow twin:  tests.native.test_run_kernels.merged
    """
    a = b = n = 0
    while a < first_n and b < second_n:
        left = first[a]
        right = second[b]
        if fps[left] < fps[right]:
            merged[n] = left
            a += 1
        elif fps[right] < fps[left]:
            merged[n] = right
            b += 1
        else:
            merged[n] = left if links[left] <= links[right] else right
            a += 1
            b += 1
        n += 1
    while a < first_n:
        merged[n] = first[a]
        a += 1
        n += 1
    while b < second_n:
        merged[n] = second[b]
        b += 1
        n += 1
    return n


@kernel
def mark(fps, run, found):
    """Set ``found`` where a fingerprint of one run is in another.

    Steps that double are taken through the other run, so a short run costs little.

    Shapes:     fps (n,), run (m,) uint64 ascending; found (n,) bool
    Slow twin:  numpy.isin
    """
    at = 0
    m = run.shape[0]
    for i in range(fps.shape[0]):
        fp = fps[i]
        if at >= m:
            return
        if run[at] < fp:
            step = 1
            low = at
            while low + step < m and run[low + step] < fp:
                low += step
                step *= 2
            high = min(low + step, m)
            while high - low > 1:
                middle = (low + high) // 2
                if run[middle] < fp:
                    low = middle
                else:
                    high = middle
            at = high
        if at < m and run[at] == fp:
            found[i] = True


@kernel
def pack(values, word, shift, words):
    """Put each value id of a row at its place in the row's words, which are zero before.

    Shapes:     values (n, W) unsigned, word (W,) int64, shift (W,) uint64, words (n, k) uint64
    Slow twin:  tests.native.test_run_kernels.packed
    """
    for i in range(values.shape[0]):
        for slot in range(values.shape[1]):
            words[i, word[slot]] |= uint64(values[i, slot]) << shift[slot]


@kernel
def unpack(words, word, shift, mask, values):
    """Take the value ids out again.

    Shapes:     as for `pack`; mask (W,) uint64
    Slow twin:  tests.native.test_run_kernels.packed
    """
    for i in range(values.shape[0]):
        for slot in range(values.shape[1]):
            values[i, slot] = (words[i, word[slot]] >> shift[slot]) & mask[slot]
