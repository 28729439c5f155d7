"""A choice in @init that is used twice (quint-co/quint, issue 710)."""

from statewalk import State, action, always, any_of, init


class S(State):
    x: int = 0
    y: int = 0

    @action
    def step(self) -> None:
        if self.x < 5:
            self.x += 1
            self.y -= 1


s = S()


@init
def start() -> None:
    v = any_of({1, 2, 3})
    s.x = v
    s.y = -v


@always
def mirror() -> bool:
    return s.y == -s.x
