"""A list that stays empty beside an unbounded counter (quint-co/quint, issue 1870)."""

from statewalk import State, action, eventually


class S(State):
    stream: list[str] = []
    test: int = 0

    @action(fair="weak")
    def xadd(self) -> None:
        self.stream = list(self.stream)
        self.test += 1


s = S()


@eventually
def fills() -> bool:
    return len(s.stream) > 0
