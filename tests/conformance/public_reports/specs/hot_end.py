"""A monitor that stays hot where everything has ended (p-org/P, issue 20)."""

from statewalk import State, action, always, eventually, require, terminal


class S(State):
    hot: bool = False
    n: int = 0

    @action(fair="weak")
    def start(self) -> None:
        require(self.n < 2)
        self.n += 1
        self.hot = True


s = S()


@terminal
def end() -> bool:
    return s.n == 2


@always
@eventually
def cold_again() -> bool:
    return not s.hot
