"""The common parts of the models of Kafka transactions: the states of a transaction, and
producer ids.
"""

from typing import Literal

from statewalk import State

TxnState = Literal[
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "PrepareEpochFence",
    "Dead",
]

# From which states a transaction may move to another. Metadata is created as Empty.
LEGAL_BEFORE: dict[TxnState, tuple[TxnState, ...]] = {
    "Empty": ("Empty", "CompleteCommit", "CompleteAbort"),
    "Ongoing": ("Ongoing", "Empty", "CompleteCommit", "CompleteAbort"),
    "PrepareCommit": ("Ongoing",),
    "PrepareAbort": ("Ongoing", "PrepareEpochFence"),
    "CompleteCommit": ("PrepareCommit",),
    "CompleteAbort": ("PrepareAbort",),
    "PrepareEpochFence": ("Ongoing",),
    "Dead": ("Empty", "CompleteCommit", "CompleteAbort"),
}


class PidSource(State):
    """The source of producer ids: each is issued once."""

    last: int = 0

    def fresh(self) -> int:
        self.last += 1
        return self.last
