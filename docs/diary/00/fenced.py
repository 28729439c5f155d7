"""A lock with a lease, and a store that may look at its tokens."""

from statewalk import (
    Constant,
    Role,
    State,
    action,
    always,
    exists,
    mutant,
    old,
    on_step,
    require,
    terminal,
)

FENCED: Constant[bool] = True
TOKENS: Constant[int] = 3


class Lock(State):
    owner: "Worker | None" = None
    token: int = 0

    def next_token(self) -> int:
        return self.token + 1

    @action
    def lease_runs_out(self) -> None:
        require(self.owner is not None)
        self.owner = None


class Store(State):
    last: int = 0  # the token of the last write


class Worker(Role):
    token: int = 0  # 0: it does not work

    @action
    def begin(self) -> None:
        require(self.token == 0 and lock.owner is None and lock.token < TOKENS)
        lock.owner = self
        lock.token = lock.next_token()
        self.token = lock.token

    @action
    def write(self) -> None:
        require(self.token > 0)
        if FENCED:
            require(self.token >= store.last)
        store.last = self.token

    @action
    def end(self) -> None:
        require(self.token > 0)
        self.token = 0
        if lock.owner == self:
            lock.owner = None


lock = Lock()
store = Store()
workers = [Worker() for _ in range(2)]


@on_step
def writes_keep_their_order() -> bool:
    """A later holder's write is never followed by an earlier one's."""
    return store.last >= old(store.last)


@exists
def two_at_work() -> bool:
    return all(worker.token > 0 for worker in workers)


@always
def tokens_are_given() -> bool:
    return store.last <= lock.token


@terminal
def tokens_ran_out() -> bool:
    return lock.token == TOKENS


@mutant(Lock.next_token)
def same_token(self: Lock) -> int:
    """After the first, everybody gets the same token."""
    return 1
