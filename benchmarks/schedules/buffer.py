"""A bounded buffer with one condition variable for producers and consumers.

The bug: notify wakes one of all that wait, which may be of the wrong kind. In the end all wait.
"""

from typing import Literal

from statewalk import Constant, Role, State, action, any_of, require, terminal

SIZE: Constant[int] = 2
PRODUCERS: Constant[int] = 3
ITEMS: Constant[int] = 6  # of each worker


class Buffer(State):
    items: int = 0
    waiting: set["Worker"] = set()


class Worker(Role):
    at: Literal["out", "in", "waits"] = "out"
    left: int = ITEMS

    @action
    def enter(self) -> None:
        require(self.at == "out" and self.left > 0 and all(w.at != "in" for w in workers))
        self.at = "in"

    @action
    def work(self) -> None:
        require(self.at == "in")
        produces = self.index < PRODUCERS
        if buffer.items == (SIZE if produces else 0):
            self.at = "waits"
            buffer.waiting.add(self)
            return
        buffer.items += 1 if produces else -1
        self.left -= 1
        self.at = "out"
        if buffer.waiting:
            woken = any_of(buffer.waiting)
            buffer.waiting.remove(woken)
            woken.at = "out"


buffer = Buffer()
workers = [Worker() for _ in range(2 * PRODUCERS)]


@terminal
def all_is_done() -> bool:
    return all(worker.left == 0 for worker in workers)
