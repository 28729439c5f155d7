"""A cat moves each night to the box beside hers; each morning one box is opened.

Whoever opens the second box to the last but one, that one once more, and back, finds her.
"""

from typing import Literal

from statewalk import Constant, State, action, any_of, config, eventually, holds, init

BOXES: Constant[int] = 5

assert BOXES >= 3, "between the first and the last box is one to open"


class Game(State):
    cat: int = 1
    opened: int = 2
    way: Literal["left", "right"] = "right"

    @action(fair="weak")
    def night_and_morning(self) -> None:
        self.cat = any_of([box for box in (self.cat - 1, self.cat + 1) if 1 <= box <= BOXES])
        following = self.opened + (1 if self.way == "right" else -1)
        if 2 <= following < BOXES:
            self.opened = following
        else:
            self.way = "left" if self.way == "right" else "right"


game = Game()


@init
def anywhere() -> None:
    game.cat = any_of(range(1, BOXES + 1))
    game.opened = any_of(range(2, BOXES))
    game.way = any_of(("left", "right"))


@eventually
def found() -> bool:
    return game.cat == game.opened


config("five", expect=holds(distinct=30, generated=78, depth=1))
config("six", BOXES=6, expect=holds(distinct=48, generated=128, depth=1))
