"""A mutex that anybody may release: who holds it is not known (Knossos' mutex)."""

from statewalk import State, action, config, exists, holds, require


class Mutex(State):
    locked: bool = False

    @action
    def acquire(self) -> None:
        require(not self.locked)
        self.locked = True

    @action
    def release(self) -> None:
        require(self.locked)
        self.locked = False


mutex = Mutex()


@exists
def is_locked() -> bool:
    return mutex.locked


config("one", expect=holds(distinct=2))
