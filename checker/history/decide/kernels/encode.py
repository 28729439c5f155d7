"""Kernels that write the edges of version orders: of one guess, or of each undecided pair.

Glossary as in reach_kernels. Slow twin: dsl.library.isolation, edges of a known version order.
"""

from __future__ import annotations

import numpy as np

from statewalk.checker.history.data import Ints
from statewalk.checker.history.decide.kernels.reach import Index
from statewalk.checker.machine.compiling import allocating


@allocating
def next_writers(
    w: int,
    place: Ints,
    index: Index,
    turn: Ints,
) -> tuple[Ints, Ints]:
    """Return edges of the version order `place`: each writer, and its readers, before the next.

    Shapes:  place (q,) places in `writer`, by key and then by turn; turn: scratch per
             transaction; returns edges (·, 2) and, row by row, the pair of places in `writer`
             whose order they stand for (-1 where it is the initial version's).
    """
    writer, key_at, reads, read_at = index.writer, index.key_at, index.reads, index.read_at
    room = len(place) + len(reads)
    edges, pairs = np.empty((room, 2), np.int64), np.full((room, 2), -1, np.int64)
    m = 0
    for k in range(len(key_at) - 1):
        a, z = key_at[k], key_at[k + 1]
        for x in range(a, z):
            turn[writer[place[x]]] = x
            if x > a:
                edges[m, 0] = w * writer[place[x - 1]] + w - 1
                edges[m, 1] = w * writer[place[x]]
                pairs[m, 0], pairs[m, 1] = place[x - 1], place[x]
                m += 1
        for q in range(read_at[k], read_at[k + 1]):
            r, i = reads[q, 0], reads[q, 2]
            x = turn[i] + 1 if i >= 0 else a
            if x < z and writer[place[x]] != r:
                edges[m, 0] = w * r
                edges[m, 1] = w * writer[place[x]] + w - 1
                if i >= 0:
                    pairs[m, 0], pairs[m, 1] = place[x - 1], place[x]
                m += 1
    return edges[:m], pairs[:m]


@allocating
def encode(
    w: int,
    pairs: Ints,
    variable: Ints,
    writer: Ints,
    reader_at: Ints,
    readers: Ints,
    done: Ints,
    out: Ints,
) -> int:
    """Return edges of both literals of every pair; how many.

    Shapes:  pairs (·, 2) places in `writer`; variable (·,) of each pair; reader_at (q+1,) runs
             of `readers` by place in `writer`; done (variables,) scratch of 0; out (·, 3)
             literal, source, target. The ww edge of a variable is written once.
    """
    m, d = 0, w - 1
    for x in range(len(pairs)):
        for side in range(2):
            q, p = pairs[x, side], pairs[x, 1 - side]
            i, j, literal = writer[q], writer[p], 2 * variable[x] + side
            if done[variable[x]] < 2:
                done[variable[x]] += 1
                out[m, 0], out[m, 1], out[m, 2] = literal, w * i + d, w * j
                m += 1
            for y in range(reader_at[q], reader_at[q + 1]):
                if readers[y] != j:
                    out[m, 0], out[m, 1], out[m, 2] = literal, w * readers[y], w * j + d
                    m += 1
    return m
