"""Coins that change places (Smattr/rumur, issue 51)."""

from statewalk import Constant, Role, action

N: Constant[int] = 5


class Coin(Role, symmetric=True):
    v: int = 0

    @action
    def turn(self) -> None:
        self.v = 1 - self.v


coins = [Coin() for _ in range(N)]
