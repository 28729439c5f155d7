"""A timeout that asks whether another action is enabled (Promela: timeout)."""

from statewalk import State, action, always, enabled, require


class S(State):
    msg: bool = True
    lost: bool = False
    n: int = 0

    @action
    def receive(self) -> None:
        require(self.msg)
        self.msg = False

    @action
    def timeout(self) -> None:
        require(self.n < 2)
        require(not enabled("receive"))
        self.msg = True
        self.n += 1


s = S()


@always
def one_at_a_time() -> bool:
    return s.n <= 2
