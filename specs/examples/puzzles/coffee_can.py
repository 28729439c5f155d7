"""Two beans are taken from a can again and again: what is the colour of the last one?

Two of a colour are replaced by a black one; of two that differ the white one goes back. The number
of white beans stays even or odd, so the last bean is white if it was odd.
"""

from statewalk import (
    Constant,
    State,
    action,
    always,
    any_of,
    config,
    eventually,
    holds,
    init,
    old,
    on_step,
    require,
)

MOST: Constant[int] = 100  # beans in the can at first


class Can(State):
    black: int = 0
    white: int = 0

    @action(fair="weak")
    def take_two_black(self) -> None:
        require(self.black >= 2)
        self.black -= 1

    @action(fair="weak")
    def take_two_white(self) -> None:
        require(self.white >= 2)
        self.white -= 2
        self.black += 1

    @action(fair="weak")
    def take_one_of_each(self) -> None:
        require(self.black and self.white)
        self.black -= 1

    @action
    def rest(self) -> None:
        require(self.black + self.white == 1)


can = Can()


@init
def some_beans() -> None:
    can.black = any_of(range(MOST + 1))
    can.white = any_of(range(MOST + 1 - can.black))
    require(can.black + can.white > 0)


@on_step
def one_bean_less() -> bool:
    return can.black + can.white < old(can.black + can.white) or old(can.black + can.white) == 1


@on_step
def white_stays_even_or_odd() -> bool:
    return can.white % 2 == old(can.white) % 2


@eventually
@always
def one_is_left() -> bool:
    return can.black + can.white == 1


@always
def last_one_tells() -> bool:
    """It is white where the number of white beans was odd, and so stayed odd."""
    return can.black + can.white > 1 or can.white == can.white % 2


config("hundred", expect=holds(distinct=5150, generated=20002, depth=1))
config("thousand", MOST=1000, expect=holds(distinct=501500, generated=2000002, depth=1))
config("ten", MOST=10, expect=holds(distinct=65))
