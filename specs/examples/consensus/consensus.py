"""The definition of consensus: of some values, one is chosen, once."""

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
    maybe,
    require,
    terminal,
)

VALUES: Constant[int] = 3
CHOSEN_BEFORE: Constant[bool] = False  # whether a value may be chosen at the beginning


class Chosen(State):
    values: set[int] = set()

    @action(fair="weak")
    def choose(self, value: int = any_of(range(VALUES))) -> None:
        require(not self.values)
        self.values.add(value)


chosen = Chosen()


@init
def perhaps_one() -> None:
    if CHOSEN_BEFORE and maybe():
        chosen.values = {any_of(range(VALUES))}


@always
def one_at_most() -> bool:
    return len(chosen.values) <= 1


@terminal
def somebody_chose() -> bool:
    return bool(chosen.values)


@eventually
def one_is_chosen() -> bool:
    return somebody_chose()


config("three", expect=holds(distinct=4, generated=4, depth=2))
config("three-begun", CHOSEN_BEFORE=True, expect=holds(distinct=4, generated=7, depth=1))
