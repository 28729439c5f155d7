"""A wave from one node of a graph goes to all and comes back: the tree that it leaves is built.

Each node waits for as many messages as it has neighbours. The first names its parent, and it tells
the others; when all have come it tells its parent.
"""

from typing import Literal

from statewalk import (
    Constant,
    Message,
    Network,
    Role,
    action,
    always,
    config,
    holds,
    on_message,
    require,
    terminal,
)

NODES: Constant[int] = 3  # each beside each; the first one begins


class Echo(Message):
    kind: Literal["wave", "child"]
    source: "Node"


class Node(Role):
    at: Literal["new", "waiting", "heard", "done"] = "new"
    heard: int = 0
    parent: "Node | None" = None
    children: set["Node"] = set()

    @action
    def start(self) -> None:
        require(self.at == "new")
        self.at = "waiting"
        if self.index == 0:
            wire.broadcast(self.neighbours(), Echo("wave", self))

    @on_message
    def receive(self, echo: Echo) -> None:
        require(self.at == "waiting" and self.heard < NODES - 1)
        self.heard += 1
        if self.index and self.heard == 1:
            assert echo.kind == "wave"
            self.parent = echo.source
            others = [n for n in self.neighbours() if n != echo.source]
            wire.broadcast(others, Echo("wave", self))
        if echo.kind == "child":
            self.children.add(echo.source)

    @action
    def end(self) -> None:
        require(self.at == "waiting" and self.heard == NODES - 1)
        self.at = "heard"

    @action
    def answer(self) -> None:
        require(self.at == "heard")
        if self.parent is not None:
            wire.send(self.parent, Echo("child", self))
        self.at = "done"

    @action
    def rest(self) -> None:
        require(self.index == 0 and all_done())

    def neighbours(self) -> list["Node"]:
        return [n for n in nodes if n != self]


class Wire(Network[Echo, Node], kind="set"): ...


wire = Wire()
nodes = [Node() for _ in range(NODES)]


@terminal
def all_done() -> bool:
    return all(node.at == "done" for node in nodes)


@always
def parents_know_their_children() -> bool:
    return all(c.parent == n for n in nodes for c in n.children) and all(
        n in n.parent.children for n in nodes if n.parent is not None and n.parent.at == "done"
    )


@always
def a_tree_in_the_end() -> bool:
    return not all_done() or all(leads_to_the_first(node) for node in nodes)


def leads_to_the_first(node: Node) -> bool:
    """Return whether parents of parents are the first node, without a circle."""
    for _ in range(NODES):
        if node.parent is not None:
            node = node.parent
    return node.index == 0


config("three", expect=holds(distinct=75, generated=116, depth=16))
