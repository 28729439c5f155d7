"""Dijkstra's EWD 998: Safra's way to find out on a ring that all nodes are passive for good.

Messages take time, so each node counts those it sent less those it received. A token adds the
counts up on its way round, and turns black at a node that received one since its last visit.
"""

from statewalk import (
    Constant,
    Role,
    State,
    action,
    always,
    any_of,
    config,
    constraint,
    exists,
    holds,
    init,
    maybe,
    old,
    on_step,
    require,
)

NODES: Constant[int] = 3
MOST: Constant[int] = 2  # of a node's count: beyond that the search does not go


class Token(State):
    at: int = 0
    sum: int = 0
    black: bool = True


class Node(Role):
    active: bool = False
    black: bool = True
    count: int = 0  # sent less received
    pending: int = 0  # messages under way to it

    @action
    def send(self, other: "Node") -> None:
        require(self.active and other != self)
        other.pending += 1
        self.count += 1

    @action
    def receive(self) -> None:
        require(self.pending > 0)
        self.pending -= 1
        self.count -= 1
        self.active = True
        self.black = True

    @action
    def become_passive(self) -> None:
        self.active = False

    @action
    def pass_token(self) -> None:
        """Backwards along the ring; from node 0 a new one where the last one proves nothing."""
        require(token.at == self.index)
        if self.index:
            require(not self.active)
            token.sum += self.count
            token.black = token.black or self.black
            token.at -= 1
        else:
            reasons = [self.black, token.sum + self.count != 0, token.black]
            any_of(range(sum(reasons)))
            token.sum = 0
            token.black = False
            token.at = NODES - 1
        self.black = False


token = Token()
nodes = [Node() for _ in range(NODES)]


@init
def any_activity() -> None:
    for node in nodes:
        node.active = maybe()


def all_quiet() -> bool:
    return not any(node.active or node.pending for node in nodes)


def detected() -> bool:
    """Return what node 0 concludes from the token and from what it knows of itself."""
    first = nodes[0]
    white = not (token.black or first.black or first.active)
    return token.at == 0 and white and token.sum + first.count == 0


@constraint
def small_counts() -> bool:
    return all(node.count <= MOST for node in nodes)


@always
def detected_is_true() -> bool:
    return not detected() or all_quiet()


@always
def counts_add_up() -> bool:
    return sum(node.count for node in nodes) == sum(node.pending for node in nodes)


@on_step
def it_stays_quiet() -> bool:
    return all_quiet() or not old(all_quiet())


@exists
def detected_after_messages() -> bool:
    return detected() and any(node.count for node in nodes)


config("three", expect=holds(distinct=321370, generated=2808396, depth=47))
config("two", NODES=2, MOST=1, expect=holds(distinct=428, generated=2266, depth=16))
