"""The kernels of sorted runs of fingerprints, and of rows packed into few bits to be sent.

Runs are those of `checker.native.kernels.runs`.
"""

# mypy: disable-error-code="no-untyped-call,no-untyped-def,call-arg"
# (numba infers the types of compiled functions; annotations would not be looked at)

from __future__ import annotations

from numba import int64, uint64

from statewalk.checker.machine.compiling import inlined, kernel
from statewalk.checker.native.kernels.arrays import POSITION_SHIFT
from statewalk.checker.native.kernels.walking import U0, U1, prefetch, scramble

BYTE = uint64(255)
S8 = uint64(8)
_AHEAD = 8  # rows between the prefetch and the use


@inlined
def _before(fps, lows, one, other):
    """Return whether one fingerprint is less than another."""
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
def pack(values, order, narrow, ends, wide, packed):
    """Rows in the given order, as few bytes: first those that slots share, then those of wide ones.

    Shapes:     values (N, W) unsigned, order (n,) int64, packed (n, K) uint8; narrow, ends, wide:
                `statewalk.checker.spark.tasks.blobs.Places`
    Slow twin:  tests.checker.native.test_run_kernels.packed
    """
    flat = values.reshape(-1)
    width = values.shape[1]
    for i in range(order.shape[0]):
        if i + _AHEAD < order.shape[0]:
            coming = order[i + _AHEAD] * width
            prefetch(flat, coming)
            prefetch(flat, coming + width - 1)
        row = uint64(order[i])
        at = U0
        for byte in range(ends.shape[0]):
            held = U0
            while at < ends[byte]:
                held |= uint64(values[row, narrow[at, 0]]) << narrow[at, 1]
                at += U1
            packed[i, byte] = held
        byte = ends.shape[0]
        for number in range(wide.shape[0]):
            held = uint64(values[row, wide[number, 0]])
            for _ in range(wide[number, 1]):
                packed[i, byte] = held & BYTE
                held >>= S8
                byte += 1


@kernel
def unpack(packed, narrow, ends, wide, values):
    """Take the value ids out again, to rows of zeros.

    Shapes:     as for `pack`; values (n, W) unsigned
    Slow twin:  tests.checker.native.test_run_kernels.packed
    """
    for i in range(packed.shape[0]):
        at = U0
        for byte in range(ends.shape[0]):
            held = uint64(packed[i, byte])
            while at < ends[byte]:
                values[i, narrow[at, 0]] = (held >> narrow[at, 1]) & narrow[at, 2]
                at += U1
        byte = ends.shape[0]
        for number in range(wide.shape[0]):
            values[i, wide[number, 0]] = _wide_id(packed, i, byte, wide[number, 1])
            byte += wide[number, 1]


@inlined
def _wide_id(packed, i, byte, n):
    """Return the value id in some bytes of a row, least first."""
    id = U0
    for at in range(n):
        id |= uint64(packed[i, byte + at]) << (S8 * uint64(at))
    return id


@kernel
def add_up(narrow, ends, start, contribution, contribution_low, table, table_low):
    """Return what each value of a byte that slots share adds to a fingerprint, of one or two words.

    The contribution of a slot's value is at the slot's ``start`` plus the value's id.

    Shapes:     start (slots,) int64, contribution (n,), contribution_low (n,) or (0,), table,
                table_low (B, 256) or (0, 256) uint64; narrow, ends: as for `pack`
    Slow twin:  statewalk.checker.engines.layout.Layout.fingerprint
    """
    at = U0
    for byte in range(ends.shape[0]):
        for value in range(256):
            total = U0
            rest = U0
            for number in range(at, ends[byte]):
                id = (uint64(value) >> narrow[number, 1]) & narrow[number, 2]
                place = uint64(start[narrow[number, 0]]) + id
                if place < uint64(contribution.shape[0]):  # no value has that id otherwise
                    total += contribution[place]
                    if table_low.shape[0] > 0:
                        rest += contribution_low[place]
                        total += uint64(rest < contribution_low[place])
            table[byte, value] = total
            if table_low.shape[0] > 0:
                table_low[byte, value] = rest
        at = ends[byte]


@kernel
def fingerprints(
    packed, table, table_low, wide, base, start, contribution, contribution_low, fps, lows
):
    """Return fingerprints of packed rows; whether they ascend, each being there once.

    ``base`` is what all states have in common.

    Shapes:     packed (n, K) uint8, base (1 or 2,), fps (n,), lows (n,) or (0,) uint64; others: as
                for `add_up` and `pack`
    Slow twin:  statewalk.checker.engines.layout.Layout.fingerprint
    """
    two = lows.shape[0] > 0
    ascending = True
    for i in range(packed.shape[0]):
        total = base[0]
        rest = base[1] if two else U0
        for byte in range(table.shape[0]):
            value = packed[i, byte]
            total += table[byte, value]
            if two:
                rest += table_low[byte, value]
                total += uint64(rest < table_low[byte, value])
        byte = table.shape[0]
        for number in range(wide.shape[0]):
            id = _wide_id(packed, i, byte, wide[number, 1])
            byte += wide[number, 1]
            place = uint64(start[wide[number, 0]]) + id
            total += contribution[place]
            if two:
                rest += contribution_low[place]
                total += uint64(rest < contribution_low[place])
        fps[i] = total
        if two:
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
    """Number different rows in the order they come; how many, or -1 when there is no
    more room.

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
