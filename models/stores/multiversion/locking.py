"""Locks on keys: who waits for whom, and who has to give way."""

from statewalk import State
from statewalk.models.stores.multiversion.store import history, is_open
from statewalk.models.stores.multiversion.workload import ALL_KEYS, next_is


class Locks(State):
    held: dict[str, str] = {}  # key -> the transaction that may write it


locks = Locks()


def may_lock(transaction: str, key: str) -> bool:
    """Return whether nobody else has the lock of a key."""
    return locks.held.get(key, transaction) == transaction


def take(transaction: str, key: str) -> None:
    """Give a transaction the lock of a key."""
    locks.held[key] = transaction


def waits_for(transaction: str) -> str | None:
    """Return whose lock a transaction waits for."""
    if is_open(transaction):
        for key in ALL_KEYS:
            holder = locks.held.get(key)
            if holder is not None and holder != transaction and next_is(transaction, "w", key):
                return holder
    return None


def must_give_way(transaction: str) -> bool:
    """Return whether it is the youngest of a circle of transactions that wait for each other."""
    circle = [transaction]
    after = waits_for(transaction)
    while after is not None and after not in circle:
        circle.append(after)
        after = waits_for(after)
    return after == transaction and all(began(other) <= began(transaction) for other in circle)


def began(transaction: str) -> int:
    return history.events.index(("begin", transaction))


def release(transaction: str) -> None:
    """Give all locks of a transaction back."""
    for key in ALL_KEYS:
        if locks.held.get(key) == transaction:
            locks.held.pop(key)
