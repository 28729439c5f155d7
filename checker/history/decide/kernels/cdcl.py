"""Kernels of the conflict-driven search: clauses, edges, learning from cycles, decisions.

Glossary and sources in cdcl_state. Slow twin: checker.history.explain.prove, which tries both
orders.
"""

from __future__ import annotations

from statewalk.checker.history.decide.kernels.acyclic import edges_of
from statewalk.checker.history.decide.kernels.cdcl_state import (
    CLAUSES,
    CLOCK,
    CONFLICTS,
    DECISIONS,
    EDGE_HEAD,
    FRONT,
    HEAD,
    LEVEL,
    MORE,
    NEXT,
    ON,
    PAUSE,
    SAT,
    TRAIL,
    UNSAT,
    USED,
    SolverState,
    assign,
)
from statewalk.checker.machine.compiling import inlined, kernel

_FAR = 10  # levels; more than this many are not undone for one conflict


@inlined
def _is_false(s: SolverState, literal: int) -> bool:
    return bool(s.value[literal >> 1] == (literal & 1))


@inlined
def _move_watch(s: SolverState, w: int, at: int, stop: int, false: int) -> bool:
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


@inlined
def _highest(s: SolverState, at: int, stop: int) -> int:
    """Return the highest level among the literals arena[at:stop]."""
    level = 0
    for x in range(at, stop):
        level = max(level, s.level[s.arena[x] >> 1])
    return level


@inlined
def clauses_of(s: SolverState, false: int) -> int:
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
            assign(s, other, c, _highest(s, at + 1, stop))
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


@inlined
def _propagate(s: SolverState) -> int:
    """Follow every assignment, clauses before edges; size of a conflict, or -1."""
    while True:
        size = -1
        if s.reg[HEAD] < s.reg[TRAIL]:
            s.reg[HEAD] += 1
            size = clauses_of(s, s.trail[s.reg[HEAD] - 1] ^ 1)
        elif s.reg[EDGE_HEAD] < s.reg[TRAIL]:
            s.trail_edges[s.reg[EDGE_HEAD]] = s.reg[ON]
            s.reg[EDGE_HEAD] += 1
            size = edges_of(s, s.trail[s.reg[EDGE_HEAD] - 1])
        else:
            return -1
        if size >= 0:
            return size


@inlined
def _meet(s: SolverState, literal: int, top: int, size: int) -> tuple[int, int]:
    """Take one literal of a conflict into the analysis; (learnt size, 1 if of the top level)."""
    x = literal >> 1
    if s.seen[x] or s.level[x] == 0:
        return size, 0
    s.seen[x] = 1
    if s.level[x] == top:
        return size, 1
    s.learnt[size] = literal ^ 1
    return size + 1, 0


@inlined
def _analyse(s: SolverState, size: int, top: int) -> int:
    """Return the first-UIP clause of a conflict in `learnt`, asserting literal first; its size."""
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


@inlined
def backtrack(s: SolverState, level: int) -> None:
    """Undo the assignments above a level, and the edges since its end.

    Later assignments of lower levels stay; they are to be propagated again.
    """
    reg, at = s.reg, s.level_trail[level]
    if reg[EDGE_HEAD] > at:
        while reg[ON] > s.trail_edges[at]:
            reg[ON] -= 1
            e = s.stack[reg[ON]]
            s.out_head[s.src[e]] = s.out_next[e]
            s.in_head[s.dst[e]] = s.in_next[e]
    kept = at
    for place in range(at, reg[TRAIL]):
        x = s.trail[place] >> 1
        if s.level[x] <= level:
            s.trail[kept] = s.trail[place]
            kept += 1
            continue
        s.value[x] = -1
        s.reason[x] = -1
        if s.stamp[x] > s.stamp[reg[NEXT]]:
            reg[NEXT] = x
    reg[TRAIL] = kept
    reg[LEVEL] = level
    reg[HEAD] = reg[EDGE_HEAD] = at


@inlined
def _to_front(s: SolverState, x: int) -> None:
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


@inlined
def _remember(s: SolverState, size: int) -> int:
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


@inlined
def resolve(s: SolverState, size: int) -> bool:
    """Learn from a conflict and go back; False when there is nothing to go back to."""
    s.reg[CONFLICTS] += 1
    top = 0
    for x in range(size):
        top = max(top, s.level[s.conflict[x] >> 1])
    if top == 0:
        return False
    if top < s.reg[LEVEL]:
        backtrack(s, top)
    n = _analyse(s, size, top)
    level, at = 0, 1
    for x in range(1, n):
        if s.level[s.learnt[x] >> 1] > level:
            level = s.level[s.learnt[x] >> 1]
            at = x
    backtrack(s, top - 1 if top - level > _FAR else level)
    for x in range(n):
        _to_front(s, s.learnt[x] >> 1)
    s.reg[NEXT] = s.learnt[0] >> 1
    c = -1
    if n > 1:
        s.learnt[1], s.learnt[at] = s.learnt[at], s.learnt[1]
        c = _remember(s, n)
    assign(s, s.learnt[0], c, level)
    return True


@inlined
def _decide(s: SolverState) -> bool:
    """Assign the next free variable as the current order has it; False when none is free."""
    x = s.reg[NEXT]
    while x >= 0 and s.value[x] >= 0:
        x = s.later[x]
    if x < 0:
        return False
    s.reg[NEXT] = x
    s.level_trail[s.reg[LEVEL]] = s.reg[TRAIL]
    s.reg[LEVEL] += 1
    s.reg[DECISIONS] += 1
    assign(s, 2 * x if s.rank[s.one[x]] < s.rank[s.two[x]] else 2 * x + 1, -1, s.reg[LEVEL])
    return True


@kernel
def run(s: SolverState) -> int:
    """Search until SAT (rank is the witness), UNSAT, or MORE: room or a pause is needed."""
    while True:
        if (
            s.reg[USED] + len(s.value) + 2 > len(s.arena)
            or s.reg[CLAUSES] + 2 > len(s.clause_at)
            or s.reg[CONFLICTS] > s.reg[PAUSE]
        ):
            return MORE
        size = _propagate(s)
        if size >= 0:
            if not resolve(s, size):
                return UNSAT
        elif not _decide(s):
            return SAT


@kernel
def refuse(s: SolverState, size: int) -> bool:
    """Learn from a conflict found outside, of literals that are all true; False: no way out."""
    return resolve(s, size)
