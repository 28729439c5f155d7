"""A lock that may be lost at any time, with a fencing token: a number that grows with each owner.

``acquire`` returns the token. The lease of before may have run out by then, or not: both are right.
``renew`` and ``write`` take a token, and say whether it is still the newest; a lease that ran out
is not renewed.
"""

from statewalk import State, action, always, any_of, config, constraint, holds, maybe
from statewalk.models.objects.values import Value

TOKENS = (1, 2, 3)


class Lease(State):
    token: int = 0
    over: bool = True
    value: Value = None

    @action
    def acquire(self) -> int:
        self.token += 1
        self.over = False
        return self.token

    @action
    def renew(self, token: int = any_of(TOKENS)) -> bool:
        if token != self.token or self.over or maybe():
            self.over = self.over or token == self.token
            return False
        return True

    @action
    def release(self, token: int = any_of(TOKENS)) -> None:
        self.over = self.over or token == self.token

    @action
    def write(self, token: int = any_of(TOKENS), value: Value = any_of((0, 1))) -> bool:
        if token != self.token:
            return False
        self.value = value
        return True

    @action
    def read(self) -> Value:
        return self.value


lease = Lease()


@constraint
def few() -> bool:
    return lease.token <= 3


@always
def is_owned_once_acquired() -> bool:
    return lease.token > 0 or lease.over


config("three", expect=holds(distinct=19))
