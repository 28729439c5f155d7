"""Philosophers hand dirty forks to their neighbours, cleaned, and eat with two clean ones.

The solution of Chandy and Misra. A fork lies at the philosopher of its number at first, but for
one: so nobody waits for somebody who waits for him.
"""

from typing import Literal

from statewalk import Constant, Role, action, always, config, eventually, holds

SEATS: Constant[int] = 5

assert SEATS > 1, "a neighbour"


class Fork(Role):
    holder: int = 0
    clean: bool = False


class Philosopher(Role):
    hungry: bool = True
    at: Literal["table", "eating", "thinking"] = "table"

    @action(fair="weak")
    def go_on(self) -> None:
        if self.at == "table":
            self.hand_over()
            if not self.hungry:
                self.at = "thinking"
            elif all(f.holder == self.index and f.clean for f in self.forks()):
                self.at = "eating"
            return
        if self.at == "eating":
            for fork in self.forks():
                fork.clean = False
        self.hungry = self.at == "thinking"
        self.at = "table"

    def hand_over(self) -> None:
        """Give a dirty fork to whom it is shared with, the left one first."""
        left, right = self.forks()
        if left.holder == self.index and not left.clean:
            left.holder, left.clean = (self.index - 1) % SEATS, True
        elif right.holder == self.index and not right.clean:
            right.holder, right.clean = (self.index + 1) % SEATS, True

    def forks(self) -> tuple[Fork, Fork]:
        return forks[self.index], forks[(self.index + 1) % SEATS]


forks = [Fork(holder=0 if n == 1 else n) for n in range(SEATS)]
philosophers = [Philosopher() for _ in range(SEATS)]


@always
def neighbours_do_not_eat_together() -> bool:
    return not any(
        p.at == "eating" and philosophers[(p.index + 1) % SEATS].at == "eating"
        for p in philosophers
    )


@always
@eventually
def eats(philosopher: Philosopher) -> bool:
    return not philosopher.hungry


config("five", expect=holds(distinct=67, generated=336, depth=29))
