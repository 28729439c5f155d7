"""Standing queries over a collection of edges: computed afresh, and kept up to date by changes.

A look-up of a node has the edges that leave it, as often as they are in the collection. The
reachability of a root has the nodes that can be got to from it, the root among them, once each.

Keeping reachability under removals is delete-and-rederive (Gupta, Mumick and Subrahmanian, SIGMOD
1993): what may have been reached through a removed edge is given up, then what can still be got to
from the rest is added again.

>>> ring = (((0, 1), 1), ((1, 2), 1), ((2, 3), 1), ((3, 1), 1))
>>> cut = ring[1:]
>>> kept_reach(reach((0,), ring), (0,), ring, cut)
(((0, 0), 1),)
>>> sorted(count_support(0, {0, 1, 2, 3}, {(0, 1)}, ring, cut))
[0, 1, 2, 3]
"""

from collections.abc import Iterable

from statewalk import mutant
from statewalk.models.stores.resolution import Counts, Item, summed

Rows = Counts  # of a look-up: edges; of reachability: (root, node)


def looked_up(nodes: Iterable[int], edges: Counts) -> Rows:
    """The edges that leave a node of `nodes`."""
    wanted = set(nodes)
    return tuple((edge, count) for edge, count in edges if edge[0] in wanted and count > 0)


def reach(roots: Iterable[int], edges: Counts) -> Rows:
    """The nodes that can be got to from each root."""
    return rows({root: closure({root}, edges) for root in roots})


def rows(reached: dict[int, set[int]]) -> Rows:
    return tuple(((root, node), 1) for root in sorted(reached) for node in sorted(reached[root]))


def closure(start: Iterable[int], edges: Counts) -> set[int]:
    """The nodes that edges lead to from some nodes, these included."""
    found = set(start)
    while more := {y for (x, y), n in edges if n > 0 and x in found and y not in found}:
        found |= more
    return found


def kept_edges(before: Counts, changes: Counts) -> Counts:
    """A collection with changes applied."""
    return summed((*before, *changes))


def kept_look_up(
    current: Rows, registered: Iterable[int], nodes: Iterable[int], edges: Counts, changes: Counts
) -> Rows:
    """Look-ups of `nodes` after `changes`, those of `registered` being new over `edges`."""
    of_old = [pair for pair in changes if pair[0][0] in set(nodes) - set(registered)]
    return summed((*current, *of_old, *looked_up(registered, edges)))


def kept_reach(current: Rows, roots: Iterable[int], before: Counts, after: Counts) -> Rows:
    """The reachability of `roots` over `after`, from what it was over `before`."""
    gone = {edge for edge, n in before if n > 0} - {edge for edge, n in after if n > 0}
    reached: dict[int, set[int]] = {}
    for root in roots:
        old = {node for (r, node), _ in current if r == root} or {root}
        reached[root] = closure(kept_nodes(root, old, gone, before, after), after)
    return rows(reached)


def kept_nodes(
    root: int, old: set[int], gone: set[Item], before: Counts, after: Counts
) -> set[int]:
    """Of the nodes that were reached: those that no edge which is gone can have led to."""
    lost = closure({y for x, y in gone if x in old and y != root}, before)
    return old - lost | {root}


def differences(before: Rows, after: Rows) -> Rows:
    """The changes that make one from the other."""
    return summed((*after, *((row, -count) for row, count in before)))


# -- mutants ---------------------------------------------------------------------------------------
@mutant(kept_edges)
def as_set(before: Counts, changes: Counts) -> Counts:
    """An edge is there or not, however often it was added."""
    there = {edge for edge, _ in before} | {edge for edge, count in changes if count > 0}
    return tuple((e, 1) for e in sorted(there - {edge for edge, count in changes if count < 0}))


@mutant(kept_nodes)
def count_support(
    root: int, old: set[int], gone: set[Item], before: Counts, after: Counts
) -> set[int]:
    """A node stays reached as long as an edge leads to it from one that is."""
    kept = set(old)
    while lone := {
        y
        for y in kept
        if y != root and not any(n > 0 and e[1] == y and e[0] in kept for e, n in after)
    }:
        kept -= lone
    return kept
