"""The towers of Hanoi: the trace to a state in which all disks are on the last tower."""

from statewalk import Constant, State, action, always, any_of, config, require, violates

DISKS: Constant[int] = 3
TOWERS: Constant[int] = 3


class Board(State):
    towers: list[list[int]] = [list(range(DISKS, 0, -1)), *([] for _ in range(TOWERS - 1))]

    @action
    def move(self, source: int = any_of(range(TOWERS)), to: int = any_of(range(TOWERS))) -> None:
        a, b = self.towers[source], self.towers[to]
        require(source != to and a)
        require(not b or a[-1] < b[-1])
        b.append(a.pop())


board = Board()


@always
def not_solved() -> bool:
    return len(board.towers[TOWERS - 1]) < DISKS


config("three", expect=violates(not_solved, length=7))
