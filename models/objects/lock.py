"""A lock that its owner alone releases. ``acquire`` waits; ``try_acquire`` says whether it is the
client's now.
"""

from statewalk import State, action, any_of, config, exists, holds, require
from statewalk.models.objects.values import Scalar

CLIENTS = (1, 2)


class Lock(State):
    owner: Scalar = None

    @action
    def acquire(self, client: Scalar = any_of(CLIENTS)) -> None:
        require(self.owner is None)
        self.owner = client

    @action
    def try_acquire(self, client: Scalar = any_of(CLIENTS)) -> bool:
        if self.owner is not None:
            return False
        self.owner = client
        return True

    @action
    def release(self, client: Scalar = any_of(CLIENTS)) -> None:
        require(self.owner == client)
        self.owner = None


lock = Lock()


@exists
def is_locked() -> bool:
    return lock.owner is not None


config("two", expect=holds(distinct=3))
