"""The kernels of the seen table, of segments, and of hashed nodes.

Shapes are those of `checker.native.kernels.arrays`. A table holds fingerprints, 0 for an empty
cell, in lines of eight cells, which processors read as one. A fingerprint is in the line that its
low half says or, where that is full, in the next that is not. The number of a line grows with that
half, whatever the length: a table that grows is read and written from front to back.
"""

# mypy: allow-untyped-calls, allow-untyped-defs
# mypy: disable-error-code="call-arg,unreachable,var-annotated,redundant-expr"
# (numba infers the types of compiled functions; annotations would not be looked at)

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from statewalk.checker.machine.compiling import inlined, kernel
from statewalk.checker.native.kernels.arrays import DONE, POSITION_SHIFT, SEGMENT_FULL, TABLE_FULL
from statewalk.checker.native.kernels.walking import (
    S32,
    U0,
    U1,
    alike,
    copy_row,
    matches,
    old_value,
    prefetch,
    scramble,
    trailing_zeros,
    written,
)

_AHEAD = 24  # candidates between the prefetch of a cell and its use
_LOW, S3, S8 = np.uint64(0xFFFFFFFF), np.uint64(3), np.uint64(8)
_ROWS_AHEAD = 8  # the same for rows, which take several cache lines each


@inlined
def _home(fp, size):
    """Return the first cell of a fingerprint's line: by its low bits, as the high ones chose
    the table.
    """
    return (((fp & _LOW) * (size >> S3)) >> S32) << S3


@inlined
def _next(line, size):
    """Return the line after a line, going round."""
    line += S8
    return line if line < size else U0


@inlined
def _back(line, before, size):
    """Return how many cells lie between a line and one before it, going round."""
    return line - before if line >= before else line + size - before


@inlined
def _search(table, table_low, key, low):
    """Return the cell of a fingerprint, and whether it is there; if not, that is where it
    would go.
    """
    size = uint64(table.shape[0])
    line = _home(key, size)
    while True:
        found = matches(table, int64(line), key)
        if table_low.shape[0] > 0:
            while found != U0:
                cell = line + trailing_zeros(found)
                if table_low[cell] == low:
                    return cell, True
                found &= found - U1
        elif found != U0:
            return line + trailing_zeros(found), True
        empty = matches(table, int64(line), U0)
        if empty != U0:
            return line + trailing_zeros(empty), False
        line = _next(line, size)


@kernel
def insert(
    rows,
    outcomes,
    batch,
    partition,
    table,
    table_low,
    numbers,
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

    The k-th state to enter a table has the number k, which candidates get where ``numbers`` has
    room.

    Shapes:     table (n,) uint64, 0 empty · numbers (n,) or (0,) int32
    Slow twin:  statewalk.checker.engines.reference.Search.reach
    """
    size = uint64(table.shape[0])
    wide = table_low.shape[0] > 0
    numbered = numbers.shape[0] > 0
    fps = batch.fp[partition]
    n = batch.used[partition]
    current = progress[0]
    kept = progress[1]
    entries = progress[2]
    width = rows.values.shape[1]
    words = segment.quiet.shape[1]
    status = DONE
    for ahead in range(current, min(n, current + _AHEAD)):
        prefetch(table, int64(_home(fps[ahead], size)))
    while current < n:
        if current + _AHEAD < n:
            coming = int64(_home(fps[uint64(current + _AHEAD)], size))
            prefetch(table, coming)
            if numbered:
                prefetch(numbers, coming)
        fp = fps[uint64(current)]
        key = fp if fp != U0 else U1
        low = batch.low[partition, current] if wide else U0
        at, seen = _search(table, table_low, key, low)
        if seen:
            if numbered:
                batch.number[partition, current] = numbers[at]
        else:
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
            if numbered:
                numbers[at] = batch.number[partition, current] = entries
            link = batch.link[partition, current]
            outcome = batch.outcome[partition, current]
            parent = link >> POSITION_SHIFT
            if alike(rows.values, segment.values) and width == segment.values.shape[1]:
                copy_row(segment.values, kept, rows.values, parent)
            else:
                for slot in range(width):
                    segment.values[kept, slot] = rows.values[parent, slot]
                for slot in range(width, segment.values.shape[1]):
                    segment.values[kept, slot] = 0
            start = outcomes.start[outcome]
            for write in range(start, start + outcomes.total[outcome]):
                slot = uint64(outcomes.slot[uint64(write)])
                old = old_value(rows.values[uint64(parent)], slot)
                segment.values[uint64(kept), slot] = written(outcomes, write, old)
            for word in range(words):
                segment.quiet[uint64(kept), uint64(word)] = (
                    rows.quiet[uint64(parent), uint64(word)]
                    | outcomes.dirty[uint64(outcome), uint64(word)]
                )
            segment.fp[uint64(kept)] = fp
            segment.link[uint64(kept)] = link
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
        if alike(rows.values, segment.values) and width == rows.values.shape[1]:
            copy_row(rows.values, target, segment.values, source)
        else:
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
def enter(table, table_low, numbers, first, fps, lows):
    """Put fingerprints, all different and not in it, into a table that has room; numbered from
    ``first`` on, if at all.
    """
    wide = table_low.shape[0] > 0
    for i in range(fps.shape[0]):
        key = fps[i] if fps[i] != U0 else U1
        low = lows[i] if wide else U0
        at, _ = _search(table, table_low, key, low)
        table[at] = key
        if wide:
            table_low[at] = low
        if numbers.shape[0] > 0:
            numbers[at] = first + i


@kernel
def refill(table, table_low, numbers, old, old_low, old_numbers):
    """Copy the entries of a table to a larger one."""
    size = uint64(table.shape[0])
    for i in range(old.shape[0]):
        if old[i] != U0:
            line = _home(old[i], size)
            empty = matches(table, int64(line), U0)
            while empty == U0:
                line = _next(line, size)
                empty = matches(table, int64(line), U0)
            at = line + trailing_zeros(empty)
            table[at] = old[i]
            if table_low.shape[0] > 0:
                table_low[at] = old_low[i]
            if numbers.shape[0] > 0:
                numbers[at] = old_numbers[i]


@kernel
def find(table, table_low, fps, lows, found):
    """Set ``found`` where a fingerprint is in a table."""
    wide = table_low.shape[0] > 0
    for i in range(fps.shape[0]):
        key = fps[i] if fps[i] != U0 else U1
        low = lows[i] if wide else U0
        _, found[i] = _search(table, table_low, key, low)


@kernel
def forget(table, table_low, fps, lows):
    """Take fingerprints out of a table, closing the gaps in lines that were full.

    Source: Knuth, The Art of Computer Programming 3, 6.4, algorithm R, for lines of cells
    """
    size = uint64(table.shape[0])
    wide = table_low.shape[0] > 0
    for i in range(fps.shape[0]):
        key = fps[i] if fps[i] != U0 else U1
        low = lows[i] if wide else U0
        hole, _ = _search(table, table_low, key, low)
        gap = hole & ~(S8 - U1)  # the line of the hole
        line = gap
        while matches(table, int64(line), U0) == U0:  # full: what it has no room for lies behind
            line = _next(line, size)
            for cell in range(line, line + S8):
                if table[cell] != U0 and (
                    _back(line, _home(table[cell], size), size) >= _back(line, gap, size)
                ):
                    table[hole] = table[cell]
                    if wide:
                        table_low[hole] = table_low[cell]
                    hole = cell
                    gap = line
                    break
        table[hole] = U0


@kernel
def hashed_child(keys, children, node, value):
    """Return the child of a hashed node; 0 for nothing."""
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
