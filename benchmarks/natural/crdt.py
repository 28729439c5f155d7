"""A CRDT that counts: nodes count for themselves and merge by maxima.

A reduction subtracts the least count. Counts have no bound, so a constraint bounds the search.
"""

from statewalk import Constant, Role, action, always, constraint

NODES: Constant[int] = 3
TOP: Constant[int] = 3  # of a node's own count


class Node(Role):
    seen: list[int] = [0] * NODES

    @action
    def increment(self, reduce: bool) -> None:
        self.seen[self.index] += 1
        if reduce:
            reduction()

    @action
    def gossip(self, other: "Node") -> None:
        self.merge_into(other)

    @action
    def gossip_and_reduce(self, other: "Node") -> None:
        self.merge_into(other)
        reduction()

    def merge_into(self, other: "Node") -> None:
        other.seen = [max(a, b) for a, b in zip(self.seen, other.seen, strict=True)]


nodes = [Node() for _ in range(NODES)]


def reduction() -> None:
    least = min(min(node.seen) for node in nodes)
    for node in nodes:
        node.seen = [n - least for n in node.seen]


@constraint
def small() -> bool:
    return all(node.seen[node.index] <= TOP for node in nodes)


@always
def nobody_has_seen_more(node: Node, other: Node) -> bool:
    return node.seen[node.index] >= other.seen[node.index]
