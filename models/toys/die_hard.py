"""Die Hard: measure four gallons with a jug of five and one of three.

The property is written to be broken: its counterexample is the solution of the puzzle.
"""

from statewalk import Constant, State, action, always, config, holds, violates

SMALL: Constant[int] = 3
BIG: Constant[int] = 5
GOAL: Constant[int] = 4


class Jugs(State):
    small: int = 0
    big: int = 0

    @action
    def fill_small(self) -> None:
        self.small = SMALL

    @action
    def fill_big(self) -> None:
        self.big = BIG

    @action
    def empty_small(self) -> None:
        self.small = 0

    @action
    def empty_big(self) -> None:
        self.big = 0

    @action
    def pour_small_into_big(self) -> None:
        poured = min(self.small, BIG - self.big)
        self.small -= poured
        self.big += poured

    @action
    def pour_big_into_small(self) -> None:
        poured = min(self.big, SMALL - self.small)
        self.big -= poured
        self.small += poured


jugs = Jugs()


@always
def goal_not_reached() -> bool:
    return jugs.big != GOAL


config("puzzle", expect=violates(goal_not_reached, length=6))
config("impossible", SMALL=3, BIG=6, expect=holds(distinct=6))
