"""Searches in plain Python, without statewalk: (distinct, generated, depth) of three specs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import product
from typing import TypeVar

S = TypeVar("S", bound=Hashable)
Prisoners = tuple[int, bool, int, int, int, frozenset[int]]
Nodes = tuple[int, bool, tuple[bool, ...], tuple[bool, ...]]


def search(initial: Iterable[S], steps: Callable[[S], Iterable[S]]) -> tuple[int, ...]:
    level = list(dict.fromkeys(initial))
    seen = set(level)
    generated, depth = len(level), 0
    while level:
        depth += 1
        following = []
        for state in level:
            for successor in steps(state):
                generated += 1
                if successor not in seen:
                    seen.add(successor)
                    following.append(successor)
        level = following
    return len(seen), generated, depth


def lamp() -> tuple[int, ...]:
    """Three prisoners and a lamp, of which nobody knows how it is at first."""

    def steps(state: Prisoners) -> Iterator[Prisoners]:
        count, announced, one, two, lit, visited = state
        heard, dark = (count + 1, 0) if lit else (count, lit)
        yield heard, heard >= 5, one, two, dark, visited | {0}
        for who, signals in ((1, one), (2, two)):
            now = visited | {who}
            if not lit and signals < 2:
                yield count, announced, one + (who == 1), two + (who == 2), 1, now
            else:
                yield count, announced, one, two, lit, now

    return search([(1, False, 0, 0, lit, frozenset[int]()) for lit in (0, 1)], steps)


def tree() -> tuple[int, ...]:
    """A spanning tree of the graph of five nodes, by smaller and smaller distances."""
    edges = {(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4)}
    beside = {n: [b for a, b in edges | {(b, a) for a, b in edges} if a == n] for n in range(5)}

    def steps(state: tuple[tuple[int, int], ...]) -> Iterator[tuple[tuple[int, int], ...]]:
        for node, other in ((n, m) for n in beside for m in beside[n]):
            for distance in range(state[other][0] + 1, state[node][0]):
                yield (*state[:node], (distance, other), *state[node + 1 :])

    first: tuple[tuple[int, int], ...] = ((0, 0), (6, 1), (6, 2), (6, 3), (6, 4))
    return search([first], steps)


def ring() -> tuple[int, ...]:
    """EWD 840 with three nodes; a step counts once for each reason to take it."""

    def put(values: tuple[bool, ...], at: int, value: bool) -> tuple[bool, ...]:
        return (*values[:at], value, *values[at + 1 :])

    def steps(state: Nodes) -> Iterator[Nodes]:
        at, black, active, stained = state
        reasons = black + stained[at] + (at != 0 and not active[at])
        clean = put(stained, at, False)
        for _ in range(reasons):
            yield (at - 1, black or stained[at], active, clean) if at else (2, False, active, clean)
        for node in (n for n in range(3) if active[n]):
            yield at, black, put(active, node, False), stained
            for other in (n for n in range(3) if n != node):
                marked = put(stained, node, other > node or stained[node])
                yield at, black, put(active, other, True), marked

    flags = list(product((False, True), repeat=3))
    return search([(at, True, a, s) for at in range(3) for a in flags for s in flags], steps)
