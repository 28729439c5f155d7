"""Kernels of incremental acyclicity: switch an edge on, keep the order, or find the cycle.

Glossary in cdcl_state. Source: Pearce and Kelly (JEA 2007). Slow twin:
checker.history.explain.prove.
"""

from __future__ import annotations

from statewalk.checker.history.data import Ints
from statewalk.checker.history.decide.kernels.cdcl_state import ON, REORDERS, STAMP, SolverState
from statewalk.checker.machine.compiling import inlined


@inlined
def _visit(s: SolverState, y: int, x: int, edge: int, tail: int, limit: int) -> int:
    """Add y, reached from x, to the forward queue unless seen or beyond the limit."""
    if s.mark[y] != s.reg[STAMP] and s.rank[y] <= limit:
        s.mark[y] = s.reg[STAMP]
        s.parent[y] = x
        s.by_edge[y] = edge
        s.queue[tail] = y
        tail += 1
    return tail


@inlined
def _forward(s: SolverState, u: int, v: int) -> int:
    """Return nodes reached from v that rank up to u; their number, or -1 when u is among them."""
    s.reg[STAMP] += 1
    s.mark[v] = s.reg[STAMP]
    s.parent[v] = -1
    s.queue[0] = v
    head, tail, limit = 0, 1, s.rank[u]
    while head < tail:
        x = s.queue[head]
        head += 1
        for e in range(s.start[x], s.start[x + 1]):
            tail = _visit(s, s.to[e], x, -1, tail, limit)
        e = s.out_head[x]
        while e >= 0:
            tail = _visit(s, s.dst[e], x, e, tail, limit)
            e = s.out_next[e]
        if s.mark[u] == s.reg[STAMP]:
            return -1
    return tail


@inlined
def _backward(s: SolverState, u: int, v: int) -> int:
    """Return nodes that reach u and rank from v on; their number."""
    s.back_mark[u] = s.reg[STAMP]
    s.back_queue[0] = u
    head, tail, limit = 0, 1, s.rank[v]
    while head < tail:
        x = s.back_queue[head]
        head += 1
        for e in range(s.back_start[x], s.back_start[x + 1]):
            y = s.back_to[e]
            if s.back_mark[y] != s.reg[STAMP] and s.rank[y] >= limit:
                s.back_mark[y] = s.reg[STAMP]
                s.back_queue[tail] = y
                tail += 1
        e = s.in_head[x]
        while e >= 0:
            y = s.src[e]
            if s.back_mark[y] != s.reg[STAMP] and s.rank[y] >= limit:
                s.back_mark[y] = s.reg[STAMP]
                s.back_queue[tail] = y
                tail += 1
            e = s.in_next[e]
    return tail


@inlined
def _sink(s: SolverState, nodes: Ints, at: int, end: int) -> None:
    """Let a node sink in a heap of nodes, the highest rank on top."""
    node = nodes[at]
    while 2 * at + 1 < end:
        below = 2 * at + 1
        if below + 1 < end and s.rank[nodes[below]] < s.rank[nodes[below + 1]]:
            below += 1
        if s.rank[nodes[below]] < s.rank[node]:
            break
        nodes[at] = nodes[below]
        at = below
    nodes[at] = node


@inlined
def _by_rank(s: SolverState, nodes: Ints, size: int) -> None:
    """Sort nodes by rank. (Numba's own sorting allocates, and takes seconds to compile.)"""
    for at in range(size // 2 - 1, -1, -1):
        _sink(s, nodes, at, size)
    for end in range(size - 1, 0, -1):
        nodes[0], nodes[end] = nodes[end], nodes[0]
        _sink(s, nodes, 0, end)


@inlined
def _reorder(s: SolverState, ahead: int, behind: int) -> None:
    """Give the ranks of both node sets first to what reaches u, then to what v reaches."""
    _by_rank(s, s.queue, ahead)
    _by_rank(s, s.back_queue, behind)
    ranks = s.parent  # of use again when the next edge is looked at
    x = y = 0
    for at in range(ahead + behind):
        if y == ahead or (x < behind and s.rank[s.back_queue[x]] < s.rank[s.queue[y]]):
            ranks[at] = s.rank[s.back_queue[x]]
            x += 1
        else:
            ranks[at] = s.rank[s.queue[y]]
            y += 1
    for at in range(behind):
        s.rank[s.back_queue[at]] = ranks[at]
    for at in range(ahead):
        s.rank[s.queue[at]] = ranks[behind + at]
    s.reg[REORDERS] += 1


@inlined
def _cycle(s: SolverState, u: int, literal: int) -> int:
    """Return the literals on the path that _forward found to u, after `literal`; how many."""
    size = 1
    s.conflict[0] = literal
    s.seen[literal >> 1] = 1
    y = u
    s.used[y] = 1
    while s.parent[y] >= 0:
        if s.by_edge[y] >= 0:
            q = s.literal[s.by_edge[y]]
            if s.seen[q >> 1] == 0:
                s.seen[q >> 1] = 1
                s.conflict[size] = q
                size += 1
        y = s.parent[y]
        s.used[y] = 1
    for x in range(size):
        s.seen[s.conflict[x] >> 1] = 0
    return size


@inlined
def edges_of(s: SolverState, literal: int) -> int:
    """Switch the edges of a literal on; size of a conflict, or -1."""
    for e in range(s.first[literal], s.first[literal + 1]):
        u, v = s.src[e], s.dst[e]
        if s.rank[u] > s.rank[v]:
            ahead = _forward(s, u, v)
            if ahead < 0:
                return _cycle(s, u, literal)
            _reorder(s, ahead, _backward(s, u, v))
        s.out_next[e] = s.out_head[u]
        s.out_head[u] = e
        s.in_next[e] = s.in_head[v]
        s.in_head[v] = e
        s.stack[s.reg[ON]] = e
        s.reg[ON] += 1
    return -1
