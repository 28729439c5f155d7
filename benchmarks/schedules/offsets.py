"""A consumer commits an offset long after it read, and the log has deleted what is before it.

The bug: a group's consumers commit without comparing. Retention keeps what the group still needs by
its committed offset, so an old offset that is committed late points to what is deleted.
"""

from statewalk import Constant, Role, State, action, always, deadlock, require

CONSUMERS: Constant[int] = 4
RECORDS: Constant[int] = 24
BATCH: Constant[int] = 2
LAG: Constant[int] = 14  # records that retention keeps at least


class Log(State):
    start: int = 0
    next: int = 0  # to be fetched
    committed: int = 0


class Retention(Role):
    @action
    def delete(self) -> None:
        require(log.committed - log.start > LAG)
        log.start += 1


class Consumer(Role):
    fetched: int = -1
    handled: bool = False

    @action
    def fetch(self) -> None:
        require(self.fetched < 0 and log.next < RECORDS)
        log.next += BATCH
        self.fetched = log.next

    @action
    def handle(self) -> None:
        require(self.fetched >= 0 and not self.handled)
        self.handled = True

    @action
    def commit(self) -> None:
        require(self.handled)
        log.committed = self.fetched
        self.fetched, self.handled = -1, False


log = Log()
retention = Retention()
consumers = [Consumer() for _ in range(CONSUMERS)]
deadlock(False)


@always
def the_committed_offset_is_in_the_log() -> bool:
    return log.start <= log.committed
