"""The versions that a read of a key may return, beside the transaction's own writes."""

from statewalk.models.stores.multiversion.replicas import newest_received
from statewalk.models.stores.multiversion.settings import READS, REPLICAS
from statewalk.models.stores.multiversion.store import is_open, newest, store, writes_to
from statewalk.models.stores.multiversion.workload import ALL_TRANSACTIONS


def visible(reader: str, key: str, snapshot: int, arrived: frozenset[str]) -> list[str | None]:
    """The values that a transaction may see that reads as of a time, or where some have arrived."""
    if READS == "snapshot":
        if REPLICAS > 1:
            return [newest_received(key, arrived)]
        return [newest(key, snapshot)]
    if READS == "committed":
        return [newest(key, store.clock)]
    return in_progress(reader, key) or [newest(key, store.clock)]


def in_progress(reader: str, key: str) -> list[str | None]:
    """Return what other open transactions have written to a key."""
    return [
        value
        for other in ALL_TRANSACTIONS
        if other != reader and is_open(other)
        for value in exposed(other, key)
    ]


def exposed(transaction: str, key: str) -> list[str | None]:
    """The writes of an open transaction that others can see."""
    mine = writes_to(transaction, key)
    return mine if READS == "intermediate" else mine[-1:]
