"""Standing queries over a collection of edges: computed afresh, and kept up to date by changes.

A look-up of a node has the edges that leave it, as often as they are in the collection. The
reachability of a root has the nodes that can be got to from it, the root among them, once each. The
red degree of a node is the number of red edges that leave it. Queries can be taken back, and leave
no answer behind.

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

from statewalk import Record, mutant
from statewalk.models.stores.resolution import Answers, Counts, Edge, Item, summed

Rows = Counts  # of a look-up: items; of reachability: (root, node); of a degree: (node, degree)


class Change(Record):
    """Of an answer: a row is so many times more in it from an epoch on."""

    epoch: int
    row: Item
    count: int


def recomputed(answers: Answers, nodes: Iterable[int], items: Counts) -> Rows:
    """The answer to queries for some nodes, asked afresh."""
    if answers == "reach":
        return reach(nodes, items)
    if answers == "red_degree":
        return degrees({node: red_degree(node, items) for node in nodes})
    return looked_up(nodes, items)


def kept(
    answers: Answers,
    current: Rows,
    nodes: tuple[frozenset[int], frozenset[int]],
    items: tuple[Counts, Counts],
) -> Rows:
    """The answer to queries from what it was, with nodes and items before and after."""
    before, after = items
    if answers == "reach":
        return kept_reach(current, nodes[1], before, after)
    if answers == "red_degree":
        return kept_degrees(current, nodes, before, after)
    still = still_asked(current, nodes)
    return kept_look_up(still, nodes[1] - nodes[0], nodes[1], after, differences(before, after))


def still_asked(current: Rows, nodes: tuple[frozenset[int], frozenset[int]]) -> Rows:
    """Of the rows of look-ups, those of nodes whose query was not taken back."""
    return tuple((item, count) for item, count in current if item[0] in nodes[1])


def edges_in(items: Counts) -> tuple[tuple[Edge, int], ...]:
    """The edges among items, without what is said of them."""
    return tuple((item, count) for item, count in items if len(item) == 2 and count > 0)


def looked_up(nodes: Iterable[int], edges: Counts) -> Rows:
    """The edges that leave a node of `nodes`, with what is said of them."""
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
    while more := {y for (x, y), _ in edges_in(edges) if x in found and y not in found}:
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
    gone = {edge for edge, _ in edges_in(before)} - {edge for edge, _ in edges_in(after)}
    reached: dict[int, set[int]] = {}
    for root in roots:
        old = {row[1] for row, _ in current if row[0] == root} or {root}
        reached[root] = closure(kept_nodes(root, old, gone, before, after), after)
    return rows(reached)


def kept_nodes(
    root: int, old: set[int], gone: set[Edge], before: Counts, after: Counts
) -> set[int]:
    """Of the nodes that were reached: those that no edge which is gone can have led to."""
    lost = closure({y for x, y in gone if x in old and y != root}, before)
    return old - lost | {root}


def kept_degrees(
    current: Rows, nodes: tuple[frozenset[int], frozenset[int]], before: Counts, after: Counts
) -> Rows:
    """The red degrees of nodes, from what they were; new ones are counted."""
    old = dict(item[:2] for item, _ in current)
    return degrees(
        {
            node: old.get(node, 0) + gained(node, before if node in nodes[0] else (), after)
            for node in nodes[1]
        }
    )


def red_degree(node: int, items: Counts) -> int:
    red = reds(items)
    return sum(count for edge, count in edges_in(items) if edge[0] == node and edge in red)


def degrees(of: dict[int, int]) -> Rows:
    return tuple(((node, of[node]), 1) for node in sorted(of) if of[node])


def gained(node: int, before: Counts, after: Counts) -> int:
    """Return how many more red edges leave a node.

    Both sides of a join change: the edges that come or go count with the colours after, the colours
    that come or go with the edges before.
    """
    return sum(
        (now - then) * is_red + then * (is_red - was_red)
        for then, now, was_red, is_red in both_sides(node, before, after)
    )


def both_sides(node: int, before: Counts, after: Counts) -> list[tuple[int, int, bool, bool]]:
    """Of each edge that leaves a node, its counts and whether it is red, before and after."""
    had, has = dict(edges_in(before)), dict(edges_in(after))
    were, are = reds(before), reds(after)
    mine = sorted(edge for edge in {*had, *has} if edge[0] == node)
    return [(had.get(e, 0), has.get(e, 0), e in were, e in are) for e in mine]


def reds(items: Counts) -> set[Edge]:
    """The edges that are called red."""
    return {(i[0], i[1]) for i, count in items if i[2:] == ("red",) and count > 0}


def differences(before: Rows, after: Rows) -> Rows:
    """The changes that make one from the other."""
    return summed((*after, *((row, -count) for row, count in before)))


def merged(changes: list[Change], since: int) -> list[Change]:
    """Changes up to an epoch as if all were of that epoch: what is left of them."""
    early = summed((c.row, c.count) for c in changes if c.epoch <= since)
    late = [change for change in changes if change.epoch > since]
    return [Change(since, row, count) for row, count in early] + late


# -- mutants ---------------------------------------------------------------------------------------
@mutant(kept_edges)
def as_set(before: Counts, changes: Counts) -> Counts:
    """An edge is there or not, however often it was added."""
    there = {edge for edge, _ in before} | {edge for edge, count in changes if count > 0}
    return tuple((e, 1) for e in sorted(there - {edge for edge, count in changes if count < 0}))


@mutant(kept_nodes)
def count_support(
    root: int, old: set[int], gone: set[Edge], before: Counts, after: Counts
) -> set[int]:
    """A node stays reached as long as an edge leads to it from one that is."""
    kept = set(old)
    while lone := {
        y
        for y in kept
        if y != root and not any(e[1] == y and e[0] in kept for e, _ in edges_in(after))
    }:
        kept -= lone
    return kept


@mutant(still_asked)
def answers_left(current: Rows, nodes: tuple[frozenset[int], frozenset[int]]) -> Rows:
    """The rows of a query that was taken back stay."""
    return current


@mutant(gained)
def edges_alone(node: int, before: Counts, after: Counts) -> int:
    """Degrees change where edges come and go, and not where these change their colour."""
    return sum((now - then) * red for then, now, _, red in both_sides(node, before, after))


@mutant(gained)
def both_after(node: int, before: Counts, after: Counts) -> int:
    """The changes of edges and those of colours both count with what is there after."""
    return sum(
        (now - then) * is_red + now * (is_red - was_red)
        for then, now, was_red, is_red in both_sides(node, before, after)
    )
