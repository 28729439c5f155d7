"""An @init that reads what it sets (quint-co/quint, issue 1439)."""

from statewalk import State, action, init


class S(State):
    x: int

    @action
    def step(self) -> None:
        self.x = self.x


s = S()


@init
def start() -> None:
    s.x = s.x
