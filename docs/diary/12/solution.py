"""A database that is a function of its input: which transactions of a batch abort?"""

from itertools import product
from typing import Literal

from statewalk import (
    Constant,
    Record,
    State,
    action,
    always,
    any_of,
    exists,
    init,
    require,
    terminal,
)

SIZE: Constant[int] = 2  # transactions in a batch
DELETIONS: Constant[bool] = False
HOW: Constant[
    Literal[
        "at_once",  # all are judged by what is there when the batch begins
        "fixpoint",  # judged again, by what the last round says, until nothing changes
    ]
] = "at_once"

ITEMS = ("a", "b")
STARTS: tuple[frozenset[str], ...] = (frozenset(), frozenset("a"))
if DELETIONS:
    STARTS = (*STARTS, frozenset("ab"))


class Transaction(Record):
    """It commits if what it reads is there, and then adds one of an item, or takes one away."""

    reads: str | None
    writes: str | None
    count: int


ADDS = [(None, 0), ("a", 1), ("b", 1)]
TAKES = [("a", -1), ("b", -1)] if DELETIONS else []
TRANSACTIONS = [Transaction(reads, *w) for reads, w in product((None, *ITEMS), ADDS + TAKES)]
Batch = tuple[Transaction, ...]
Aborted = frozenset[int]  # places in a batch


class Database(State):
    start: frozenset[str] = frozenset()  # what is there before
    batch: Batch = ()
    resolved: bool = False
    aborted: Aborted = frozenset()
    rounds: int = 0
    as_in_order: bool = True  # history: whether the same abort as one after the other

    @action
    def resolve(self) -> None:
        require(not self.resolved)
        if HOW == "at_once":
            self.aborted = judged(self.start, (), self.batch)
            self.rounds = 1
        else:
            assumed: Aborted = frozenset()
            self.aborted = next_round(self.start, self.batch, assumed)
            self.rounds = 1
            while self.aborted != assumed:
                assumed = self.aborted
                self.aborted = next_round(self.start, self.batch, assumed)
                self.rounds += 1
        self.as_in_order = self.aborted == in_order(self.start, self.batch)
        self.resolved = True


def is_there(start: frozenset[str], before: Batch, item: str | None) -> bool:
    """Whether an item is there, after some transactions."""
    return item is None or (item in start) + sum(t.count for t in before if t.writes == item) > 0


def judged(start: frozenset[str], before: Batch, batch: Batch) -> Aborted:
    return frozenset(n for n, t in enumerate(batch) if not is_there(start, before, t.reads))


def next_round(start: frozenset[str], batch: Batch, assumed: Aborted) -> Aborted:
    """Who aborts, if of those before each the assumed ones do."""
    return frozenset(
        n
        for n, t in enumerate(batch)
        if not is_there(start, tuple(batch[m] for m in range(n) if m not in assumed), t.reads)
    )


def in_order(start: frozenset[str], batch: Batch) -> Aborted:
    """Who aborts, if one is executed after the other."""
    done: Batch = ()
    aborted: Aborted = frozenset()
    for n, t in enumerate(batch):
        if is_there(start, done, t.reads):
            done = (*done, t)
        else:
            aborted |= {n}
    return aborted


database = Database()


@init
def any_batch() -> None:
    database.start = any_of(STARTS)
    database.batch = tuple(any_of(TRANSACTIONS) for _ in range(SIZE))


@always
def same_as_in_order() -> bool:
    """The same transactions abort as if they were executed one after the other."""
    return database.as_in_order


@always
def settles() -> bool:
    """A batch of n transactions takes n + 1 rounds at most."""
    return database.rounds <= SIZE + 1


@exists
def somebody_aborts() -> bool:
    return bool(database.aborted)


@terminal
def resolved() -> bool:
    return database.resolved


@exists
def all_rounds_needed() -> bool:
    """A batch of n transactions that takes n + 1 rounds."""
    return database.rounds == SIZE + 1
