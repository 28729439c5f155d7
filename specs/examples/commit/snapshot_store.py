"""A key-value store with snapshot isolation: of two transactions that write a key, one may end.

Each works on a copy of the store. At its end it must not have written what others did meanwhile.
"""

from statewalk import (
    Constant,
    Role,
    State,
    action,
    always,
    any_of,
    config,
    exists,
    holds,
    old,
    on_step,
    require,
)

TRANSACTIONS: Constant[int] = 3
KEYS: Constant[int] = 2
VALUES: Constant[int] = 2

Content = list[int | None]
EMPTY: Content = [None] * KEYS


class Store(State):
    content: Content = EMPTY


class Transaction(Role, symmetric=True):
    open: bool = False
    copy: Content = EMPTY
    written: set[int] = set()
    missed: set[int] = set()  # keys that others wrote since it began

    @action
    def begin(self) -> None:
        require(not self.open)
        self.open = True
        self.copy = store.content

    @action
    def put(self, key: int = any_of(range(KEYS)), value: int = any_of(range(VALUES))) -> None:
        require(self.open and self.copy[key] != value)
        self.copy[key] = value
        self.written.add(key)

    @action
    def remove(self, key: int = any_of(range(KEYS))) -> None:
        require(self.open and self.copy[key] is not None)
        self.copy[key] = None
        self.written.add(key)

    @action
    def roll_back(self) -> None:
        require(self.open)
        self.end()

    @action
    def commit(self) -> None:
        require(self.open and not self.missed & self.written)
        for key in self.written:
            store.content[key] = self.copy[key]
        for other in transactions:
            if other.open:
                other.missed |= self.written
        self.end()

    def end(self) -> None:
        self.open = False
        self.copy = EMPTY
        self.written = set()
        self.missed = set()


store = Store()
transactions = [Transaction() for _ in range(TRANSACTIONS)]


@always
def what_differs_is_written_or_missed() -> bool:
    return all(
        t.copy[key] == store.content[key] or key in t.written or key in t.missed
        for t in transactions
        for key in range(KEYS)
        if t.open
    )


@on_step
def no_write_is_lost() -> bool:
    """Nobody writes over what others wrote since it began."""
    return all(
        key not in old(t.missed) or store.content[key] == old(store.content[key])
        for t in transactions
        if old(t.open) and not t.open
        for key in old(list(t.written))
    )


@exists
def a_commit_is_refused() -> bool:
    return any(t.missed & t.written for t in transactions)


config("three", expect=holds(distinct=3409605, generated=56349379, depth=23))
config("two", TRANSACTIONS=2, expect=holds(distinct=28305, generated=314965, depth=17))
