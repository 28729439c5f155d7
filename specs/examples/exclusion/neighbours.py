"""Each process writes its own variable, then reads its left neighbour's: not all read nothing.

With REGULAR registers a write takes two steps, and who reads in between sees the old value or the
new one.
"""

from typing import Literal

from statewalk import (
    Constant,
    Role,
    action,
    always,
    any_of,
    config,
    eventually,
    exists,
    holds,
    require,
    terminal,
)

PROCESSES: Constant[int] = 5
REGULAR: Constant[bool] = False


class Process(Role):
    at: Literal["write", "writing", "read", "done"] = "write"
    x: int = 0
    y: int = 0

    @action(fair="weak")
    def go_on(self) -> None:
        if self.at == "write" and REGULAR:
            self.at = "writing"
        elif self.at in ("write", "writing"):
            self.x = 1
            self.at = "read"
        else:
            require(self.at == "read")
            left = processes[self.index - 1]
            self.y = any_of((0, 1)) if left.at == "writing" else left.x
            self.at = "done"

    @action
    def rest(self) -> None:
        require(self.index == 0 and all_done())


processes = [Process() for _ in range(PROCESSES)]


@terminal
def all_done() -> bool:
    return all(p.at == "done" for p in processes)


@always
def somebody_read_something() -> bool:
    return not all_done() or any(p.y == 1 for p in processes)


@exists
def one_alone_read_something() -> bool:
    return all_done() and sum(p.y for p in processes) == 1


@eventually
def ends() -> bool:
    return all_done()


config("five", expect=holds(distinct=723, generated=1842, depth=11))
config(
    "eight-regular",
    PROCESSES=8,
    REGULAR=True,
    expect=holds(distinct=277726, generated=1454776, depth=25),
)
