"""Arrays of the conflict-driven search for an orientation of undecided pairs without a cycle.

Glossary: variable x = one undecided pair of transactions; literal 2x its lesser transaction
first, 2x+1 the other way round. An assigned literal switches its edges on. `rank` is kept a
topological order of the edges that are on (Pearce and Kelly, JEA 2007); an edge that closes a
cycle yields a conflict: the literals of that cycle. Learning is first-UIP (Marques-Silva and
Sakallah 1996), variables move to front (Ryan 2004), and the first guess for a pair is what the
current order says, so that a valid history meets few conflicts. A conflict that would undo many
levels undoes one instead, so that the trail is not sorted by level (Nadel and Ryvchin, SAT 2018).
Slow twin: statewalk.checker.history.explain.prove, which tries both orders of each pair.
"""

from __future__ import annotations

from typing import NamedTuple

from statewalk.checker.history.data import Array, Ints
from statewalk.checker.machine.compiling import inlined

UNSAT, SAT, MORE = 0, 1, 2
(
    TRAIL,
    HEAD,
    EDGE_HEAD,
    LEVEL,
    ON,
    CLAUSES,
    USED,
    STAMP,
    FRONT,
    NEXT,
    CLOCK,
    CONFLICTS,
    DECISIONS,
    REORDERS,
    PAUSE,
) = range(15)
REGISTERS = 15


class SolverState(NamedTuple):
    """All arrays of one search; statewalk.checker.history.decide.search.start makes them.

    Shapes:  per variable value, level, reason, seen, later, earlier, stamp, one, two; per node
             rank, out_head, in_head, mark, back_mark, parent, by_edge, queue, back_queue, used;
             per edge src, dst, literal, out_next, in_next, stack; per literal first (+1), watch;
             clauses flat in arena from clause_at; level_trail per level the length of the trail
             before it; trail_edges per place on the trail the edges that were on before.
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
    trail_edges: Ints
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


@inlined
def assign(s: SolverState, literal: int, reason: int, level: int) -> None:
    """Make a literal true at a level, at most the current one; reason: a clause, or -1."""
    x = literal >> 1
    s.value[x] = 1 - (literal & 1)
    s.level[x] = level
    s.reason[x] = reason
    s.trail[s.reg[TRAIL]] = literal
    s.reg[TRAIL] += 1
