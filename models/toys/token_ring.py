"""Dijkstra's first self-stabilising ring: whatever the counters hold, in the end one process is
privileged.

Process 0 moves when its counter equals its left neighbour's, and adds one modulo VALUES; every
other one moves when they differ, and copies. All assignments of counters are initial states.
"""

from statewalk import (
    Constant,
    Role,
    action,
    always,
    any_of,
    config,
    draw,
    eventually,
    exists,
    holds,
    init,
    old,
    on_step,
    picture,
    require,
    violates,
)

PROCESSES: Constant[int] = 4
VALUES: Constant[int] = 4

assert PROCESSES >= 2 and VALUES >= 1, "a ring needs two processes and a value"


class Process(Role):
    counter: int = 0

    def privileged(self) -> bool:
        left = ring[self.index - 1]
        return (self.counter == left.counter) == (self.index == 0)

    @action(fair="weak")
    def move(self) -> None:
        require(self.privileged())
        if self.index == 0:
            self.counter = (self.counter + 1) % VALUES
        else:
            self.counter = ring[self.index - 1].counter


ring = [Process() for _ in range(PROCESSES)]


def privileges() -> int:
    return sum(process.privileged() for process in ring)


@init
def any_counters() -> None:
    for process in ring:
        process.counter = any_of(range(VALUES))


@always
def somebody_is_privileged() -> bool:
    return privileges() >= 1


@on_step
def privileges_never_grow() -> bool:
    return privileges() <= old(privileges())


@exists
def stable() -> bool:
    return privileges() == 1


@eventually
@always
def stabilises() -> bool:
    return privileges() == 1


@picture
def counters() -> draw.Part:
    """Each process with its counter; privileged ones have a strong edge."""
    return draw.ring(
        *(
            draw.box(p.counter, title=f"process {p.index}", color=p.counter, strong=p.privileged())
            for p in ring
        )
    )


config("four", expect=holds(distinct=256))
config("six", PROCESSES=6, VALUES=6, expect=holds(distinct=46656, generated=248832, depth=1))
config("three", PROCESSES=3, VALUES=3, expect=holds(distinct=27))
config("too-few-values", PROCESSES=4, VALUES=2, expect=violates(stabilises))
