"""Snapshots of a table expire while a reader still reads the files of one.

The bug: expiry keeps the last snapshots, and asks no reader. Writers commit at most so often.
"""

from statewalk import Constant, Role, State, action, always, deadlock, require

KEEP: Constant[int] = 6
COMMITS: Constant[int] = 8
READS: Constant[int] = 3
READERS: Constant[int] = 3


class Table(State):
    version: int = 0
    oldest: int = 0  # files of older snapshots are deleted
    failed: bool = False


class Writer(Role):
    base: int = -1
    tries: int = 0

    @action
    def begin(self) -> None:
        require(self.base < 0 and self.tries < COMMITS)
        self.base = table.version
        self.tries += 1

    @action
    def commit(self) -> None:
        require(self.base >= 0)
        if self.base == table.version:
            table.version += 1
        self.base = -1


class Service(Role):
    @action
    def expire(self) -> None:
        require(table.version - table.oldest > KEEP)
        table.oldest += 1


class Reader(Role):
    version: int = -1
    reads: int = 0

    @action
    def plan(self) -> None:
        require(self.version < 0 and self.reads < READS)
        self.version = table.version

    @action
    def read(self) -> None:
        require(self.version >= 0)
        table.failed = self.version < table.oldest
        self.version = -1
        self.reads += 1


table = Table()
writers = [Writer(), Writer()]
service = Service()
readers = [Reader() for _ in range(READERS)]
deadlock(False)


@always
def files_are_there_while_they_are_read() -> bool:
    return not table.failed
