"""One action that either changes nothing or goes.

Fairness speaks of steps that change the state. Such a step is enabled until one goes, so one goes,
although the action could also be taken without effect for ever.
"""

from statewalk import State, action, any_of, config, eventually, holds


class S(State):
    gone: bool = False


s = S()


@action(fair="weak")
def step() -> None:
    if any_of([False, True]):
        s.gone = True


@eventually
def goes() -> bool:
    return s.gone


config("it", expect=holds())
