"""One bound as a constraint of states, of steps, or both (tlaplus/tlaplus, issue 589)."""

from typing import Literal

from statewalk import Constant, State, action, always, constraint, on_step

KIND: Constant[Literal["state", "step", "both"]] = "both"


class S(State):
    x: int = 0
    y: int = 0

    @action
    def ux(self) -> None:
        self.x += 1

    @action
    def uy(self) -> None:
        self.y += 1


s = S()


def small() -> bool:
    return s.x + s.y <= 3


if KIND in ("state", "both"):

    @constraint
    def c1() -> bool:
        return small()


if KIND in ("step", "both"):

    @constraint
    @on_step
    def c2() -> bool:
        return small()


@always
def bound() -> bool:
    return s.x + s.y <= 3
