"""Two processes and a lock: what an algorithm of mutual exclusion is to do."""

from typing import Literal

from statewalk import Constant, Role, State, action, always, config, holds, require

PROCESSES: Constant[int] = 2


class Lock(State):
    free: bool = True


class Process(Role, symmetric=True):
    at: Literal["idle", "wanting", "inside", "leaving"] = "idle"

    @action
    def want(self) -> None:
        require(self.at == "idle")
        self.at = "wanting"

    @action
    def enter(self) -> None:
        require(self.at == "wanting" and lock.free)
        lock.free = False
        self.at = "inside"

    @action
    def get_ready_to_leave(self) -> None:
        require(self.at == "inside")
        self.at = "leaving"

    @action
    def leave(self) -> None:
        require(self.at == "leaving")
        lock.free = True
        self.at = "idle"


lock = Lock()
processes = [Process() for _ in range(PROCESSES)]


@always
def one_inside() -> bool:
    inside = sum(p.at in ("inside", "leaving") for p in processes)
    return inside == (0 if lock.free else 1)


config("two", expect=holds(distinct=12, generated=21, depth=5))
