"""A step that changes nothing is no progress.

`idle` is fair and possible for ever, but never changes the state, so its fairness asks for nothing;
`go` is not fair. Stopping at once is allowed: a lasso without steps.
"""

from statewalk import State, action, config, eventually, violates


class S(State):
    gone: bool = False


s = S()


@action(fair="strong")
def idle() -> None:
    s.gone = bool(s.gone)


@action
def go() -> None:
    s.gone = True


@eventually
def goes() -> bool:
    return s.gone


config("it", expect=violates(goes, length=0))
