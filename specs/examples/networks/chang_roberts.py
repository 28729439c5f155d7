"""Nodes in a ring elect the initiator with the smallest name: Chang and Roberts.

A name goes round; who is no candidate, or has a larger name, passes it on and is out; who gets its
own name back has won.
"""

from typing import Literal

from statewalk import (
    Constant,
    Role,
    action,
    always,
    any_of,
    config,
    deadlock,
    holds,
    init,
    leads_to,
    maybe,
    require,
)

NODES: Constant[int] = 3


class Node(Role):
    started: bool = False
    initiator: bool = False
    state: Literal["candidate", "lost", "won"] = "lost"
    inbox: set[int] = set()

    def following(self) -> "Node":
        return nodes[(self.index + 1) % NODES]

    @action(fair="weak")
    def start(self) -> None:
        require(not self.started)
        self.started = True
        if self.initiator:
            self.following().inbox.add(self.index)

    @action(fair="weak")
    def receive(self) -> None:
        require(self.started)
        name = any_of(self.inbox)
        self.inbox.remove(name)
        if self.state == "lost" or name < self.index:
            self.state = "lost"
            self.following().inbox.add(name)
        elif name == self.index:
            self.state = "won"


nodes = [Node() for _ in range(NODES)]
deadlock(False)


@init
def some_begin() -> None:
    for node in nodes:
        node.initiator = maybe()
        node.state = "candidate" if node.initiator else "lost"


@always
def the_smallest_wins() -> bool:
    return all(
        winner.initiator
        and all(n.state == "lost" for n in nodes if n != winner)
        and not any(n.initiator for n in nodes[: winner.index])
        for winner in nodes
        if winner.state == "won"
    )


def somebody_runs() -> bool:
    return any(node.state == "candidate" for node in nodes)


def somebody_won() -> bool:
    return any(node.state == "won" for node in nodes)


elects = leads_to(somebody_runs, somebody_won)

config("three", expect=holds(distinct=137, generated=227, depth=10))
