"""Two writers look, then put: the race of entry 8 and nothing else."""

from statewalk import Role, State, action, always, require, terminal


class Store(State):
    versions: list[int] = []  # who put each


class Writer(Role):
    seen: int = -1  # versions
    done: bool = False

    @action
    def look(self) -> None:
        require(self.seen == -1)
        self.seen = len(store.versions)

    @action
    def put(self) -> None:
        require(self.seen > -1 and not self.done)
        store.versions = [*store.versions[: self.seen], self.index]
        self.done = True


store = Store()
writers = [Writer() for _ in range(2)]


@always
def nothing_is_lost() -> bool:
    return all(writer.index in store.versions for writer in writers if writer.done)


@terminal
def all_done() -> bool:
    return all(writer.done for writer in writers)
