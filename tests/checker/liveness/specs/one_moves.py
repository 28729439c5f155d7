"""Two counters modulo 2, of which only the first is fair.

The second need not move: the first one moves alone, two steps from the initial state; the first one
moves for ever.
"""

from statewalk import Role, action, always, config, eventually, violates


class Counter(Role):
    n: int = 0


class Slow(Role):
    n: int = 0

    @action
    def step(self) -> None:
        self.n = 1 - self.n


class Fast(Role):
    n: int = 0

    @action(fair="weak")
    def step(self) -> None:
        self.n = 1 - self.n


slow, fast = Slow(), Fast()


@always
@eventually
def fast_moves() -> bool:
    return fast.n == 1


@always
@eventually
def slow_moves() -> bool:
    return slow.n == 1


config("it", expect=violates(slow_moves, length=2))
