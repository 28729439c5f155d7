"""A register: read, write, and compare-and-set, which says whether it did.

``INITIAL`` is what it holds at the beginning.
"""

from statewalk import Constant, State, action, always, any_of, config, holds
from statewalk.models.objects.values import Value

INITIAL: Constant[int | str | None] = None
VALUES = (0, 1)


class Register(State):
    value: Value = INITIAL

    @action
    def read(self) -> Value:
        return self.value

    @action
    def write(self, value: Value = any_of(VALUES)) -> None:
        self.value = value

    @action
    def cas(self, old: Value = any_of(VALUES), new: Value = any_of(VALUES)) -> bool:
        if self.value != old:
            return False
        self.value = new
        return True


register = Register()


@always
def holds_what_was_written() -> bool:
    return register.value == INITIAL or register.value in VALUES


config("nil", expect=holds(distinct=3))
config("zero", INITIAL=0, expect=holds(distinct=2))
