"""Copies of the store that a commit reaches later, one transaction at a time."""

from statewalk import Role, action, any_of, require
from statewalk.models.stores.multiversion.settings import REPLICAS
from statewalk.models.stores.multiversion.store import has, history, versions
from statewalk.models.stores.multiversion.workload import ALL_KEYS, ALL_TRANSACTIONS


class Replica(Role):
    """A copy of the store, where there are several."""

    received: frozenset[str] = frozenset()  # the transactions that it has

    @action(fair="weak")
    def receive(self, transaction: str = any_of(ALL_TRANSACTIONS)) -> None:
        """A transaction that committed elsewhere arrives, as a whole and in any order."""
        require(transaction not in self.received)
        require(any(has(transaction, key) for key in ALL_KEYS))
        self.received = self.received | {transaction}
        history.events.append(("receive", transaction))


replicas = [Replica() for _ in range(REPLICAS if REPLICAS > 1 else 0)]


def here(session: int) -> frozenset[str]:
    """The transactions that the replica of a session has."""
    return replicas[session % REPLICAS].received


def arrive(session: int, transaction: str) -> None:
    """A transaction has committed at the replica of its session."""
    own = replicas[session % REPLICAS]
    own.received = own.received | {transaction}


def newest_received(key: str, there: frozenset[str]) -> str | None:
    """The value of a key where only some transactions have arrived."""
    seen = [v.value for v in versions(key) if v.writer in there]
    return seen[-1] if seen else None
