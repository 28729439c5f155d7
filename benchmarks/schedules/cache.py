"""A cache beside a database: a reader that missed fills it with what it read long before.

The bug: a fill does not compare versions. Writers write to the database, then empty the cache.
"""

from statewalk import Constant, Role, State, action, always, deadlock, require

READERS: Constant[int] = 3
READS: Constant[int] = 3
WRITES: Constant[int] = 8
STALE: Constant[int] = 8  # versions, at most

EMPTY = -1


class Store(State):
    version: int = 0
    cached: int = EMPTY


class Writer(Role):
    writes: int = 0
    wrote: bool = False

    @action
    def write(self) -> None:
        require(not self.wrote and self.writes < WRITES)
        store.version += 1
        self.writes, self.wrote = self.writes + 1, True

    @action
    def empty_cache(self) -> None:
        require(self.wrote)
        store.cached, self.wrote = EMPTY, False


class Reader(Role):
    read: int = EMPTY
    reads: int = 0

    @action
    def miss(self) -> None:
        require(self.read == EMPTY and store.cached == EMPTY and self.reads < READS)
        self.read = store.version

    @action
    def fill(self) -> None:
        require(self.read != EMPTY)
        store.cached, self.read = self.read, EMPTY
        self.reads += 1


store = Store()
writers = [Writer(), Writer()]
readers = [Reader() for _ in range(READERS)]
deadlock(False)


@always
def what_is_cached_is_not_too_old() -> bool:
    return store.cached == EMPTY or store.version - store.cached <= STALE
