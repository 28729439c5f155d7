"""Kernels of the levels that look only at direct dependencies: whose other writes were missed.

Slow twin: statewalk.dsl.library.isolation, cycles of one rw edge closed by one wr or so edge.
"""

from __future__ import annotations

import numpy as np

from statewalk.checker.history.data import Ints
from statewalk.checker.history.decide.kernels.reach import emit
from statewalk.checker.machine.compiling import allocating, inlined

_RW, _WW = 3, 2


@allocating
def missed(
    n: int, keys: int, reads: Ints, first: Ints, written: Ints, in_order: bool, out: Ints, m: int
) -> int:
    """Reads that miss a write of a transaction that their reader also read from.

    Shapes:  reads (·, 4) reader, key, writer, operation, by reader and in its order; first
             (n+1,) and written (·,) the keys that each transaction wrote; out (·, 8) as in
             reach_kernels.rules. With `in_order` only reads of the same operation as the one
             from the transaction, and of later ones, count. Returns the rows that `out` needs.
    """
    head, turn = np.full(keys, -1, np.int64), np.full(keys, -1, np.int64)
    following, seen = np.full(len(reads), -1, np.int64), np.full(n, -1, np.int64)
    a = 0
    while a < len(reads):
        r, z = reads[a, 0], a
        while z < len(reads) and reads[z, 0] == r:
            z += 1
        for q in range(z - 1, a - 1, -1):
            k = reads[q, 1]
            following[q] = head[k] if turn[k] == r else -1
            head[k], turn[k] = q, r
        for q in range(a, z):
            j = reads[q, 2]
            if j < 0 or seen[j] == r:
                continue
            seen[j] = r
            for x in range(first[j], first[j + 1]):
                k = written[x]
                p = head[k] if turn[k] == r else -1
                while p >= 0:
                    i = reads[p, 2]
                    if i != j and (reads[p, 3] >= reads[q, 3] or not in_order):
                        m = _forced(out, m, i, j, r, k)
                    p = following[p]
        a = z
    return m


@inlined
def _forced(out: Ints, m: int, i: int, j: int, r: int, k: int) -> int:
    """Reader r sees j but reads i's version of k: j is before i, which T0 (i < 0) cannot be."""
    if i < 0:
        return emit(out, m, r, j, _RW, k, 2, i, j, r)
    return emit(out, m, j, i, _WW, k, 3, i, j, r)


@allocating
def missed_in_session(
    keys: int,
    order: Ints,
    session: Ints,
    reads: Ints,
    read_at: Ints,
    first: Ints,
    written: Ints,
    out: Ints,
    m: int,
) -> int:
    """Reads that miss what their session wrote before; shapes as in `missed`.

    Shapes:  order: transactions by session; read_at (n+1,) the run of each one's reads.
    """
    last, turn = np.full(keys, -1, np.int64), np.full(keys, -1, np.int64)
    for x in range(len(order)):
        r = order[x]
        for q in range(read_at[r], read_at[r + 1]):
            k, i = reads[q, 1], reads[q, 2]
            if turn[k] == session[r] and last[k] != i:
                m = _forced(out, m, i, last[k], r, k)
        for y in range(first[r], first[r + 1]):
            k = written[y]
            last[k], turn[k] = r, session[r]
    return m
