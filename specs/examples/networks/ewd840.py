"""Dijkstra's token in a ring finds out that all nodes have become passive (EWD 840).

Who wakes a node of a higher number becomes black; the token takes that on and goes down the ring,
white from node 0 on. Comes it back white to a white passive node 0, all are passive. Messages
arrive at once; `sync_detection.py` is what the algorithm is to do.
"""

from typing import Literal

from statewalk import (
    Constant,
    Role,
    State,
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
EACH_REASON: Constant[bool] = True  # whether a step is counted once for each reason to take it


class Token(State):
    at: int = 0
    colour: Literal["black", "white"] = "black"

    @action(fair="weak")
    def go_on(self) -> None:
        """The node that has the token starts a round, or passes it on."""
        node = nodes[self.at]
        reasons = [self.colour == "black", node.colour == "black"]
        if self.at:
            reasons.append(not node.active)
        require(any(reasons))
        any_of(range(sum(reasons)) if EACH_REASON else (0,))
        if self.at == 0:
            self.at, self.colour = NODES - 1, "white"
        else:
            self.at -= 1
            if node.colour == "black":
                self.colour = "black"
        node.colour = "white"


class Node(Role):
    active: bool = False
    colour: Literal["black", "white"] = "white"

    @action
    def wake(self, other: "Node") -> None:
        require(self.active and self != other)
        other.active = True
        if other.index > self.index:
            self.colour = "black"

    @action
    def become_passive(self) -> None:
        require(self.active)
        self.active = False


token = Token()
nodes = [Node() for _ in range(NODES)]
deadlock(False)


@init
def anything() -> None:
    token.at = any_of(range(NODES))
    for node in nodes:
        node.active = maybe()
        node.colour = any_of(("black", "white"))


def all_passive() -> bool:
    return not any(node.active for node in nodes)


def detected() -> bool:
    first = nodes[0]
    return token.at == 0 and token.colour == first.colour == "white" and not first.active


@always
def detected_is_true() -> bool:
    return not detected() or all_passive()


@always
def why_it_is_true() -> bool:
    """Nodes that the token has passed are passive, or it is black, or a node before it is."""
    return (
        not any(node.active for node in nodes[token.at + 1 :])
        or any(node.colour == "black" for node in nodes[: token.at + 1])
        or token.colour == "black"
    )


is_detected = leads_to(all_passive, detected)

config("three", expect=holds(distinct=302, generated=2001, depth=9))
config("three-by-steps", EACH_REASON=False, expect=holds(distinct=302, generated=1817, depth=9))
