"""The levels of isolation, of which a run promises one."""

from statewalk import always
from statewalk.dsl.library.recording import reads_own_writes as consistent_inside
from statewalk.models.stores.multiversion.settings import LEVEL
from statewalk.models.stores.multiversion.store import history
from statewalk.models.stores.multiversion.verdicts import anomaly
from statewalk.models.stores.multiversion.workload import ALL_TRANSACTIONS

if LEVEL == "parallel-si":

    @always
    def parallel_si() -> bool:
        """Transactions are seen whole; no two that write the same key miss each
        other.
        """
        return anomaly("parallel-si") == ""


if LEVEL == "si":

    @always
    def snapshot_isolation() -> bool:
        """Each reads an earlier snapshot, of any age; no two that overlap write the same key."""
        return anomaly("si") == ""


if LEVEL == "strong-session-si":

    @always
    def strong_session_si() -> bool:
        """And the snapshot has what its own session did before."""
        return anomaly("strong-session-si") == ""


if LEVEL == "strong-si":

    @always
    def strong_si() -> bool:
        """And everything that was committed before the transaction began."""
        return anomaly("strong-si") == ""


if LEVEL == "serializable":

    @always
    def serializable() -> bool:
        """The transactions might have run one after the other."""
        return anomaly("serializable") == ""


@always
def reads_own_writes() -> bool:
    """A transaction that has written a key reads its own last write."""
    return all(
        consistent_inside(history.ops[name][:]) for name in ALL_TRANSACTIONS if name in history.ops
    )
