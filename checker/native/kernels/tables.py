"""The kernels of the seen table, of segments, and of hashed nodes.

Shapes are those of `checker.native.kernels.arrays`. A table is open addressing with linear probing
over fingerprints, 0 for an empty cell; its length is a power of two.
"""

# mypy: disable-error-code="no-untyped-call,no-untyped-def,call-arg"
# (numba infers the types of compiled functions; annotations would not be looked at)

from __future__ import annotations

from numba import int64, uint64

from statewalk.checker.machine.compiling import inlined, kernel
from statewalk.checker.native.kernels.arrays import DONE, POSITION_SHIFT, SEGMENT_FULL, TABLE_FULL
from statewalk.checker.native.kernels.walking import (
    S32,
    U0,
    U1,
    old_value,
    prefetch,
    scramble,
    written,
)

_AHEAD = 24  # candidates between the prefetch of a cell and its use
_ROWS_AHEAD = 8  # the same for rows, which take several cache lines each


@inlined
def _cell(fp, mask):
    """Where a fingerprint's search in a table begins: its low bits, as the high ones chose it."""
    return fp & mask


@kernel
def insert(
    rows,
    outcomes,
    batch,
    partition,
    table,
    table_low,
    limit,
    segment,
    progress,
    fresh,
    ordinal_bits,
):
    """Put the new ones of a partition's candidates into the seen table and the segment.

    ``progress`` (3,) int64 is (candidate, states in the segment, states in the table). Candidates
    come in canonical order, so the first to reach a state is its least predecessor. ``fresh``
    counts new states per action.

    Shapes:     table (power of two,) uint64, 0 empty
    Slow twin:  statewalk.checker.engines.reference.Search.reach
    """
    mask = uint64(table.shape[0] - 1)
    wide = table_low.shape[0] > 0
    fps = batch.fp[partition]
    n = batch.used[partition]
    current = progress[0]
    kept = progress[1]
    entries = progress[2]
    width = rows.values.shape[1]
    words = segment.quiet.shape[1]
    status = DONE
    for ahead in range(current, min(n, current + _AHEAD)):
        prefetch(table, int64(_cell(fps[ahead], mask)))
    while current < n:
        if current + _AHEAD < n:
            prefetch(table, int64(_cell(fps[current + _AHEAD], mask)))
        fp = fps[uint64(current)]
        key = fp if fp != U0 else U1
        low = batch.low[partition, current] if wide else U0
        at = _cell(key, mask)
        while table[at] != U0 and (table[at] != key or (wide and table_low[at] != low)):
            at = (at + U1) & mask
        if table[at] == U0:
            if entries >= limit:
                status = TABLE_FULL
                break
            if kept == segment.fp.shape[0]:
                status = SEGMENT_FULL
                break
            table[at] = key
            if wide:
                table_low[at] = low
                segment.low[kept] = low
            link = batch.link[partition, current]
            outcome = batch.outcome[partition, current]
            parent = link >> POSITION_SHIFT
            for slot in range(width):
                segment.values[kept, slot] = rows.values[parent, slot]
            for slot in range(width, segment.values.shape[1]):
                segment.values[kept, slot] = 0
            start = outcomes.start[outcome]
            for write in range(start, start + outcomes.total[outcome]):
                slot = outcomes.slot[write]
                old = old_value(rows.values[parent], slot)
                segment.values[kept, slot] = written(outcomes, write, old)
            for word in range(words):
                segment.quiet[kept, word] = rows.quiet[parent, word] | outcomes.dirty[outcome, word]
            segment.fp[kept] = fp
            segment.link[kept] = link
            fresh[(link & ((1 << POSITION_SHIFT) - 1)) >> ordinal_bits] += 1
            kept += 1
            entries += 1
        current += 1
    progress[0] = current
    progress[1] = kept
    progress[2] = entries
    return status


@kernel
def gather(segment, order, rows, link, first):
    """Copy the states of a segment, in the given order, to a level from row ``first`` on."""
    n = order.shape[0]
    width = segment.values.shape[1]
    words = segment.quiet.shape[1]
    values, quiet = segment.values.reshape(-1), segment.quiet.reshape(-1)
    for i in range(n):
        if i + _ROWS_AHEAD < n:
            coming = order[i + _ROWS_AHEAD]
            prefetch(values, coming * width)
            prefetch(values, coming * width + width - 1)
            prefetch(quiet, coming * words)
            prefetch(segment.fp, coming)
            prefetch(segment.link, coming)
        source = order[i]
        target = first + i
        for slot in range(width):
            rows.values[target, slot] = segment.values[source, slot]
        for slot in range(width, rows.values.shape[1]):
            rows.values[target, slot] = 0
        for word in range(words):
            rows.quiet[target, word] = segment.quiet[source, word]
        rows.fp[target] = segment.fp[source]
        if rows.low.shape[0]:
            rows.low[target] = segment.low[source]
        link[target] = segment.link[source]


@kernel
def enter(table, table_low, fps, lows):
    """Put fingerprints, all different and not in it, into a table that has room."""
    mask = uint64(table.shape[0] - 1)
    for i in range(fps.shape[0]):
        key = fps[i] if fps[i] != U0 else U1
        at = _cell(key, mask)
        while table[at] != U0:
            at = (at + U1) & mask
        table[at] = key
        if table_low.shape[0]:
            table_low[at] = lows[i]


@kernel
def refill(table, table_low, old, old_low):
    """Copy the entries of a table to a larger one."""
    mask = uint64(table.shape[0] - 1)
    for i in range(old.shape[0]):
        if old[i] != U0:
            at = _cell(old[i], mask)
            while table[at] != U0:
                at = (at + U1) & mask
            table[at] = old[i]
            if table_low.shape[0]:
                table_low[at] = old_low[i]


@kernel
def find(table, table_low, fps, lows, found):
    """Set ``found`` where a fingerprint is in a table."""
    mask = uint64(table.shape[0] - 1)
    wide = table_low.shape[0] > 0
    for i in range(fps.shape[0]):
        key = fps[i] if fps[i] != U0 else U1
        at = _cell(key, mask)
        while table[at] != U0 and (table[at] != key or (wide and table_low[at] != lows[i])):
            at = (at + U1) & mask
        found[i] = table[at] != U0


@kernel
def forget(table, table_low, fps, lows):
    """Take fingerprints out of a table, closing the gaps.

    Source: Knuth, The Art of Computer Programming 3, 6.4, algorithm R
    """
    mask = uint64(table.shape[0] - 1)
    wide = table_low.shape[0] > 0
    for i in range(fps.shape[0]):
        key = fps[i] if fps[i] != U0 else U1
        hole = _cell(key, mask)
        while table[hole] != key or (wide and table_low[hole] != lows[i]):
            hole = (hole + U1) & mask
        at = hole
        while True:
            at = (at + U1) & mask
            if table[at] == U0:
                break
            home = _cell(table[at], mask)
            if ((at - home) & mask) >= ((at - hole) & mask):
                table[hole] = table[at]
                if wide:
                    table_low[hole] = table_low[at]
                hole = at
        table[hole] = U0


@kernel
def hashed_child(keys, children, node, value):
    """The child of a hashed node; 0 for nothing."""
    key = (uint64(node) << S32) | uint64(value)
    mask = uint64(keys.shape[0] - 1)
    at = scramble(key) & mask
    while keys[at] != U0:
        if keys[at] == key:
            return int64(children[at])
        at = (at + U1) & mask
    return int64(0)


@kernel
def put_hashed(keys, children, new_keys, new_children):
    """Enter children of hashed nodes, replacing what is there."""
    mask = uint64(keys.shape[0] - 1)
    for i in range(new_keys.shape[0]):
        key = new_keys[i]
        at = scramble(key) & mask
        while keys[at] != U0 and keys[at] != key:
            at = (at + U1) & mask
        keys[at] = key
        children[at] = new_children[i]
