"""Kernel that runs the known graph as a store would: a topological order that keeps versions.

A commit waits while someone still has to read the version it would replace, and a begin waits
while another writer of its keys is active. Where everybody waits, one goes on regardless, so
the order is only a proposal, which others test. Whoever is needed by a reader of a current
version goes first. Slow twin: checker.history.certify.replay, which refuses instead of waiting.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from statewalk.checker.history.data import Array, Floats, Ints
from statewalk.checker.machine.compiling import allocating, inlined

FREE = -2  # in no waiting list


class OrderSearch(NamedTuple):
    """The state of one run.

    Shapes:  per transaction write_at (n+1,) runs of `slots`, its places in index.writer, and
             read_at (n+1,) runs of read_slot (-1 - key = the initial version); per slot key_of
             and reader_at (+1) runs of readers; per key now (slot, -1 = initial), pending
             (readers of that yet to begin), held (active writers), waiting (head of a list,
             -1 = none); per node degree, following (in its list), placed, urgent.
    """

    w: int
    n: int
    write_at: Ints
    slots: Ints
    read_at: Ints
    read_slot: Ints
    key_of: Ints
    reader_at: Ints
    readers: Ints
    now: Ints
    pending: Ints
    held: Ints
    waiting: Ints
    degree: Ints
    following: Ints
    placed: Array
    urgent: Floats


@inlined
def _blocked(s: OrderSearch, u: int) -> int:
    """Return the key for which node u has to wait; -1 = it may go."""
    if u >= s.w * s.n:
        return -1
    t, begins, commits = u // s.w, u % s.w == 0, u % s.w == s.w - 1
    alone = s.read_at[t] == s.read_at[t + 1]
    for x in range(s.write_at[t], s.write_at[t + 1]):
        k = s.key_of[s.slots[x]]
        if begins and s.held[k] > 0:
            return int(k)
        if s.pending[k] > 0 and (commits or alone):
            mine = 0  # of a serial transaction, which begins as it commits
            if s.w == 1:
                for y in range(s.read_at[t], s.read_at[t + 1]):
                    mine += int(s.read_slot[y] == (s.now[k] if s.now[k] >= 0 else -1 - k))
            if s.pending[k] > mine:
                return int(k)
    return -1


@inlined
def _place(s: OrderSearch, u: int, released: Ints) -> int:
    """Let node u happen; how many keys, in `released`, nobody waits for any more."""
    s.placed[u] = 1
    m = 0
    if u >= s.w * s.n:
        return m
    t = u // s.w
    if u % s.w == 0:
        for y in range(s.read_at[t], s.read_at[t + 1]):
            slot = s.read_slot[y]
            k = s.key_of[slot] if slot >= 0 else -1 - slot
            if s.now[k] == max(slot, -1):
                s.pending[k] -= 1
                if s.pending[k] == 0:
                    released[m] = k
                    m += 1
        for x in range(s.write_at[t], s.write_at[t + 1]):
            s.held[s.key_of[s.slots[x]]] += 1
    if u % s.w == s.w - 1:
        for x in range(s.write_at[t], s.write_at[t + 1]):
            slot = s.slots[x]
            k = s.key_of[slot]
            s.held[k] -= 1
            s.now[k] = slot
            s.pending[k] = s.reader_at[slot + 1] - s.reader_at[slot]
            released[m] = k
            m += 1
    return m


@inlined
def _hurry(
    s: OrderSearch, u: int, back_start: Ints, back_to: Ints, when: float, found: Ints
) -> int:
    """Make urgent what the readers of u's versions wait for; how many nodes are in `found`."""
    head = tail = 0
    if u >= s.w * s.n or u % s.w != s.w - 1:
        return tail
    for x in range(s.write_at[u // s.w], s.write_at[u // s.w + 1]):
        for y in range(s.reader_at[s.slots[x]], s.reader_at[s.slots[x] + 1]):
            v = s.w * s.readers[y]
            if not s.placed[v] and s.urgent[v] >= 0:
                s.urgent[v] = when
                found[tail] = v
                tail += 1
    while head < tail:
        v = found[head]
        head += 1
        for e in range(back_start[v], back_start[v + 1]):
            p = back_to[e]
            if not s.placed[p] and s.urgent[p] >= 0:
                s.urgent[p] = when
                found[tail] = p
                tail += 1
    return tail


@allocating
def execute(
    s: OrderSearch,
    start: Ints,
    to: Ints,
    back_start: Ints,
    back_to: Ints,
    patience: int,
    order: Ints,
) -> int:
    """Return nodes in the order in which they happen; how many were placed (all = no cycle).

    Shapes:  start, to the successors and back_start, back_to the predecessors of each node;
             s.urgent begins as the priorities, at least 0, the least first. After `patience`
             turns nobody waits any more.
    """
    size = len(order)
    ready, stuck = [(0.0, np.int64(0))], [(0.0, np.int64(0))]
    ready.pop()
    stuck.pop()
    found = np.empty(size, np.int64)
    released = np.empty(len(s.read_slot) + len(s.slots) + 1, np.int64)
    for v in range(size):
        if s.degree[v] == 0:
            heapq.heappush(ready, (s.urgent[v], np.int64(v)))
    tail = turns = 0
    while tail < size:
        turns += 1
        forced = len(ready) == 0
        if forced and len(stuck) == 0:
            break
        u = int(heapq.heappop(stuck)[1] if forced else heapq.heappop(ready)[1])
        if s.placed[u]:
            continue
        k = -1 if forced or turns > patience else _blocked(s, u)
        if k >= 0:
            if s.following[u] == FREE:
                s.following[u] = s.waiting[k]
                s.waiting[k] = u
                heapq.heappush(stuck, (s.urgent[u], np.int64(u)))
            continue
        order[tail] = u
        tail += 1
        for x in range(_place(s, u, released)):
            v = s.waiting[released[x]]
            s.waiting[released[x]] = -1
            while v >= 0:
                following = s.following[v]
                s.following[v] = FREE
                heapq.heappush(ready, (s.urgent[v], np.int64(v)))
                v = following
        for x in range(_hurry(s, u, back_start, back_to, -float(tail), found)):
            if s.degree[found[x]] == 0:
                heapq.heappush(ready, (s.urgent[found[x]], np.int64(found[x])))
        if u < s.w * s.n and u % s.w < s.w - 1:
            s.urgent[u + 1] = -float(size + tail)  # commit at once
        for e in range(start[u], start[u + 1]):
            s.degree[to[e]] -= 1
            if s.degree[to[e]] == 0:
                heapq.heappush(ready, (s.urgent[to[e]], np.int64(to[e])))
    return tail
