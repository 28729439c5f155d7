"""Huang's way to find out that all work is done: each piece of work carries a part of the whole.

Who sends work keeps half of its weight and sends the other half; who is done sends its weight to
the leader. Where the leader is idle and has all of it, nothing is under way. Weights are counted
in sixteenths, and the search does not go on from those that are no eighths.
"""

from statewalk import (
    Constant,
    Role,
    action,
    always,
    any_of,
    config,
    constraint,
    deadlock,
    exists,
    holds,
    old,
    on_step,
    require,
)

PROCESSES: Constant[int] = 2  # the first one leads
WHOLE = 16


class Process(Role):
    active: bool = False
    weight: int = 0
    inbox: list[int] = []  # weights

    @action
    def send(self, other: "Process") -> None:
        require(self.active)
        self.weight //= 2
        other.inbox.append(self.weight)

    @action(fair="weak")
    def receive(self) -> None:
        self.weight += self.inbox.pop(any_of(range(len(self.inbox))))
        self.active = self.active or self != leader

    @action(fair="weak")
    def become_idle(self) -> None:
        require(self.active)
        self.active = False
        if self != leader:
            leader.inbox.append(self.weight)
            self.weight = 0


leader = Process(active=True, weight=WHOLE)
processes = [leader, *[Process() for _ in range(PROCESSES - 1)]]
deadlock(False)


def detected() -> bool:
    return not leader.active and leader.weight == WHOLE


@constraint
def weights_are_eighths() -> bool:
    return all(process.weight % 2 == 0 for process in processes)


@always
def detected_is_true() -> bool:
    return not detected() or not any(p.active or p.inbox for p in processes)


@on_step
def it_stays_detected() -> bool:
    return detected() or not old(detected())


@always
def no_weight_is_lost() -> bool:
    return sum(p.weight + sum(p.inbox) for p in processes) == WHOLE


@exists
def others_work_while_the_leader_is_idle() -> bool:
    return not leader.active and any(process.active for process in processes)


config("two", expect=holds(distinct=1836, generated=11797, depth=21))
config("three", PROCESSES=3, expect=holds(distinct=8476, generated=74527, depth=21))
