"""A fair countdown that ends at 0, and not at 1 (tlaplus/tlaplus, issue 204)."""

from statewalk import State, action, always, eventually


class S(State):
    x: int = 5

    @action(fair="weak")
    def a(self) -> None:
        self.x = self.x - 1 if self.x > 0 else self.x


s = S()


@eventually
@always
def ends_at_zero() -> bool:
    return s.x == 0


@eventually
@always
def ends_at_one() -> bool:
    return s.x == 1
