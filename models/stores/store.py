"""A multi-version key-value store, and the record of what its sessions were told.

The store keeps every version with its time stamp. Which of them a transaction sees, and when its
writes become versions, is what the variants differ in (`snapshot`). The record is kept apart from
the store, so that a verdict never rests on what is under test.
"""

from typing import Literal

from statewalk import Constant, Record, Role, State, action, any_of, require
from statewalk.models.stores.scripts import keys_of, parse

# -- constants -------------------------------------------------------------------------------------
WORKLOAD: Constant[str] = "r x, w x || r x, w x"  # a script of `scripts`, or "free"
SESSIONS: Constant[int] = 2  # the bounds of the free workload
TRANSACTIONS: Constant[int] = 2  # of each session
OPS: Constant[int] = 2  # of each transaction
KEYS: Constant[int] = 2
# Of free transactions that differ only in the order of their operations, or in repeating some, all
# or one? The one reads before it writes, each key once, in alphabetical order, and may be shorter.
# Nor are begins told apart that follow each other in another order.
EVERY_ORDER: Constant[bool] = True
REPLICAS: Constant[int] = 1  # with more, a commit reaches the others later; sessions are pinned

READS: Constant[
    Literal[
        "snapshot",
        "committed",  # what is newest when it reads
        "uncommitted",  # what another transaction has just written, if one has
        "intermediate",  # the same, and also what that one has overwritten since
    ]
] = "snapshot"
PUBLISH: Constant[
    Literal[
        "atomic",
        "by_key",  # a commit installs one key in each step
        "lost",  # a commit is acknowledged and installs nothing
    ]
] = "atomic"
FREE = WORKLOAD == "free"
DIRTY = READS in ("uncommitted", "intermediate") or PUBLISH == "by_key"
SCRIPTS = () if FREE else parse(WORKLOAD)
ALL_KEYS = tuple("xyz"[:KEYS]) if FREE else keys_of(SCRIPTS)
SESSION_COUNT = SESSIONS if FREE else len(SCRIPTS)
LETTERS = "ABCDEFGH"

assert 1 <= SESSION_COUNT <= len(LETTERS) and 1 <= KEYS <= 3 and REPLICAS >= 1


def transactions_of(session: int) -> int:
    """How many transactions a session runs."""
    return TRANSACTIONS if FREE else len(SCRIPTS[session])


def names_of(session: int) -> list[str]:
    """What the transactions of a session are called."""
    return [f"{LETTERS[session]}{n + 1}" for n in range(transactions_of(session))]


ALL_TRANSACTIONS = tuple(name for s in range(SESSION_COUNT) for name in names_of(s))


# -- the record ------------------------------------------------------------------------------------
# "r" or "w", the key, and the value: None is what every key holds in the beginning.
Op = tuple[Literal["r", "w"], str, str | None]

# A transaction begins, publishes part of its writes, ends, or arrives at another replica. After a
# crash nobody tells its client how it ended.
Happening = Literal["begin", "publish", "commit", "abort", "crash", "receive"]
Event = tuple[Happening, str]


class History(State):
    """What happened, as an all-seeing observer wrote it down.

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
    locks: dict[str, str] = {}  # key -> the transaction that may write it


class Replica(Role):
    """A copy of the store, where there are several."""

    received: frozenset[str] = frozenset()  # the transactions that it has

    @action(fair="weak")
    def receive(self, transaction: str = any_of(ALL_TRANSACTIONS)) -> None:
        """A transaction that committed elsewhere arrives, as a whole and in any order."""
        require(transaction not in self.received)
        require(any(v.writer == transaction for key in ALL_KEYS for v in versions(key)))
        self.received = self.received | {transaction}
        history.events.append(("receive", transaction))


history = History()
store = Store()
replicas = [Replica() for _ in range(REPLICAS if REPLICAS > 1 else 0)]


def versions(key: str) -> list[Version]:
    """The versions of a key, the oldest first; the initial one is not among them."""
    return store.versions.get(key, [])


def newest(key: str, time: int) -> str | None:
    """The value of a key as of a time."""
    seen = [v.value for v in versions(key) if v.time <= time]
    return seen[-1] if seen else None


def newest_received(key: str, there: frozenset[str]) -> str | None:
    """The value of a key where only some transactions have arrived."""
    seen = [v.value for v in versions(key) if v.writer in there]
    return seen[-1] if seen else None


def writes_to(transaction: str, key: str) -> list[str | None]:
    """What a transaction has written to a key, in order."""
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


# -- the free workload, without what is the same but for names ------------------------------------
def just_begun_after(session: int) -> bool:
    """Whether the last event is a begin of a later session: either order gives the same."""
    return any(what == "begin" and name[0] > LETTERS[session] for what, name in history.events[-1:])


def skips_a_key(key: str) -> bool:
    """Keys are alike: in the free workload they are first used in alphabetical order."""
    at = ALL_KEYS.index(key)
    return at > 0 and not any(
        op[1] == ALL_KEYS[at - 1] for name in history.ops for op in history.ops[name]
    )
