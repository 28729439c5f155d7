"""Counters: each process adds one to a shared counter, atomically or by reading first and writing
later.
"""

from statewalk import (
    Constant,
    Role,
    State,
    action,
    always,
    config,
    exists,
    holds,
    require,
    terminal,
    violates,
)

PROCESSES: Constant[int] = 2
TIMES: Constant[int] = 1
ATOMIC: Constant[bool] = True


class Shared(State):
    value: int = 0


class Process(Role):
    done: int = 0
    seen: int | None = None

    @action
    def add(self) -> None:
        require(ATOMIC and self.done < TIMES)
        shared.value += 1
        self.done += 1

    @action
    def read(self) -> None:
        require(not ATOMIC and self.done < TIMES and self.seen is None)
        self.seen = shared.value

    @action
    def write(self) -> None:
        require(self.seen is not None)
        assert self.seen is not None
        shared.value = self.seen + 1
        self.seen = None
        self.done += 1


shared = Shared()
processes = [Process() for _ in range(PROCESSES)]


@always
def nothing_lost() -> bool:
    """The sum equals the number of additions."""
    return shared.value == sum(process.done for process in processes)


@exists
def all_done() -> bool:
    return all(process.done == TIMES for process in processes)


@terminal
def finished() -> bool:
    return all(process.done == TIMES for process in processes)


config("atomic", expect=holds(distinct=4))
config("lost-update", ATOMIC=False, expect=violates(nothing_lost, length=4))
