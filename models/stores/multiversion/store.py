"""The versions of keys, and the record of what sessions were told.

The store keeps every version with its time stamp. Which of them a transaction sees, and when its
writes become versions, is what the variants differ in (`snapshot`). The record is kept apart from
the store, so that a verdict never rests on what is under test.
"""

from typing import Literal

from statewalk import Record, State

# -- the record ------------------------------------------------------------------------------------
# "r" or "w", the key, and the value: None is what every key holds in the beginning.
Op = tuple[Literal["r", "w"], str, str | None]

# A transaction begins, publishes part of its writes, ends, or arrives at another replica. After a
# crash nobody tells its client how it ended, also where a store finds its writes again.
Happening = Literal["begin", "publish", "commit", "abort", "crash", "receive", "recover"]
Event = tuple[Happening, str]


ENDS: tuple[Happening, ...] = ("commit", "abort", "crash", "recover")


class History(State):
    """The history of the store, as an all-seeing observer records it.

    Transactions are A1, A2, ... of session 0, B1, ... of session 1. Their values are unique: A1.2
    is written by the second operation of A1.
    """

    events: list[Event] = []
    ops: dict[str, list[Op]] = {}


# -- the store -------------------------------------------------------------------------------------
class Version(Record):
    time: int
    value: str | None
    writer: str


class Store(State):
    clock: int = 0  # the time stamp of the last commit that wrote something
    versions: dict[str, list[Version]] = {}


history = History()
store = Store()


def versions(key: str) -> list[Version]:
    """The versions of a key, the oldest first; the initial one is not among them."""
    return store.versions.get(key, [])


def newest(key: str, time: int) -> str | None:
    """The value of a key as of a time."""
    seen = [v.value for v in versions(key) if v.time <= time]
    return seen[-1] if seen else None


def writes_to(transaction: str, key: str) -> list[str | None]:
    """Return what a transaction has written to a key, in order."""
    return [op[2] for op in history.ops[transaction] if op[:2] == ("w", key)]


def keys_written(transaction: str) -> list[str]:
    """The keys that a transaction wrote, each once, in alphabetical order."""
    return sorted({op[1] for op in history.ops[transaction] if op[0] == "w"})


def keys_read(transaction: str) -> list[str]:
    """The keys that a transaction read, each once, in alphabetical order."""
    return sorted({op[1] for op in history.ops[transaction] if op[0] == "r"})


def install(transaction: str, key: str, time: int) -> None:
    """Make the last write of a transaction to a key its newest version."""
    if key not in store.versions:
        store.versions[key] = []
    store.versions[key].append(Version(time, writes_to(transaction, key)[-1], transaction))


def has(transaction: str, key: str) -> bool:
    """Return whether a write of a transaction is a version."""
    return any(v.writer == transaction for v in versions(key))


def is_open(transaction: str) -> bool:
    """Return whether a transaction has begun and not ended."""
    begun = ("begin", transaction) in history.events
    return begun and not any((how, transaction) in history.events for how in ENDS)
