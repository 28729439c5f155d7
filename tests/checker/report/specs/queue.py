"""Workers that take jobs: for the lines of a report that the lease does not bring about."""

from typing import Literal

from statewalk import (  # fmt: skip
    Auxiliary,
    Constant,
    Role,
    State,
    action,
    always,
    constraint,
    eventually,
    exists,
    leads_to,
    require,
    terminal,
)

JOBS: Constant[int] = 2
MUTANT: Constant[Literal["none", "lazy", "shadow"]] = "none"
BOUND: Constant[bool] = False


class Queue(State):
    waiting: int = JOBS
    lost: bool = False
    taken: Auxiliary[int] = 0


queue = Queue()


class Worker(Role, symmetric=True):
    busy: bool = False

    @action(fair="weak" if MUTANT != "lazy" else "none")
    def take(self) -> None:
        require(not self.busy and queue.waiting > 0)
        queue.waiting -= 1
        queue.taken += 1
        self.busy = True

    @action(fair="weak")
    def finish(self) -> None:
        require(self.busy)
        self.busy = False

    @action
    def rest(self) -> None:
        if MUTANT == "lazy":
            self.busy = self.busy


workers = [Worker() for _ in range(2)]


@terminal
def all_done() -> bool:
    return queue.waiting == 0 and not any(w.busy for w in workers)


@always
def nothing_is_lost_twice() -> bool:
    return not queue.lost or queue.waiting == 0


@exists
def both_busy() -> bool:
    return all(w.busy for w in workers)


@exists
def overfull() -> bool:
    return BOUND and queue.waiting > JOBS


if BOUND:

    @constraint
    def few_taken() -> bool:
        return queue.taken < 2

else:

    @eventually
    def is_empty() -> bool:
        return queue.waiting == 0

    def was_lost() -> bool:
        return queue.lost

    found_again = leads_to(was_lost, is_empty)
