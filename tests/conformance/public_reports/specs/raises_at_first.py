"""A liveness property that raises in the first state (tlaplus/tlaplus, pull 1440)."""

from statewalk import State, action, always, eventually


class S(State):
    x: int = 0
    d: dict[int, int] = {}

    @action(fair="weak")
    def up(self) -> None:
        self.x = 1
        self.d[0] = 1


s = S()


@always
def zero() -> bool:
    return s.x == 0


@eventually
@always
def stays() -> bool:
    return s.d[0] == 1
