"""Kafka transactions, part 2: defects put in on purpose.

Each function stands in for one of `coordinator` where ``--set MUTANT=`` says its name. What each
breaks, and in how many steps, is in the configurations of `transactions`.
"""

from typing import Literal

from statewalk import any_of, mutant, require
from statewalk.models.kafka.coordinator import (
    AddPartitionsRequest,
    Broker,
    LogEntry,
    LogPartition,
    pids,
)
from statewalk.models.kafka.metadata import Metadata
from statewalk.models.kafka.settings import TIDS


@mutant(Broker.complete_partial)
def no_complete_partial(self: Broker, tid: int = any_of(range(TIDS))) -> None:
    """A new leader does not finish what its predecessor decided."""
    require(False)


@mutant(Broker.disappoint)
def silent_truncation(self: Broker, entry: LogEntry) -> None:
    """A demoted leader tells nobody that their entries are gone."""


@mutant(Broker.may_commit)
def stale_commit(self: Broker, partition: LogPartition) -> bool:
    """A leader commits without asking who leads now."""
    return self.leads(partition)


@mutant(Broker.is_outdated)
def no_epoch_check(self: Broker, request: AddPartitionsRequest) -> bool:
    """Partitions are added for a client whatever its epoch."""
    return False


@mutant(Broker.answer)
def early_reply(self: Broker, entry: LogEntry, moment: Literal["appended", "committed"]) -> None:
    """A request for a producer id is answered at append, not at commit."""
    due = "appended" if entry.transition.state == "Empty" else "committed"
    if moment == due and entry.callback is not None:
        entry.callback.client.inbox.add(entry.callback.success)


@mutant(Broker.known)
def pid_regress(self: Broker, tid: int) -> Metadata:
    """The source of producer ids falls back to the id just used."""
    if tid not in self.metadata:
        self.metadata[tid] = Metadata(pids.fresh())
    pids.last = self.metadata[tid].pid
    return self.metadata[tid]
