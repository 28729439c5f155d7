"""Nodes of a graph find a tree of shortest ways to a root: each takes what is nearer as its parent.

A distance may become smaller step by step, to any value that is larger than the parent's.
"""

from statewalk import (
    Constant,
    Role,
    action,
    always,
    any_of,
    config,
    deadlock,
    eventually,
    holds,
)

EDGES: Constant[tuple[tuple[int, int], ...]] = (
    (0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4),
)  # fmt: skip
NODES = 1 + max(max(edge) for edge in EDGES)
FAR = NODES + 1


class Node(Role):
    distance: int = FAR
    parent: int = 0

    @action(fair="weak")
    def come_nearer(self) -> None:
        other = any_of(self.neighbours())
        nearer = range(other.distance + 1, self.distance)
        self.distance = any_of(nearer)
        self.parent = other.index

    def neighbours(self) -> list["Node"]:
        pairs = {(a, b) for a, b in EDGES} | {(b, a) for a, b in EDGES}
        return [nodes[b] for a, b in sorted(pairs) if a == self.index]


nodes = [Node(distance=FAR if n else 0, parent=n) for n in range(NODES)]
deadlock(False)


def settled() -> bool:
    """Nobody can come nearer."""
    return all(n.distance <= other.distance + 1 for n in nodes for other in n.neighbours())


@always
def a_tree_in_the_end() -> bool:
    return not settled() or all(
        node.distance == nodes[node.parent].distance + 1 for node in nodes[1:]
    )


@eventually
def settles() -> bool:
    return settled()


config("five", expect=holds(distinct=1236, generated=10278, depth=5))
