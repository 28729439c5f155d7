"""FiniteMonotonic/MCCRDT with three nodes (tlaplus/Examples)."""

from typing import Literal

from statewalk import Constant, Role, State, action, always, constraint, eventually, require

N: Constant[int] = 3
TOP: Constant[int] = 3
HOW: Constant[Literal["as is", "quiet"]] = "as is"


class Net(State):
    quiet: bool = False
    if HOW == "quiet":

        @action(fair="weak")
        def fall_quiet(self) -> None:
            require(not self.quiet)
            self.quiet = True


net = Net()


class Node(Role):
    seen: list[int] = [0] * N

    @action
    def increment(self, reduce: bool) -> None:
        require(not net.quiet)
        if HOW == "quiet":
            require(self.seen[self.index] < TOP)
        self.seen[self.index] += 1
        if reduce:
            reduction()

    @action(fair="weak")
    def gossip(self, other: "Node") -> None:
        self.merge(other)

    @action
    def gossip_and_reduce(self, other: "Node") -> None:
        self.merge(other)
        reduction()

    def merge(self, other: "Node") -> None:
        other.seen = [max(a, b) for a, b in zip(self.seen, other.seen, strict=True)]


nodes = [Node() for _ in range(N)]


def reduction() -> None:
    m = min(min(n.seen) for n in nodes)
    for n in nodes:
        n.seen = [x - m for x in n.seen]


if HOW == "as is":

    @constraint
    def small() -> bool:
        return all(n.seen[n.index] <= TOP for n in nodes)


@always
def safety(n: Node, o: Node) -> bool:
    return n.seen[n.index] >= o.seen[n.index]


@always
@eventually
def convergence() -> bool:
    return all(n.seen == nodes[0].seen for n in nodes)
