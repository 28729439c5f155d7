"""Conflicts between concurrent transactions, for serializable snapshot isolation.

A transaction that reads a key has an rw conflict *out* to a concurrent one that writes it, which
has the same conflict *in*. A cycle that snapshot isolation lets through has a transaction with
both, a pivot, whose two neighbours are concurrent with it; so no pivot may commit, and nobody may
make one of a transaction that has.

Source: Cahill, Röhm and Fekete (SIGMOD 2008).
"""

from statewalk.models.stores.multiversion.store import history, keys_read, keys_written
from statewalk.models.stores.multiversion.workload import ALL_TRANSACTIONS


def closes_dangerous_structure(transaction: str, forgetful: bool) -> bool:
    """Return whether a commit would leave a pivot.

    Forgetful: only open transactions are neighbours.
    """
    others = concurrent(transaction, forgetful)
    return is_pivot(transaction, others) or any(
        is_pivot(other, concurrent(other, forgetful)) for other in others if committed(other)
    )


def is_pivot(transaction: str, others: list[str]) -> bool:
    """Return whether it has rw conflicts in both directions."""
    return any(conflict(transaction, other) for other in others) and any(
        conflict(other, transaction) for other in others
    )


def conflict(reader: str, writer: str) -> bool:
    """Return whether one read a key that the other writes; of two that are concurrent."""
    return any(key in keys_written(writer) for key in keys_read(reader))


def concurrent(transaction: str, forgetful: bool) -> list[str]:
    """The transactions, open or committed, that overlap with one."""
    begin, end = borders(transaction)
    found = []
    for other in ALL_TRANSACTIONS:
        if other != transaction and other in history.ops and not aborted(other):
            first, last = borders(other)
            if first < end and begin < last and not (forgetful and committed(other)):
                found.append(other)
    return found


def borders(transaction: str) -> tuple[int, int]:
    """Return when it began and committed, in the order of events; open ones end in the future."""
    begin = history.events.index(("begin", transaction))
    if not committed(transaction):
        return begin, len(history.events)
    return begin, history.events.index(("commit", transaction))


def committed(transaction: str) -> bool:
    return ("commit", transaction) in history.events


def aborted(transaction: str) -> bool:
    return ("abort", transaction) in history.events or ("crash", transaction) in history.events
