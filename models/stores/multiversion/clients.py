"""Clients: the workload, as what each asks of its session next."""

from statewalk import Role, action, any_of, require
from statewalk.models.stores.multiversion.sessions import Session, sessions
from statewalk.models.stores.multiversion.settings import ABORTS, CRASH, CRASHES, REPEATS
from statewalk.models.stores.multiversion.store import history
from statewalk.models.stores.multiversion.workload import (
    ALL_KEYS,
    SESSION_COUNT,
    has_done_all,
    may_begin,
    names_of,
    next_is,
    transactions_of,
)


class Client(Role):
    """Runs one transaction after the other, in the session of its number."""

    begun: int = 0  # transactions

    def session(self) -> Session:
        return sessions[self.index]

    @action
    def begin(self) -> None:
        require(self.session().stage == "idle" and self.begun < transactions_of(self.index))
        require(may_begin(self.index))
        self.session().start(names_of(self.index)[self.begun])
        self.begun += 1

    @action(fair="weak")
    def read(self, key: str = any_of(ALL_KEYS)) -> None:
        name = self.session().transaction
        require(self.session().stage == "open" and next_is(name, "r", key))
        history.ops[name].append(("r", key, self.session().answer(key)))

    @action(fair="weak")
    def write(self, key: str = any_of(ALL_KEYS)) -> None:
        """Write a value that is written only once."""
        name = self.session().transaction
        require(self.session().stage == "open" and next_is(name, "w", key))
        self.session().put(key, f"{name}.{len(history.ops[name]) + 1}")

    @action(fair="weak")
    def commit(self) -> None:
        require(self.session().stage == "open" and has_done_all(self.session().transaction))
        self.session().finish()

    if REPEATS != "none":

        @action(fair="weak")
        def repeat(self) -> None:
            """Ask again to commit, having got no answer."""
            require(self.session().stage == "repeating")
            self.session().ask_again()

    @action
    def abort(self) -> None:
        """The client changes its mind."""
        require(ABORTS and self.session().stage == "open")
        require(has_done_all(self.session().transaction))
        self.session().end("abort")

    @action
    def crash(self) -> None:
        """The client is gone, and the store rolls its transaction back."""
        require(self.session().stage == "open" and crashes() < CRASHES)
        if CRASH == "rolled_back":
            self.session().end("crash")
        else:
            self.session().close("crash")


clients = [Client() for _ in range(SESSION_COUNT)]


def crashes() -> int:
    return sum(event[0] == "crash" for event in history.events)
