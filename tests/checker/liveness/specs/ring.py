"""A token goes round among three processes, each passing it on fairly.

Only the holder can pass, and nothing else is possible, so each holds it again and again. No process
keeps it: one round of three steps. If process 1 is not fair, the token may stay with it: one step,
then nothing happens, and processes 0 and 2 do not get it again.
"""

from statewalk import Constant, State, action, always, config, eventually, holds, require, violates

LAZY: Constant[bool] = False


class Token(State):
    at: int = 0


token = Token()


@action(fair="weak")
def pass_on() -> None:
    require(token.at != 1)
    token.at = (token.at + 1) % 3


@action(fair="none" if LAZY else "weak")
def pass_on_from_one() -> None:
    require(token.at == 1)
    token.at = 2


@always
@eventually
def zero() -> bool:
    return token.at == 0


@always
@eventually
def one() -> bool:
    return token.at == 1


@always
@eventually
def two() -> bool:
    return token.at == 2


config("fair", expect=holds())
config("lazy", expect=violates(zero, two, length=1), LAZY=True)
