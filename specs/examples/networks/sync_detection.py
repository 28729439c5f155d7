"""Nodes wake each other at once and become passive: when all are, somebody finds it out."""

from statewalk import (
    Constant,
    Role,
    State,
    action,
    always,
    any_of,
    config,
    holds,
    init,
    leads_to,
    maybe,
    old,
    on_step,
    require,
)

NODES: Constant[int] = 7


class Observer(State):
    detected: bool = False

    @action(fair="weak")
    def detect(self) -> None:
        require(all_passive())
        self.detected = True


class Node(Role, symmetric=True):
    active: bool = False

    @action
    def become_passive(self) -> None:
        """Perhaps it is found out at once that this was the last one."""
        require(self.active)
        self.active = False
        observer.detected = any_of(sorted({observer.detected, all_passive()}))

    @action
    def wake(self, other: "Node") -> None:
        require(self.active)
        other.active = True


observer = Observer()
nodes = [Node() for _ in range(NODES)]


@init
def any_activity() -> None:
    for node in nodes:
        node.active = maybe()
    observer.detected = any_of(sorted({False, all_passive()}))


def all_passive() -> bool:
    return not any(node.active for node in nodes)


def detected() -> bool:
    return observer.detected


@always
def detected_is_true() -> bool:
    return not observer.detected or all_passive()


@on_step
def it_stays_quiet() -> bool:
    return all_passive() or not old(all_passive())


is_detected = leads_to(all_passive, detected)

config("seven", expect=holds(distinct=129, generated=3722, depth=1))
