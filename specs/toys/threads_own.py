"""Workers add to a sum in several steps, notice when another one was faster, and may crash.

Flows of the embedded language: calls with a stack, choice in mid-action, a serial action with
statements in any order, ephemeral fields, crashes of suspended runs and of whole workers.

# check -> holds distinct=256 generated=1081 depth=11
# check WORKERS=3 -> holds distinct=12326 (slow)
"""

from statewalk import (
    Constant,
    Ephemeral,
    Flow,
    Role,
    State,
    action,
    always,
    any_of,
    crashes,
    deadlock,
    exists,
    parallel,
    require,
    threads,
)

WORKERS: Constant[int] = 2


class Store(State):
    """The sum that workers add to."""

    total: int = 0


class Worker(Role):
    """Adds an amount once; tries again when another one was faster."""

    left: int = 1
    draft: Ephemeral[int] = 0

    @action(concurrent=2)
    def add(self) -> Flow[None]:
        require(self.left > 0)
        self.left -= 1
        amount = any_of([1, 2])
        seen = store.total
        yield
        stored = yield from self.write(seen, amount)
        if not stored:
            self.left += 1

    def write(self, seen: int, amount: int) -> Flow[bool]:
        self.draft = amount
        yield
        if store.total != seen:
            return False
        store.total = (seen + amount) % 4
        return True

    @action(flow="serial")
    def tidy(self) -> None:
        require(store.total == 3)
        with parallel():
            store.total = 0
            self.draft = 0


store = Store()
workers = [Worker() for _ in range(WORKERS)]
threads(2)
crashes(True)
deadlock(False)


@always
def in_range() -> bool:
    """The sum is kept modulo four."""
    return 0 <= store.total <= 3


@exists
def all_written() -> bool:
    """All workers added, and the sum is three."""
    return store.total == 3 and all(worker.left == 0 for worker in workers)
