"""Version orders to try before any search: as one order of all transactions suggests them.

The order is topological, by recorded time or place where free, or comes from running the known
graph as a store would. Whether the guess fits is tested in linear time.
"""

from __future__ import annotations

import numpy as np

from statewalk.checker.history.data import Bools, Floats, Ints
from statewalk.checker.history.decide.graph import Graph, neighbours, order_by, ranks
from statewalk.checker.history.decide.kernels.encode import next_writers
from statewalk.checker.history.decide.kernels.order import FREE, OrderSearch, execute

_TURNS = 20  # per node and edge


def first_guess(graph: Graph, priority: Floats) -> Ints:
    """Return a witness order by the version orders that `priority` suggests; empty when they
    fail.
    """
    base = graph.edges[:, :2]
    order = order_by(graph.size, base[:, 0].copy(), base[:, 1].copy(), priority)
    return try_order(graph, base, order, priority)[0]


def try_order(graph: Graph, base: Ints, order: Ints, priority: Floats) -> tuple[Ints, Ints]:
    """Try the version orders that `order` gives: (an order that fits, or the pairs to settle)."""
    x, w = graph.index, graph.w
    rank = ranks(order)
    place = np.lexsort((rank[w * x.writer + w - 1], x.writer_key))
    edges, pairs = next_writers(w, place, x, np.empty(graph.n, np.int64))
    src = np.concatenate((base[:, 0], edges[:, 0]))
    dst = np.concatenate((base[:, 1], edges[:, 1]))
    found = order_by(graph.size, src, dst, priority)
    if len(found) == graph.size:
        return found, pairs[:0]
    left = ~placed_in(found, graph.size)
    onto = left[edges[:, 0]] & left[edges[:, 1]] & (pairs[:, 0] >= 0)
    chosen = pairs[onto]
    swap = x.writer[chosen[:, 0]] > x.writer[chosen[:, 1]]
    chosen[swap] = chosen[swap][:, ::-1]
    return found[:0], np.unique(chosen, axis=0)


def executed(graph: Graph, base: Ints, priority: Floats) -> Ints:
    """Return the nodes as a store might run them, by priority where free: see
    `decide.kernels.order`.
    """
    x, w, n = graph.index, graph.w, graph.n
    reader_at, readers, slot = readers_of(graph)
    slots = np.argsort(x.writer, kind="stable")
    initial = x.reads[:, 2] < 0
    read_slot = -1 - x.reads[:, 1]
    read_slot[~initial] = slot
    by_reader = np.argsort(x.reads[:, 0], kind="stable")
    src, dst = base[:, 0].copy(), base[:, 1].copy()
    down, up = neighbours(graph.size, src, dst), neighbours(graph.size, dst, src)
    keys, order = len(x.key_at) - 1, np.empty(graph.size, np.int64)
    run = OrderSearch(
        w=w,
        n=n,
        write_at=np.searchsorted(x.writer[slots], np.arange(n + 1)),
        slots=slots,
        read_at=np.searchsorted(x.reads[by_reader, 0], np.arange(n + 1)),
        read_slot=read_slot[by_reader],
        key_of=x.writer_key,
        reader_at=reader_at,
        readers=readers,
        now=np.full(keys, -1, np.int64),
        pending=np.bincount(x.reads[initial, 1], minlength=keys),
        held=np.zeros(keys, np.int64),
        waiting=np.full(keys, -1, np.int64),
        degree=np.bincount(dst, minlength=graph.size),
        following=np.full(graph.size, FREE, np.int64),
        placed=np.zeros(graph.size, np.int8),
        urgent=ranks(np.argsort(priority, kind="stable")).astype(np.float64),
    )
    turns = _TURNS * (graph.size + len(base))
    return order[: execute(run, down[0], down[1], up[0], up[1], turns, order)]


def readers_of(graph: Graph) -> tuple[Ints, Ints, Ints]:
    """Readers by place in index.writer: runs and readers; and the place of each known read."""
    x = graph.index
    keys = len(x.key_at) - 1
    code = x.writer * keys + x.writer_key
    by_code = np.argsort(code)
    known = x.reads[x.reads[:, 2] >= 0]
    slot = by_code[np.searchsorted(code[by_code], known[:, 2] * keys + known[:, 1])]
    by_slot = np.argsort(slot, kind="stable")
    reader_at = np.searchsorted(slot[by_slot], np.arange(len(code) + 1))
    return reader_at, known[by_slot, 0].copy(), slot


def placed_in(order: Ints, size: int) -> Bools:
    """Return which of `size` nodes an order has."""
    placed = np.zeros(size, bool)
    placed[order] = True
    return placed
