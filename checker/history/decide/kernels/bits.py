"""Kernels of the rules without session order: reachability as blocks of bits.

Glossary as in reach_kernels. A block is a run of nodes base .. base+64*words; down[u] has the
block's nodes that u reaches, up[u] those that reach u. Every test of a rule about writer j
needs only the bits of j's own nodes, so blocks can be done one after the other.
Slow twin: statewalk.checker.history.explain.prove.
"""

from __future__ import annotations

import numpy as np

from statewalk.checker.history.data import Array, Ints
from statewalk.checker.history.decide.kernels.reach import Index, emit
from statewalk.checker.machine.compiling import allocating, inlined

_WW, _RW = 2, 3


@inlined
def bit(rows: Array, u: int, x: int) -> bool:
    """Return whether bit x of row u is set."""
    return bool((rows[u, x >> 6] >> np.uint64(x & 63)) & np.uint64(1) != 0)


@allocating
def closure(
    order: Ints,
    start: Ints,
    after: Ints,
    back_start: Ints,
    before: Ints,
    base: int,
    down: Array,
    up: Array,
    needed: Array,
) -> None:
    """Fill down and up for the block that begins at node `base`.

    Shapes:  down, up (nodes, words) uint64; needed (edges,) beside `after` becomes 0 where
             other edges imply this one; the rest as reach_kernels.nearest_first made it.
    """
    words = down.shape[1]
    size = 64 * words
    down[:] = np.uint64(0)
    up[:] = np.uint64(0)
    for q in range(len(order) - 1, -1, -1):
        u = order[q]
        for e in range(start[u], start[u + 1]):
            v = after[e]
            if 0 <= v - base < size and bit(down, u, v - base):
                needed[e] = 0
                continue
            for x in range(words):
                down[u, x] |= down[v, x]
        if 0 <= u - base < size:
            down[u, (u - base) >> 6] |= np.uint64(1) << np.uint64((u - base) & 63)
    for q in range(len(order)):
        u = order[q]
        for e in range(back_start[u], back_start[u + 1]):
            v = before[e]
            if 0 <= v - base < size and bit(up, u, v - base):
                continue
            for x in range(words):
                up[u, x] |= up[v, x]
        if 0 <= u - base < size:
            up[u, (u - base) >> 6] |= np.uint64(1) << np.uint64((u - base) & 63)


@inlined
def _inside(writer: Ints, w: int, base: int, size: int, a: int, z: int) -> tuple[int, int]:
    """Return the run of writers a..z (sorted by transaction) whose nodes lie in the block."""
    while a < z and w * writer[a] < base:
        a += 1
    while z > a and w * writer[z - 1] + w - 1 >= base + size:
        z -= 1
    return a, z


@allocating
def rules(
    down: Array,
    up: Array,
    base: int,
    w: int,
    x: Index,
    near: Ints,
    out: Ints,
    m: int,
) -> int:
    """Return new edges of the three rules for the writers of one block; rows of `out` now needed.

    Shapes:  near: scratch as long as a run of writers of one key; out (·, 8) as in
             reach_kernels.rules.
    """
    writer, by_key, reads, read_at = x.writer, x.key_at, x.reads, x.read_at
    size = 64 * down.shape[1]
    for k in range(len(by_key) - 1):
        a, z = _inside(writer, w, base, size, by_key[k], by_key[k + 1])
        if a == z:
            continue
        if w > 1:
            for q in range(by_key[k], by_key[k + 1]):
                m = _overlap_rule(up, base, writer, a, z, k, writer[q], near, out, m)
        for q in range(read_at[k], read_at[k + 1]):
            m = _read_rules(
                down, up, base, w, writer, a, z, k, reads[q, 0], reads[q, 2], near, out, m
            )
    return m


@inlined
def _overlap_rule(
    up: Array,
    base: int,
    writer: Ints,
    a: int,
    z: int,
    k: int,
    i: int,
    near: Ints,
    out: Ints,
    m: int,
) -> int:
    """Rule 1 for writer i and the writers a..z; the nearest emitted ones hide those before."""
    n = 0
    for p in range(z - 1, a - 1, -1):
        j = writer[p]
        if (
            j != i
            and bit(up, 2 * i + 1, 2 * j - base)
            and not bit(up, 2 * i, 2 * j + 1 - base)
            and not _hidden(up, near, n, 2, 2 * j + 1 - base)
        ):
            near[n] = j
            n += 1
            m = emit(out, m, 2 * j + 1, 2 * i, _WW, k, 1, i, j, -1)
    return m


@inlined
def _hidden(up: Array, near: Ints, n: int, w: int, x: int) -> bool:
    """Return whether node x of the block reaches the begin of one of the n near writers."""
    for y in range(n):  # noqa: SIM110 - numba compiles no generator
        if bit(up, w * near[y], x):
            return True
    return False


@inlined
def _read_rules(
    down: Array,
    up: Array,
    base: int,
    w: int,
    writer: Ints,
    a: int,
    z: int,
    k: int,
    r: int,
    i: int,
    near: Ints,
    out: Ints,
    m: int,
) -> int:
    """Rules 2 and 3 for one read and the writers a..z; nearer emitted writers hide others."""
    d, n = w - 1, 0
    for p in range(a, z):
        j = writer[p]
        if j in (i, r) or not (i < 0 or bit(down, w * i + d, w * j - base)):
            continue
        if bit(down, w * r, w * j + d - base):
            continue
        hidden = False
        for x in range(n):
            if bit(down, w * near[x] + d, w * j + d - base):
                hidden = True
                break
        if not hidden:
            near[n] = j
            n += 1
            m = emit(out, m, w * r, w * j + d, _RW, k, 2, i, j, r)
    n = 0
    for p in range(z - 1, a - 1, -1):
        j = writer[p]
        if (
            i >= 0
            and j not in (i, r)
            and bit(up, w * r, w * j + d - base)
            and not bit(up, w * i, w * j + d - base)
            and not _hidden(up, near, n, w, w * j + d - base)
        ):
            near[n] = j
            n += 1
            m = emit(out, m, w * j + d, w * i, _WW, k, 3, i, j, r)
    return m


@allocating
def undecided(down: Array, up: Array, base: int, w: int, x: Index, out: Ints, m: int) -> int:
    """Return pairs of writers (q, p), q's transaction the lesser, p in the block, not yet
    ordered.
    """
    writer, by_key = x.writer, x.key_at
    d, size = w - 1, 64 * down.shape[1]
    for k in range(len(by_key) - 1):
        a, z = _inside(writer, w, base, size, by_key[k], by_key[k + 1])
        for q in range(by_key[k], by_key[k + 1]):
            i = writer[q]
            for p in range(max(a, q + 1), z):
                j = writer[p]
                if not bit(down, w * i + d, w * j - base) and not bit(up, w * i, w * j + d - base):
                    if m < len(out):
                        out[m, 0], out[m, 1] = q, p
                    m += 1
    return m
