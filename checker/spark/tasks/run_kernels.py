"""The kernels of sorted runs of fingerprints, and of rows packed into few bits to be sent.

Runs are those of `checker.native.kernels.runs`.
"""

# mypy: disable-error-code="no-untyped-call,no-untyped-def,call-arg"
# (numba infers the types of compiled functions; annotations would not be looked at)

from __future__ import annotations

from numba import int64, uint64

from statewalk.checker.machine.compiling import inlined, kernel
from statewalk.checker.native.kernels.arrays import POSITION_SHIFT
from statewalk.checker.native.kernels.walking import U0, U1, scramble

BYTE = uint64(255)
S8 = uint64(8)


@inlined
def _before(fps, lows, one, other):
    """Whether one fingerprint is less than another."""
    if fps[one] != fps[other]:
        return fps[one] < fps[other]
    return lows.shape[0] > 0 and lows[one] < lows[other]


@kernel
def merge(fps, lows, links, first, first_n, second, second_n, merged):
    """Merge two lists of positions, each ascending by fingerprint, into one; how many there are.

    Of positions with the same fingerprint the one with the least link stays.

    Shapes:     fps, lows (n,) uint64, links (n,) int64; first, second, merged int64: positions
    Slow twin:  tests.checker.native.test_run_kernels.merged
    """
    a = b = n = 0
    while a < first_n and b < second_n:
        left = first[a]
        right = second[b]
        if _before(fps, lows, left, right):
            merged[n] = left
            a += 1
        elif _before(fps, lows, right, left):
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
def pack(values, order, bits, packed):
    """Rows in the given order, each slot's value id in as many bits as said, least bits first.

    Shapes:     values (N, W) unsigned, order (n,) int64, bits (W,) int64, packed (n, K) uint8
    Slow twin:  tests.checker.native.test_run_kernels.packed
    """
    for i in range(order.shape[0]):
        row = order[i]
        held = U0
        n_held = 0
        at = 0
        for slot in range(min(bits.shape[0], values.shape[1])):
            held |= uint64(values[row, slot]) << uint64(n_held)
            n_held += bits[slot]
            while n_held >= 8:
                packed[i, at] = held & BYTE
                held >>= S8
                n_held -= 8
                at += 1
        while at < packed.shape[1]:
            packed[i, at] = held & BYTE
            held >>= S8
            at += 1


@inlined
def _more(packed, i, at, held, n_held, n):
    """Bits of a row until there are n: (where to go on, the bits, how many)."""
    while n_held < n:
        held |= uint64(packed[i, at]) << uint64(n_held)
        at += 1
        n_held += 8
    return at, held, n_held


@kernel
def unpack(packed, bits, values):
    """Take the value ids out again.

    Shapes:     packed (n, K) uint8, bits (W,) int64, values (n, W) unsigned
    Slow twin:  tests.checker.native.test_run_kernels.packed
    """
    for i in range(packed.shape[0]):
        held = U0
        n_held = 0
        at = 0
        for slot in range(bits.shape[0]):
            n = bits[slot]
            at, held, n_held = _more(packed, i, at, held, n_held, n)
            values[i, slot] = held & ((U1 << uint64(n)) - U1)
            held >>= uint64(n)
            n_held -= n


@kernel
def fingerprints(packed, bits, base, start, contribution, fps):
    """Fingerprints of packed rows; whether they ascend, each being there once.

    ``base`` is what all states have in common; the contribution of a slot's value is at the slot's
    ``start`` plus the value's id.

    Shapes:     packed (n, K) uint8, bits (W,) int64, start (slots,) int64, contribution uint64
    Slow twin:  statewalk.checker.engines.layout.Layout.fingerprint
    """
    before = U0
    ascending = True
    for i in range(packed.shape[0]):
        held = U0
        n_held = 0
        at = 0
        total = base
        for slot in range(bits.shape[0]):
            n = bits[slot]
            if n == 0:
                continue
            at, held, n_held = _more(packed, i, at, held, n_held, n)
            id = held & ((U1 << uint64(n)) - U1)
            total += contribution[uint64(start[slot]) + id]
            held >>= uint64(n)
            n_held -= n
        fps[i] = total
        ascending &= i == 0 or before < total
        before = total
    return ascending


@kernel
def wide_fingerprints(packed, bits, base, start, contribution, contribution_low, fps, lows):
    """As `fingerprints`, of two words each; ``base`` (2,) uint64.

    Slow twin:  statewalk.checker.engines.layout.Layout.fingerprint
    """
    ascending = True
    for i in range(packed.shape[0]):
        held = U0
        n_held = 0
        at = 0
        total = base[0]
        rest = base[1]
        for slot in range(bits.shape[0]):
            n = bits[slot]
            if n == 0:
                continue
            at, held, n_held = _more(packed, i, at, held, n_held, n)
            id = held & ((U1 << uint64(n)) - U1)
            place = uint64(start[slot]) + id
            added = rest + contribution_low[place]
            total += contribution[place]
            if added < rest:
                total += U1
            rest = added
            held >>= uint64(n)
            n_held -= n
        fps[i] = total
        lows[i] = rest
        if i > 0:
            ascending &= _before(fps, lows, i - 1, i)
    return ascending


@kernel
def narrow_links(links, order, first, ordinal_bits, kept_bits, narrow):
    """Links in the given order as few bytes, least first.

    ``first`` is subtracted from positions; of the ordinal only the low ``kept_bits`` bits are kept.

    Shapes:     links (N,) int64, order (n,) int64, narrow (n, K) uint8
    Slow twin:  tests.checker.native.test_run_kernels.narrowed
    """
    ordinals = (1 << ordinal_bits) - 1
    for i in range(order.shape[0]):
        link = links[order[i]] - (first << POSITION_SHIFT)
        left = ((link >> ordinal_bits) << kept_bits) | (link & ordinals)
        for at in range(narrow.shape[1]):
            narrow[i, at] = left & 255
            left >>= 8


@kernel
def widen_links(narrow, first, ordinal_bits, kept_bits, links):
    """The links again.

    Shapes:     as for `narrow_links`, without order
    Slow twin:  tests.checker.native.test_run_kernels.narrowed
    """
    for i in range(narrow.shape[0]):
        left = int64(0)
        for at in range(narrow.shape[1]):
            left |= int64(narrow[i, at]) << (8 * at)
        link = ((left >> kept_bits) << ordinal_bits) | (left & ((1 << kept_bits) - 1))
        links[i] = link + (first << POSITION_SHIFT)


@kernel
def number_rows(rows, table, known, codes):
    """Number different rows in the order they come; how many, or -1 when there is no more room.

    Shapes:     rows (n, B) uint64; table (power of two,) int32, 0 empty; known (room, B) uint64,
                fewer than the table has cells; codes (n,) uint32
    Slow twin:  numpy.unique
    """
    mask = uint64(table.shape[0] - 1)
    words = rows.shape[1]
    n = 0
    for i in range(rows.shape[0]):
        key = U0
        for word in range(words):
            key = scramble(key ^ rows[i, word])
        at = key & mask
        while table[at] != 0:
            other = table[at] - 1
            same = True
            for word in range(words):
                same &= known[other, word] == rows[i, word]
            if same:
                break
            at = (at + U1) & mask
        if table[at] == 0:
            if n == known.shape[0]:
                return -1
            for word in range(words):
                known[n, word] = rows[i, word]
            n += 1
            table[at] = n
        codes[i] = table[at] - 1
    return n
