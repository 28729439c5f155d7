"""Kernels of the local checks: each transaction by itself, then list reads by key.

Slow twin: statewalk.checker.history.certify.replay, which runs the operations as a store would.
Codes of the findings: 1 own write not read, 2 two reads differ, 3 list not ending in own
appends, 4 not a prefix of the longest list.
"""

from __future__ import annotations

from statewalk.checker.history.data import Ints
from statewalk.checker.machine.compiling import allocating, inlined

OWN, DIFFER, OWN_LIST, PREFIX = 1, 2, 3, 4
_READ, _WRITE, _DELETE, _APPEND, _LIST, _RANGE, _ABSENT = 0, 1, 3, 4, 5, 6, 7


@allocating
def expand(
    first: Ints,
    kind: Ints,
    key: Ints,
    value: Ints,
    count: Ints,
    items: Ints,
    low: Ints,
    high: Ints,
    by_rank: Ints,
    mark: Ints,
    out: Ints,
    out_first: Ints,
) -> None:
    """Operations with every range query written as reads of the keys in its bounds.

    Shapes:  low, high (m,) ranks of the first and last key in bounds; by_rank (keys,) the key
             of each rank; mark (keys,) scratch of -1; out (·, 5): kind, key, value, count, op.
    A key in bounds that was not returned becomes an ABSENT read.
    """
    n = 0
    for t in range(len(first) - 1):
        out_first[t] = n
        for op in range(first[t], first[t + 1]):
            if kind[op] != _RANGE:
                out[n, 0], out[n, 1], out[n, 2] = kind[op], key[op], value[op]
                out[n, 3], out[n, 4] = count[op], op
                n += 1
                continue
            for row in range(count[op]):
                k = items[value[op] + 2 * row]
                mark[k] = op
                out[n, 0], out[n, 1], out[n, 2] = _READ, k, items[value[op] + 2 * row + 1]
                out[n, 3], out[n, 4] = 1, op
                n += 1
            for rank in range(low[op], high[op] + 1):
                k = by_rank[rank]
                if mark[k] != op:
                    out[n, 0], out[n, 1], out[n, 2], out[n, 3], out[n, 4] = _ABSENT, k, 0, 1, op
                    n += 1
    out_first[len(first) - 1] = n


@inlined
def _own_appends(ops: Ints, start: int, stop: int, k: int, own: Ints) -> int:
    """Collect what this transaction appended to k before operation `stop`; how many."""
    n = 0
    for q in range(start, stop):
        if ops[q, 0] == _APPEND and ops[q, 1] == k:
            own[n] = ops[q, 2]
            n += 1
    return n


@inlined
def _outside(ops: Ints, start: int, q: int, items: Ints, own: Ints) -> int:
    """Length of the part of list read q that others wrote; -1 when it lacks own appends."""
    n_own = _own_appends(ops, start, q, ops[q, 1], own)
    base, length = ops[q, 2], ops[q, 3]
    if ops[q, 0] != _LIST:  # a nil or absent read of a list key is the empty list
        length = 0
    if length < n_own:
        return -1
    for x in range(n_own):
        if items[base + length - n_own + x] != own[x]:
            return -1
    return int(length - n_own)


@inlined
def _alike(ops: Ints, items: Ints, q: int, p: int, length: int) -> bool:
    """Return whether list reads q and p begin with the same `length` elements."""
    a, b = ops[q, 2], ops[p, 2]
    same = 0
    while same < length and items[a + same] == items[b + same]:
        same += 1
    return bool(same >= length)


@inlined
def _report(found: Ints, sizes: Ints, code: int, q: int) -> None:
    found[sizes[2], 0], found[sizes[2], 1] = code, q
    sizes[2] += 1


@allocating
def scan(
    first: Ints,
    ops: Ints,
    status: Ints,
    items: Ints,
    is_list: Ints,
    seen: Ints,
    reads: Ints,
    writes: Ints,
    found: Ints,
    sizes: Ints,
    own: Ints,
    again: bool,
) -> None:
    """Internal consistency; what each transaction reads from others and what it leaves behind.

    A second read of a key has a row of its own when it differs, or when `again`.

    Shapes:  seen (keys, 4) scratch of -1: writer, its write row, reader, its read row;
             reads (·, 5): t, key, value, operation, outside length (-1 when not a list);
             writes (·, 5): t, key, value, operation, final (1) or overwritten by itself (0);
             found (·, 2): code, operation; sizes (3,): rows used of reads, writes, found;
             own: scratch as long as the longest transaction.
    """
    for t in range(len(first) - 1):
        for q in range(first[t], first[t + 1]):
            what, k, v = ops[q, 0], ops[q, 1], ops[q, 2]
            if what == _RANGE or (what == _READ and v < 0):
                continue
            if _WRITE <= what <= _APPEND:
                if seen[k, 0] == t:
                    writes[seen[k, 1], 4] = 0
                row = sizes[1]
                writes[row, 0], writes[row, 1], writes[row, 2] = t, k, v
                writes[row, 3], writes[row, 4] = q, 1
                seen[k, 0], seen[k, 1] = t, row
                sizes[1] += 1
                continue
            if status[t] == 1:
                continue
            length = -1
            if is_list[k] == 1:
                start = first[t] if seen[k, 0] == t else q  # without a look where it wrote none
                length = _outside(ops, start, q, items, own)
                if length < 0:
                    _report(found, sizes, OWN_LIST, q)
                    continue
                v = items[ops[q, 2] + length - 1] if length > 0 else 0
            elif seen[k, 0] == t:
                if what == _ABSENT or writes[seen[k, 1], 2] != v:
                    _report(found, sizes, OWN, q)
                continue
            if seen[k, 2] == t:
                row = seen[k, 3]
                same = reads[row, 2] == v and reads[row, 4] == length
                if not (same and _alike(ops, items, q, reads[row, 3], length)):
                    _report(found, sizes, DIFFER, q)
                elif not again:
                    continue
            row = sizes[0]
            reads[row, 0], reads[row, 1], reads[row, 2], reads[row, 3] = t, k, v, q
            reads[row, 4] = length
            seen[k, 2], seen[k, 3] = t, row
            sizes[0] += 1


@allocating
def prefixes(reads: Ints, ops: Ints, items: Ints, longest: Ints, found: Ints) -> int:
    """Check that each list read is a prefix of the longest one of its key.

    Shapes:  longest (keys,) the row of `reads` with the longest list, -1 = none; found (·, 2).
    """
    n = 0
    for row in range(len(reads)):
        best = longest[reads[row, 1]]
        if best < 0 or best == row or reads[row, 4] <= 0:
            continue
        here, there = ops[reads[row, 3], 2], ops[reads[best, 3], 2]
        for x in range(reads[row, 4]):
            if items[here + x] != items[there + x]:
                found[n, 0], found[n, 1] = PREFIX, reads[row, 3]
                n += 1
                break
    return n
