"""A strongly fair action without effect (discuss.tlapl.us, msg05601)."""

from statewalk import State, action, always, eventually


class S(State):
    v: int = 0
    w: int = 0

    @action(fair="strong")
    def n(self) -> None:
        self.v = 0

    @action(fair="weak")
    def up(self) -> None:
        self.w = min(self.w + 1, 2)


s = S()


@eventually
def one() -> bool:
    return s.v == 1


@eventually
@always
def two() -> bool:
    return s.w == 2
