"""Three values with a choice: the cycle is one of steps (fabracht/tla-rs, issue 64)."""

from statewalk import State, action, always, any_of, eventually

NEXT = {0: [1, 0], 1: [2], 2: [0]}


class S(State):
    x: int = 0

    @action(fair="weak")
    def go(self) -> None:
        self.x = any_of(NEXT[self.x])


s = S()


@eventually
@always
def not_zero() -> bool:
    return s.x != 0


@always
@eventually
def zero() -> bool:
    return s.x == 0
