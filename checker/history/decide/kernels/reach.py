"""Kernels over the known graph: order, reachability by session chains, and the three rules.

Glossary: u, v nodes; b(t) = w*t begins and c(t) = w*t + w-1 commits transaction t, where w is
2 for snapshots and 1 for a serial order (one node is both). s a session chain; pos a node's
place on its chain. F[u, s] is the first place on chain s that u reaches, L[u, s] the last place
on s that reaches u: with session order these two numbers say all of reachability.

Rules (i, j write key k, r reads i's version):
  1  b(j) =>* c(i)             then j is before i: c(j) -> b(i)
  2  c(i) =>* b(j), or i = T0  then r's snapshot is older: b(r) -> c(j)
  3  c(j) =>* b(r), j != i     then j is before i: c(j) -> b(i)
Slow twin: statewalk.checker.history.explain.prove, the same rules over sets.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from statewalk.checker.history.data import Array, Floats, Ints
from statewalk.checker.machine.compiling import allocating, inlined

FAR = np.int32(2**31 - 1)
_WW, _RW = 2, 3


class Index(NamedTuple):
    """Writers by key and reads by key.

    Shapes:  writer, writer_key (q,) sorted by key, chain, place; group (g+1,) runs of one key
             and chain; group_chain (g,); by_key (keys+1,) runs of groups; key_at (keys+1,)
             runs of writers; reads (·, 3) sorted by key: reader, key, writer; read_at (keys+1,).
    """

    writer: Ints
    writer_key: Ints
    group: Ints
    group_chain: Ints
    by_key: Ints
    key_at: Ints
    reads: Ints
    read_at: Ints


@allocating
def adjacency(n: int, src: Ints, dst: Ints, start: Ints, to: Ints, edge: Ints) -> None:
    """Edges by source: those of u are start[u]..start[u+1] in `to` and `edge` (their ids)."""
    start[:] = 0
    for e in range(len(src)):
        start[src[e] + 1] += 1
    for u in range(n):
        start[u + 1] += start[u]
    fill = start[:-1].copy()
    for e in range(len(src)):
        at = fill[src[e]]
        to[at], edge[at] = dst[e], e
        fill[src[e]] += 1


@allocating
def topological(n: int, start: Ints, to: Ints, order: Ints) -> int:
    """Return nodes in an order that respects the edges; how many were placed (n = no cycle)."""
    degree = np.zeros(n, np.int64)
    for e in range(len(to)):
        degree[to[e]] += 1
    head = tail = 0
    for u in range(n):
        if degree[u] == 0:
            order[tail] = u
            tail += 1
    while head < tail:
        u = order[head]
        head += 1
        for e in range(start[u], start[u + 1]):
            degree[to[e]] -= 1
            if degree[to[e]] == 0:
                order[tail] = to[e]
                tail += 1
    return tail


@allocating
def topological_by(n: int, start: Ints, to: Ints, priority: Floats, order: Ints) -> int:
    """As `topological`, taking of the ready nodes the one with the least priority."""
    degree = np.zeros(n, np.int64)
    for e in range(len(to)):
        degree[to[e]] += 1
    ready = [(priority[0], np.int64(0))]
    ready.pop()
    for u in range(n):
        if degree[u] == 0:
            ready.append((priority[u], np.int64(u)))  # noqa: PERF401 - numba
    heapq.heapify(ready)
    tail = 0
    while len(ready) > 0:
        w = heapq.heappop(ready)[1]
        order[tail] = w
        tail += 1
        for e in range(start[w], start[w + 1]):
            degree[to[e]] -= 1
            if degree[to[e]] == 0:
                heapq.heappush(ready, (priority[to[e]], np.int64(to[e])))
    return tail


@allocating
def nearest_first(
    order: Ints, start: Ints, to: Ints, back_start: Ints, after: Ints, before: Ints
) -> None:
    """Neighbours of every node by nearness in the order: successors, and predecessors.

    Shapes:  after (edges,) in runs of `start`; back_start (nodes+1,) of 0 becomes the runs of
             before (edges,). Near ones first, so that a far one is found already reached.
    """
    for e in range(len(to)):
        back_start[to[e] + 1] += 1
    for u in range(len(order)):
        back_start[u + 1] += back_start[u]
    fill = back_start[:-1].copy()
    for q in range(len(order) - 1, -1, -1):
        u = order[q]
        for e in range(start[u], start[u + 1]):
            before[fill[to[e]]] = u
            fill[to[e]] += 1
    fill[:] = start[:-1]
    for q in range(len(order)):
        v = order[q]
        for e in range(back_start[v], back_start[v + 1]):
            after[fill[before[e]]] = v
            fill[before[e]] += 1


@allocating
def reach(
    order: Ints,
    start: Ints,
    after: Ints,
    back_start: Ints,
    before: Ints,
    chain: Ints,
    pos: Ints,
    s0: int,
    first: Array,
    last: Array,
    needed: Array,
) -> None:
    """Fill F and L for the chains s0, s0+1, … of one block of columns.

    Shapes:  first, last (nodes, block) int32; order a topological order of the nodes; needed
             (edges,) beside `after` becomes 0 where other edges imply this one; the rest as
             `nearest_first` made it.
    """
    width = first.shape[1]
    first[:] = FAR
    last[:] = -1
    for q in range(len(order) - 1, -1, -1):
        u = order[q]
        for e in range(start[u], start[u + 1]):
            v = after[e]
            s = chain[v] - s0
            if 0 <= s < width and first[u, s] <= pos[v]:
                needed[e] = 0
                continue
            for s in range(width):
                first[u, s] = min(first[u, s], first[v, s])
        s = chain[u] - s0
        if 0 <= s < width and pos[u] < first[u, s]:
            first[u, s] = pos[u]
    for q in range(len(order)):
        u = order[q]
        for e in range(back_start[u], back_start[u + 1]):
            v = before[e]
            s = chain[v] - s0
            if 0 <= s < width and last[u, s] >= pos[v]:
                continue
            for s in range(width):
                last[u, s] = max(last[u, s], last[v, s])
        s = chain[u] - s0
        if 0 <= s < width and pos[u] > last[u, s]:
            last[u, s] = pos[u]


@inlined
def first_at(pos: Ints, writer: Ints, w: int, half: int, a: int, z: int, x: int) -> int:
    """Return the first of writers a..z (one chain) whose node `half` (0 b, w-1 c) is at x or
    later.
    """
    while a < z:
        middle = (a + z) // 2
        if pos[w * writer[middle] + half] >= x:
            z = middle
        else:
            a = middle + 1
    return a


@inlined
def emit(
    out: Array, m: int, src: int, dst: int, kind: int, k: int, rule: int, i: int, j: int, r: int
) -> int:
    """Write row m of `out` if there is room for it; the next row."""
    if m < len(out):
        out[m, 0], out[m, 1], out[m, 2], out[m, 3] = src, dst, kind, k
        out[m, 4], out[m, 5], out[m, 6], out[m, 7] = rule, i, j, r
    return m + 1


@allocating
def rule_one(
    first: Array,
    last: Array,
    s0: int,
    pos: Ints,
    x: Index,
    out: Ints,
    m: int,
) -> int:
    """Return new edges of rule 1 (snapshots only); see `rules` for the shapes."""
    writer, writer_key, by_key = x.writer, x.writer_key, x.by_key
    group, group_chain = x.group, x.group_chain
    for q in range(len(writer)):
        i = writer[q]
        b, c = 2 * i, 2 * i + 1
        for g in range(by_key[writer_key[q]], by_key[writer_key[q] + 1]):
            s = group_chain[g] - s0
            if s < 0 or s >= first.shape[1]:
                continue
            at = first_at(pos, writer, 2, 0, group[g], group[g + 1], last[c, s] + 1) - 1
            if at >= group[g] and writer[at] == i:
                at -= 1
            if at >= group[g] and pos[2 * writer[at] + 1] > last[b, s]:
                j = writer[at]
                m = emit(out, m, 2 * j + 1, b, _WW, writer_key[q], 1, i, j, -1)
    return m


@allocating
def rules(
    first: Array,
    last: Array,
    s0: int,
    w: int,
    pos: Ints,
    x: Index,
    out: Ints,
    m: int,
) -> int:
    """Return new edges of rules 2 and 3 for the chains of one block; how many rows `out` now needs.

    Shapes:  out (·, 8): source, target, kind, key, rule, i, j, r.
    Only the nearest writer of each chain is emitted; the chain implies the others.
    """
    writer, by_key, group, group_chain, reads = x.writer, x.by_key, x.group, x.group_chain, x.reads
    d = w - 1
    for q in range(len(reads)):
        r, k, i = reads[q, 0], reads[q, 1], reads[q, 2]
        for g in range(by_key[k], by_key[k + 1]):
            s = group_chain[g] - s0
            if s < 0 or s >= first.shape[1]:
                continue
            a, z = group[g], group[g + 1]
            if i >= 0:
                a = first_at(pos, writer, w, 0, a, z, first[w * i + d, s])
                if a < z and writer[a] == i:
                    a += 1
            if a < z:
                j = writer[a]
                if j != r and first[w * r, s] > pos[w * j + d]:
                    m = emit(out, m, w * r, w * j + d, _RW, k, 2, i, j, r)
            if i >= 0 and last[w * r, s] >= 0:
                a = first_at(pos, writer, w, d, group[g], z, last[w * r, s] + 1) - 1
                if a >= group[g] and writer[a] == r:
                    a -= 1
                if a >= group[g] and writer[a] != i and pos[w * writer[a] + d] > last[w * i, s]:
                    j = writer[a]
                    m = emit(out, m, w * j + d, w * i, _WW, k, 3, i, j, r)
    return m


@allocating
def undecided(
    first: Array,
    last: Array,
    s0: int,
    w: int,
    pos: Ints,
    x: Index,
    out: Ints,
    m: int,
) -> int:
    """Return pairs of writers (q, p), q's transaction the lesser, that nothing orders yet.

    Shapes:  out (·, 2) places in `writer`; returns how many rows it needs.
    """
    writer, writer_key, by_key = x.writer, x.writer_key, x.by_key
    group, group_chain = x.group, x.group_chain
    for q in range(len(writer)):
        i = writer[q]
        for g in range(by_key[writer_key[q]], by_key[writer_key[q] + 1]):
            s = group_chain[g] - s0
            if s < 0 or s >= first.shape[1]:
                continue
            a, z = group[g], group[g + 1]
            lo = first_at(pos, writer, w, w - 1, a, z, last[w * i, s] + 1)
            hi = first_at(pos, writer, w, 0, a, z, first[w * i + w - 1, s])
            for p in range(lo, hi):
                if writer[p] > i:
                    if m < len(out):
                        out[m, 0], out[m, 1] = q, p
                    m += 1
    return m


@allocating
def find_path(
    start: Ints,
    to: Ints,
    edge: Ints,
    batch: Ints,
    newest: int,
    source: int,
    target: int,
    came: Ints,
    queue: Ints,
) -> bool:
    """Return whether edges derived before pass `newest` lead from source to target, shortest first.

    Shapes:  came (nodes,) becomes the edge by which each node was reached, -1 = not.
    """
    came[:] = -1
    queue[0] = source
    head, tail = 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        for e in range(start[u], start[u + 1]):
            v = to[e]
            if batch[edge[e]] < newest and came[v] < 0 and v != source:
                came[v] = edge[e]
                if v == target:
                    return True
                queue[tail] = v
                tail += 1
    return False
