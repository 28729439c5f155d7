"""Loops over the whole state graph. Written once: run as Python on small graphs, else compiled.

The functions below use only indexing and integers, so that they mean the same on lists,
interpreted, and on arrays, compiled by numba. Scratch is passed in. `run` decides; below `SMALL`
states and transitions, loading the compiler takes longer than the loop.

Shapes:  n states, m transitions, k components, l labels: offsets (n+1,) int64 · targets (m,) int32,
         negative where cut · labels (m,) uint8, uint16 or uint32 · takes (l,) uint64 · states (a,)
         int32 · block, component, order (n,) int32 · enabled (n,) uint64 · taken, always,
         sometimes (k,) uint64 · allowed, turn, after (n,) uint8 · first, second (n,) int32
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

SMALL = 50_000
Array = Any


def run(
    kernel: Callable[..., Any], size: int, given: tuple[Array, ...], changed: tuple[Array, ...]
) -> Any:
    """Call a kernel, interpreted or compiled by the size of the work. It alters ``changed``."""
    if size > SMALL:
        return compiled(kernel)(*given, *changed)
    lists = [a.tolist() for a in changed]
    result = kernel(*(a.tolist() for a in given), *lists)
    for array, new in zip(changed, lists, strict=True):
        array[:] = new
    return result


@cache
def compiled(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel as machine code."""
    from statewalk.checker.machine import compiling

    result: Callable[..., Any] = compiling.kernel(kernel)
    return result


def components(
    states: Array,
    offsets: Array,
    targets: Array,
    block: Array,
    component: Array,
    order: Array,
    stack: Array,
    path: Array,
    low: Array,
    edge: Array,
) -> int:
    """Return number the strongly connected components among the states, blocks kept apart.

    ``component`` holds -1 and ``order`` 0 for these states on entry. ``stack``, ``path``, ``low``
    and ``edge`` have room for one entry per state. Linear in states and their transitions.

    Source:  Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1 (1972),
             without recursion: ``path`` holds the states under way, ``edge`` where each has got to.
    """
    count, number, height = 0, 0, 0
    for root in states:
        if order[root] != 0:
            continue
        depth = 0
        path[0] = root
        opened = True
        while depth >= 0:
            s = path[depth]
            if opened:
                number += 1
                order[s] = number
                low[depth] = number
                edge[depth] = offsets[s]
                stack[height] = s
                height += 1
                opened = False
            if edge[depth] < offsets[s + 1]:
                t = targets[edge[depth]]
                edge[depth] += 1
                if t < 0 or block[t] != block[s]:
                    continue
                if order[t] == 0:
                    depth += 1
                    path[depth] = t
                    opened = True
                elif component[t] < 0 and order[t] < low[depth]:
                    low[depth] = order[t]
                continue
            if low[depth] == order[s]:
                t = -1
                while t != s:
                    height -= 1
                    t = stack[height]
                    component[t] = count
                count += 1
            depth -= 1
            if depth >= 0 and low[depth + 1] < low[depth]:
                low[depth] = low[depth + 1]
    return count


def survey(
    states: Array,
    offsets: Array,
    targets: Array,
    labels: Array,
    component: Array,
    takes: Array,
    enabled: Array,
    taken: Array,
    always: Array,
    sometimes: Array,
) -> None:
    """Per component, the conditions that inner steps take, that all states and some states enable.

    ``always`` holds all bits on entry, ``taken`` and ``sometimes`` none.
    """
    for s in states:
        c = component[s]
        always[c] &= enabled[s]
        sometimes[c] |= enabled[s]
        for at in range(offsets[s], offsets[s + 1]):
            t = targets[at]
            if t >= 0 and t != s and component[t] == c:
                taken[c] |= takes[labels[at]]


def enabling(offsets: Array, targets: Array, labels: Array, takes: Array, enabled: Array) -> None:
    """Per state, the conditions that some step which changes the state takes."""
    for s in range(len(enabled)):
        for at in range(offsets[s], offsets[s + 1]):
            if targets[at] != s:
                enabled[s] |= takes[labels[at]]


def spread(
    offsets: Array,
    targets: Array,
    allowed: Array,
    turn: Array,
    after: Array,
    first: Array,
    second: Array,
    queue: Array,
    filled: Array,
) -> None:
    """Breadth-first search in two layers; a distance of -1 is not reached.

    The first ``filled[0]`` entries of ``queue`` are the starts, at distance 0, as 2 * state +
    layer. From layer 0 a step stays there where the target is ``allowed``, and goes over to layer 1
    where it is a ``turn``; layer 1 holds states that are ``after``. The queue has room for 2 * n.
    """
    head, tail = 0, filled[0]
    while head < tail:
        s = queue[head] >> 1
        late = queue[head] & 1
        head += 1
        distance = (second[s] if late else first[s]) + 1
        for at in range(offsets[s], offsets[s + 1]):
            t = targets[at]
            if t < 0:
                continue
            if (late or turn[t]) and after[t] and second[t] < 0:
                second[t] = distance
                queue[tail] = 2 * t + 1
                tail += 1
            if not late and allowed[t] and first[t] < 0:
                first[t] = distance
                queue[tail] = 2 * t
                tail += 1
    filled[0] = tail


def trim(
    offsets: Array, targets: Array, labels: Array, turns: Array, core: Array, reached: Array,
    met: Array,
) -> int:  # fmt: skip
    """Take away states of the core from which, or to which, no step leads inside it; how many stay.

    One pass backwards, one forwards. ``turns`` (l,) uint8 says which labels count; ``core`` and
    ``reached`` hold a bit for each state, eight to a byte, the lowest first. ``met`` (l,) uint8,
    zeros, becomes 1 for labels of steps inside the core; for others perhaps too.
    """
    for s in range(len(offsets) - 2, -1, -1):
        if not core[s >> 3] >> (s & 7) & 1:
            continue
        leaves = False
        for at in range(offsets[s], offsets[s + 1]):
            t = targets[at]
            if turns[labels[at]] and t >= 0 and t != s and core[t >> 3] >> (t & 7) & 1:
                leaves = True
                break
        if not leaves:
            core[s >> 3] ^= 1 << (s & 7)
    for i in range(len(reached)):
        reached[i] = 0
    for s in range(len(offsets) - 1):
        if core[s >> 3] >> (s & 7) & 1:
            for at in range(offsets[s], offsets[s + 1]):
                t = targets[at]
                if turns[labels[at]] and t >= 0 and t != s and core[t >> 3] >> (t & 7) & 1:
                    reached[t >> 3] |= 1 << (t & 7)
                    met[labels[at]] = 1
    left = 0
    for i in range(len(core)):
        core[i] &= reached[i]
        bits = core[i]
        while bits:
            bits &= bits - 1
            left += 1
    return left


def lost(
    offsets: Array, targets: Array, labels: Array, turns: Array, core: Array, enabled: Array,
    wanted: Array,
) -> None:  # fmt: skip
    """Of the conditions in ``wanted[0]``, leave those that no step inside the core disables."""
    for s in range(len(offsets) - 1):
        here = wanted[0] & enabled[s]
        if here and core[s >> 3] >> (s & 7) & 1:
            for at in range(offsets[s], offsets[s + 1]):
                t = targets[at]
                if turns[labels[at]] and t >= 0 and core[t >> 3] >> (t & 7) & 1:
                    wanted[0] &= ~(here & ~enabled[t])


def drop(enabled: Array, never: Array, core: Array) -> None:
    """Take away the states of the core that enable one of the conditions in ``never[0]``."""
    for s in range(len(enabled)):
        if enabled[s] & never[0]:
            core[s >> 3] &= ~(1 << (s & 7))
