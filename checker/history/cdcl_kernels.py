"""Kernel: conflict-driven search for an orientation of undecided pairs without a cycle.

Glossary: variable x = one undecided pair of transactions; literal 2x its lesser transaction
first, 2x+1 the other way round. An assigned literal switches its edges on. `rank` is kept a
topological order of the edges that are on (Pearce and Kelly, JEA 2007); an edge that closes a
cycle yields a conflict: the literals of that cycle. Learning is first-UIP (Marques-Silva and
Sakallah 1996), variables move to front (Ryan 2004), and the first guess for a pair is what the
current order says, so that a valid history meets few conflicts.
Slow twin: checker.history.prove, which tries both orders of each pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from checker.history.data import Array, Ints
from checker.history.jit import kernel

UNSAT, SAT, MORE = 0, 1, 2
(TRAIL, HEAD, EDGE_HEAD, LEVEL, ON, CLAUSES, USED, STAMP, FRONT, NEXT, CLOCK, CONFLICTS,
 DECISIONS, REORDERS, PAUSE) = range(15)
REGISTERS = 15


class Search(NamedTuple):
    """All arrays of one search; checker.history.search.start makes them.

    Shapes:  per variable value, level, reason, seen, later, earlier, stamp, one, two; per node
             rank, out_head, in_head, mark, back_mark, parent, by_edge, queue, back_queue, used;
             per edge src, dst, literal, out_next, in_next, stack; per literal first (+1), watch;
             clauses flat in arena from clause_at; level_trail and level_edges per level.
    """

    value: Array
    level: Ints
    reason: Ints
    seen: Ints
    later: Ints
    earlier: Ints
    stamp: Ints
    one: Ints
    two: Ints
    trail: Ints
    level_trail: Ints
    level_edges: Ints
    conflict: Ints
    learnt: Ints
    first: Ints
    watch: Ints
    src: Ints
    dst: Ints
    literal: Ints
    out_next: Ints
    in_next: Ints
    stack: Ints
    rank: Ints
    out_head: Ints
    in_head: Ints
    mark: Ints
    back_mark: Ints
    parent: Ints
    by_edge: Ints
    queue: Ints
    back_queue: Ints
    used: Array
    start: Ints
    to: Ints
    back_start: Ints
    back_to: Ints
    arena: Ints
    clause_at: Ints
    watch_next: Ints
    reg: Ints


@kernel
def _assign(s: Search, literal: int, reason: int) -> None:
    x = literal >> 1
    s.value[x] = 1 - (literal & 1)
    s.level[x] = s.reg[LEVEL]
    s.reason[x] = reason
    s.trail[s.reg[TRAIL]] = literal
    s.reg[TRAIL] += 1


@kernel
def _is_false(s: Search, literal: int) -> bool:
    return s.value[literal >> 1] == (literal & 1)


@kernel
def _move_watch(s: Search, w: int, at: int, stop: int, false: int) -> bool:
    """Give watch w another literal that is not false; its clause is arena[at:stop]."""
    for x in range(at + 2, stop):
        if not _is_false(s, s.arena[x]):
            other = s.arena[x]
            s.arena[x] = false
            s.arena[at + 1] = other
            s.watch_next[w] = s.watch[other]
            s.watch[other] = w
            return True
    return False


@kernel
def _clauses_of(s: Search, false: int) -> int:
    """Visit the clauses that watch a literal that became false; size of a conflict, or -1."""
    w = s.watch[false]
    s.watch[false] = -1
    while w >= 0:
        following = s.watch_next[w]
        c = w >> 1
        at, stop = s.clause_at[c], s.clause_at[c + 1]
        if s.arena[at] == false:
            s.arena[at] = s.arena[at + 1]
            s.arena[at + 1] = false
        other = s.arena[at]
        true = s.value[other >> 1] >= 0 and not _is_false(s, other)
        if not true and _move_watch(s, w, at, stop, false):
            w = following
            continue
        s.watch_next[w] = s.watch[false]
        s.watch[false] = w
        w = following
        if true:
            continue
        if s.value[other >> 1] < 0:
            _assign(s, other, c)
            continue
        while w >= 0:  # put the rest of the list back
            following = s.watch_next[w]
            s.watch_next[w] = s.watch[false]
            s.watch[false] = w
            w = following
        for x in range(at, stop):
            s.conflict[x - at] = s.arena[x] ^ 1
        return int(stop - at)
    return -1


@kernel
def _visit(s: Search, y: int, x: int, edge: int, tail: int, limit: int) -> int:
    """Add y, reached from x, to the forward queue unless seen or beyond the limit."""
    if s.mark[y] != s.reg[STAMP] and s.rank[y] <= limit:
        s.mark[y] = s.reg[STAMP]
        s.parent[y] = x
        s.by_edge[y] = edge
        s.queue[tail] = y
        tail += 1
    return tail


@kernel
def _forward(s: Search, u: int, v: int) -> int:
    """Nodes reached from v that rank up to u; their number, or -1 when u is among them."""
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


@kernel
def _backward(s: Search, u: int, v: int) -> int:
    """Nodes that reach u and rank from v on; their number."""
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


@kernel
def _reorder(s: Search, ahead: int, behind: int) -> None:
    """Give the ranks of both node sets first to what reaches u, then to what v reaches."""
    ranks = np.empty(ahead + behind, np.int64)
    old_behind, old_ahead = np.empty(behind, np.int64), np.empty(ahead, np.int64)
    for x in range(behind):
        old_behind[x] = s.rank[s.back_queue[x]]
        ranks[x] = old_behind[x]
    for x in range(ahead):
        old_ahead[x] = s.rank[s.queue[x]]
        ranks[behind + x] = old_ahead[x]
    ranks.sort()
    by_behind, by_ahead = np.argsort(old_behind), np.argsort(old_ahead)
    for x in range(behind):
        s.rank[s.back_queue[by_behind[x]]] = ranks[x]
    for x in range(ahead):
        s.rank[s.queue[by_ahead[x]]] = ranks[behind + x]
    s.reg[REORDERS] += 1


@kernel
def _cycle(s: Search, u: int, literal: int) -> int:
    """The literals on the path that _forward found to u, after `literal`; how many."""
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


@kernel
def _edges_of(s: Search, literal: int) -> int:
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


@kernel
def _propagate(s: Search) -> int:
    """Follow every assignment, clauses before edges; size of a conflict, or -1."""
    while True:
        size = -1
        if s.reg[HEAD] < s.reg[TRAIL]:
            s.reg[HEAD] += 1
            size = _clauses_of(s, s.trail[s.reg[HEAD] - 1] ^ 1)
        elif s.reg[EDGE_HEAD] < s.reg[TRAIL]:
            s.reg[EDGE_HEAD] += 1
            size = _edges_of(s, s.trail[s.reg[EDGE_HEAD] - 1])
        else:
            return -1
        if size >= 0:
            return size


@kernel
def _meet(s: Search, literal: int, top: int, size: int) -> tuple[int, int]:
    """Take one literal of a conflict into the analysis; (learnt size, 1 if of the top level)."""
    x = literal >> 1
    if s.seen[x] or s.level[x] == 0:
        return size, 0
    s.seen[x] = 1
    if s.level[x] == top:
        return size, 1
    s.learnt[size] = literal ^ 1
    return size + 1, 0


@kernel
def _analyse(s: Search, size: int, top: int) -> int:
    """The first-UIP clause of a conflict in `learnt`, asserting literal first; its size."""
    learnt, open_ = 1, 0
    for x in range(size):
        learnt, more = _meet(s, s.conflict[x], top, learnt)
        open_ += more
    at = s.reg[TRAIL] - 1
    while True:
        while not s.seen[s.trail[at] >> 1] or s.level[s.trail[at] >> 1] != top:
            at -= 1
        pivot = s.trail[at]
        at -= 1
        open_ -= 1
        if open_ == 0:
            break
        c = s.reason[pivot >> 1]
        for x in range(s.clause_at[c], s.clause_at[c + 1]):
            if s.arena[x] >> 1 != pivot >> 1:
                learnt, more = _meet(s, s.arena[x] ^ 1, top, learnt)
                open_ += more
    s.learnt[0] = pivot ^ 1
    for x in range(learnt):
        s.seen[s.learnt[x] >> 1] = 0
    for x in range(at + 1, s.reg[TRAIL]):
        s.seen[s.trail[x] >> 1] = 0
    return learnt


@kernel
def _backjump(s: Search, level: int) -> None:
    """Undo assignments and edges above a level."""
    reg = s.reg
    while reg[ON] > s.level_edges[level]:
        reg[ON] -= 1
        e = s.stack[reg[ON]]
        s.out_head[s.src[e]] = s.out_next[e]
        s.in_head[s.dst[e]] = s.in_next[e]
    while reg[TRAIL] > s.level_trail[level]:
        reg[TRAIL] -= 1
        x = s.trail[reg[TRAIL]] >> 1
        s.value[x] = -1
        s.reason[x] = -1
        if s.stamp[x] > s.stamp[reg[NEXT]]:
            reg[NEXT] = x
    reg[LEVEL] = level
    reg[HEAD] = reg[EDGE_HEAD] = reg[TRAIL]


@kernel
def _to_front(s: Search, x: int) -> None:
    """Move a variable to the front of the decision queue."""
    if s.reg[FRONT] == x:
        return
    a, b = s.earlier[x], s.later[x]
    if a >= 0:
        s.later[a] = b
    if b >= 0:
        s.earlier[b] = a
    s.later[x] = s.reg[FRONT]
    s.earlier[s.reg[FRONT]] = x
    s.earlier[x] = -1
    s.reg[FRONT] = x
    s.stamp[x] = s.reg[CLOCK]
    s.reg[CLOCK] += 1


@kernel
def _remember(s: Search, size: int) -> int:
    """Store the learnt clause with its two watches; its number."""
    c, used = s.reg[CLAUSES], s.reg[USED]
    for x in range(size):
        s.arena[used + x] = s.learnt[x]
    s.clause_at[c] = used
    s.clause_at[c + 1] = used + size
    s.reg[USED] += size
    s.reg[CLAUSES] += 1
    for x in range(2):
        s.watch_next[2 * c + x] = s.watch[s.learnt[x]]
        s.watch[s.learnt[x]] = 2 * c + x
    return int(c)


@kernel
def _resolve(s: Search, size: int) -> bool:
    """Learn from a conflict and jump back; False when there is nothing to jump back to."""
    s.reg[CONFLICTS] += 1
    top = 0
    for x in range(size):
        top = max(top, s.level[s.conflict[x] >> 1])
    if top == 0:
        return False
    n = _analyse(s, size, top)
    level, at = 0, 1
    for x in range(1, n):
        if s.level[s.learnt[x] >> 1] > level:
            level = s.level[s.learnt[x] >> 1]
            at = x
    _backjump(s, level)
    for x in range(n):
        _to_front(s, s.learnt[x] >> 1)
    s.reg[NEXT] = s.reg[FRONT]
    c = -1
    if n > 1:
        s.learnt[1], s.learnt[at] = s.learnt[at], s.learnt[1]
        c = _remember(s, n)
    _assign(s, s.learnt[0], c)
    return True


@kernel
def _decide(s: Search) -> bool:
    """Assign the next free variable as the current order has it; False when none is free."""
    x = s.reg[NEXT]
    while x >= 0 and s.value[x] >= 0:
        x = s.later[x]
    if x < 0:
        return False
    s.reg[NEXT] = x
    s.level_trail[s.reg[LEVEL]] = s.reg[TRAIL]
    s.level_edges[s.reg[LEVEL]] = s.reg[ON]
    s.reg[LEVEL] += 1
    s.reg[DECISIONS] += 1
    _assign(s, 2 * x if s.rank[s.one[x]] < s.rank[s.two[x]] else 2 * x + 1, -1)
    return True


@kernel
def run(s: Search) -> int:
    """Search until SAT (rank is the witness), UNSAT, or MORE: room or a pause is needed."""
    while True:
        if (s.reg[USED] + len(s.value) + 2 > len(s.arena)
                or s.reg[CLAUSES] + 2 > len(s.clause_at) or s.reg[CONFLICTS] > s.reg[PAUSE]):
            return MORE
        size = _propagate(s)
        if size >= 0:
            if not _resolve(s, size):
                return UNSAT
        elif not _decide(s):
            return SAT
