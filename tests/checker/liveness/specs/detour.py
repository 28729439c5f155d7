"""The fair cycle needs a detour.

a, b, c on a triangle 0, 1, 2 with a shortcut 1 to 0. `visit` (1 to 2) is strong, so the shortcut
alone is not fair: each fair behavior passes 2 again and again. "Always eventually 2" holds;
"eventually always below 2" fails, and its cycle 0, 1, 2, 0 takes three steps.
"""

from statewalk import State, action, always, config, eventually, require, violates


class S(State):
    at: int = 0


s = S()


@action(fair="weak")
def enter() -> None:
    require(s.at == 0)
    s.at = 1


@action(fair="weak")
def shortcut() -> None:
    require(s.at == 1)
    s.at = 0


@action(fair="strong")
def visit() -> None:
    require(s.at == 1)
    s.at = 2


@action(fair="weak")
def home() -> None:
    require(s.at == 2)
    s.at = 0


@always
@eventually
def visits() -> bool:
    return s.at == 2


@eventually
@always
def below() -> bool:
    return s.at < 2


config("it", expect=violates(below, length=3))
