"""A flag that an action sets to either value, nothing fair (tlaplus/tlaplus, issue 971)."""

from statewalk import State, action, always, eventually


class S(State):
    x: bool = True

    @action
    def flip(self, to: bool) -> None:
        self.x = to


s = S()


@always
@eventually
def again_true() -> bool:
    return s.x
