"""A coordinator's metadata of a transactional id, its transitions, and its log entries."""

from collections.abc import Sequence

from statewalk import Record, replace
from statewalk.models.kafka.common import LEGAL_BEFORE, TxnState

DECIDED: tuple[TxnState, ...] = ("PrepareCommit", "PrepareAbort")


class Metadata(Record):
    """In effect at a coordinator, or, in a log entry, what a transition will put into effect.

    The methods give the metadata after a transition; None if the states do not allow it.
    """

    pid: int
    epoch: int = -1
    state: TxnState = "Empty"
    partitions: frozenset[int] = frozenset()

    def may_become(self, state: TxnState) -> bool:
        return self.state in LEGAL_BEFORE[state]

    def taken(self) -> "Metadata | None":
        """A client takes the id: the epoch tells it from all before."""
        return Metadata(self.pid, self.epoch + 1) if self.may_become("Empty") else None

    def with_partitions(self, partitions: frozenset[int]) -> "Metadata | None":
        """A transaction begins, or grows."""
        if not self.may_become("Ongoing"):
            return None
        return replace(self, state="Ongoing", partitions=self.partitions | partitions)

    def fenced(self, again: bool = False) -> "Metadata | None":
        """An open transaction is to be aborted, in an epoch above that of the client it belongs to.

        The decision to fence is a state of its own but is never written to the log by itself. When
        it is taken again, because the abort failed, the epoch is above already.
        """
        epoch = self.epoch if again else self.epoch + 1
        fence = replace(self, state="PrepareEpochFence", epoch=epoch)
        if not self.may_become("PrepareEpochFence") or not fence.may_become("PrepareAbort"):
            return None
        return replace(fence, state="PrepareAbort")

    def completed(self) -> "Metadata":
        """Return what follows from a decision, and can no longer fail."""
        return replace(
            self, state="CompleteCommit" if self.state == "PrepareCommit" else "CompleteAbort"
        )


class Entry(Record):
    """Of the transaction log: what becomes of an id's metadata when this is committed."""

    tid: int
    transition: Metadata


def shared_pids(a: Sequence[Entry], b: Sequence[Entry]) -> bool:
    """Return whether two transactional ids have the same producer id."""
    return any(x.tid != y.tid and x.transition.pid == y.transition.pid for x in a for y in b)
