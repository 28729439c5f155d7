"""Nodes wake each other by messages and become passive: when all are, and nothing is under way,
somebody finds it out. Messages are bounded: beyond that the search does not go.
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
    holds,
    init,
    maybe,
    old,
    on_step,
    require,
)

NODES: Constant[int] = 4
MESSAGES: Constant[int] = 3  # under way to a node


class Observer(State):
    detected: bool = False

    @action
    def detect(self) -> None:
        require(all_quiet())
        self.detected = True


class Node(Role, symmetric=True):
    active: bool = False
    pending: int = 0

    @action
    def become_passive(self) -> None:
        """Perhaps it is found out at once that this was the last one."""
        require(self.active)
        self.active = False
        observer.detected = any_of(sorted({observer.detected, all_quiet()}))

    @action
    def send(self, other: "Node") -> None:
        require(self.active)
        other.pending += 1

    @action
    def receive(self) -> None:
        require(self.pending > 0)
        self.pending -= 1
        self.active = True


observer = Observer()
nodes = [Node() for _ in range(NODES)]


@init
def any_activity() -> None:
    for node in nodes:
        node.active = maybe()
    observer.detected = any_of(sorted({False, all_quiet()}))


def all_quiet() -> bool:
    return not any(node.active or node.pending for node in nodes)


@constraint
def few_messages() -> bool:
    return all(node.pending <= MESSAGES for node in nodes)


@always
def detected_is_true() -> bool:
    return not observer.detected or all_quiet()


@on_step
def it_stays_quiet() -> bool:
    return all_quiet() or not old(all_quiet())


config("four", expect=holds(distinct=4097, generated=53271, depth=14))
