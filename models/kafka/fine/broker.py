"""Kafka transactions, part 2: what `GRAIN=fine` takes apart.

With `GRAIN=atomic` an entry is replicated, committed, applied and answered in one step, so that an
error always means that it did not happen. Here each of these is a step of its own:

- a coordinator appends to its own log; followers fetch entry by entry; the leader raises its high
  watermark when all have an entry; then the entry takes effect and its client is answered;
- an append may time out before: the client is told an error, and the entry lives on;
- a new leader first loads its log, to its end, committed or not. Until it has, it refuses requests;
- a follower shortens its log to where it leaves that of its leader, as `kip320` in `replication`;
- to fence a client is decided in one step; the cached epoch is raised, and the abort appended, in
  the next. Should the append fail, the epoch stays raised, and is not raised again (KAFKA-9666).

Names of classes and methods are of Kafka 3.9; docs/models/kafka-coordinator.md says more of each.
"""

from statewalk import Record, State, action, any_of, replace, require
from statewalk.models.kafka.coordinator import (
    Broker,
    Callback,
    LogEntry,
    LogPartition,
    partition_of,
)
from statewalk.models.kafka.metadata import DECIDED, Metadata
from statewalk.models.kafka.settings import MAX_SHRINKS, MAX_TIMEOUTS, MIN_ISR, REPEATED, TIDS, Code


class Waiting(Record):
    """A pending transition that waits until the log is committed up to an end, and for whom.

    The end is 0 as long as nothing is appended.
    """

    end: int
    callback: Callback | None


class Faults(State):
    timeouts: int = 0
    shrinks: int = 0


class FineBroker(Broker, symmetric=True):
    waiting: dict[int, Waiting] = {}  # by tid, as pending
    loading: set[LogPartition] = set()
    fenced: set[int] = set()  # tids whose epoch is raised for an abort that has yet to succeed

    # -- as coordinator: append, apply and answer

    def absent(self, partition: LogPartition) -> Code | None:
        if partition in self.loading:
            return "CoordinatorLoadInProgress"
        return super().absent(partition)

    def append(self, tid: int, transition: Metadata, callback: Callback | None) -> None:
        if REPEATED == "answer" and transition == self.metadata[tid]:
            self.answer(LogEntry(tid, transition, callback), "committed")
        elif transition.state == "PrepareAbort":
            self.pending[tid] = replace(transition, state="PrepareEpochFence")
            self.waiting[tid] = Waiting(0, callback)
        else:
            self.write(tid, transition, callback)

    def write(self, tid: int, transition: Metadata, callback: Callback | None) -> None:
        """The entry is in the log of the leader, or refused for want of replicas."""
        partition = partition_of(tid)
        self.pending[tid] = transition
        self.waiting[tid] = Waiting(len(self.log[partition]) + 1, callback)
        if len(partition.isr) < MIN_ISR:
            self.fail(tid)
            return
        entry = LogEntry(tid, transition, epoch=self.view[partition].epoch)
        self.log[partition].append(entry)
        self.answer(LogEntry(tid, transition, callback), "appended")

    def fail(self, tid: int) -> None:
        """An append has failed, whatever became of the entry. A completion is tried again later."""
        callback = self.waiting[tid].callback
        self.pending.pop(tid)
        self.waiting.pop(tid)
        if callback is not None:
            failure = replace(callback.failure, code="CoordinatorNotAvailable")
            callback.client.inbox.add(failure)

    @action(fair="weak")
    def complete_append(self, tid: int = any_of(range(TIDS))) -> None:
        """TransactionMetadata.completeTransitionTo, once the high watermark is there; an answer."""
        require(tid in self.waiting)
        waiting = self.waiting[tid]
        require(0 < waiting.end <= self.committed[partition_of(tid)])
        if len(partition_of(tid).isr) < MIN_ISR:
            self.fail(tid)  # committed all the same
            return
        entry = LogEntry(tid, self.pending[tid], waiting.callback)
        self.waiting.pop(tid)
        if entry.transition.state in DECIDED:
            self.fenced.discard(tid)
        self.apply(entry)

    @action
    def time_out(self, tid: int = any_of(range(TIDS))) -> None:
        """REQUEST_TIMED_OUT in TransactionStateManager.updateCacheCallback: the entry lives on."""
        require(faults.timeouts < MAX_TIMEOUTS)
        require(tid in self.waiting)
        waiting = self.waiting[tid]
        require(waiting.end > self.committed[partition_of(tid)])
        faults.timeouts += 1
        self.fail(tid)

    # -- as coordinator: fencing

    def fence(self, tid: int) -> Metadata | None:
        return self.metadata[tid].fenced(again=tid in self.fenced)

    @action(fair="weak")
    def abort_fenced(self, tid: int = any_of(range(TIDS))) -> None:
        """TransactionCoordinator.endTransaction: from now on the old epoch is refused."""
        require(tid in self.pending and self.pending[tid].state == "PrepareEpochFence")
        fence, callback = self.pending[tid], self.waiting[tid].callback
        self.raise_epoch(tid, fence.epoch)
        self.write(tid, replace(fence, state="PrepareAbort"), callback)

    def raise_epoch(self, tid: int, epoch: int) -> None:
        self.metadata[tid] = replace(self.metadata[tid], epoch=epoch)
        self.fenced.add(tid)

    # -- as coordinator: leadership moves

    def materialise(self, partition: LogPartition) -> None:
        self.loading.add(partition)

    @action(fair="weak")
    def load(self, partition: LogPartition) -> None:
        """TransactionStateManager.loadTransactionMetadata. Another election may come before."""
        require(partition in self.loading)
        self.loading.remove(partition)
        for entry in self.log[partition][: self.end_to_load(partition)]:
            self.metadata[entry.tid] = entry.transition

    def end_to_load(self, partition: LogPartition) -> int:
        """Committed or not: what a predecessor answered may lie above this high watermark."""
        return len(self.log[partition])

    def truncate(self, partition: LogPartition) -> None:
        for tid in partition.tids():
            if tid in self.waiting:
                self.disappoint(LogEntry(tid, self.pending[tid], self.waiting[tid].callback))
        end = self.truncation_point(partition)
        self.log[partition] = self.log[partition][:end]
        self.committed[partition] = min(self.committed[partition], end)
        self.loading.discard(partition)

    def forget(self, tid: int) -> None:
        super().forget(tid)
        self.waiting.pop(tid, None)
        self.fenced.discard(tid)

    # -- the log

    def truncation_point(self, partition: LogPartition) -> int:
        """Behind the last entry that this log has in common with the leader's."""
        own, leaders = self.log[partition], partition.now.leader.log[partition]
        both = range(min(len(own), len(leaders)))
        return max([n + 1 for n in both if own[n].epoch == leaders[n].epoch], default=0)

    @action(fair="weak")
    def fetch(self, partition: LogPartition) -> None:
        """ReplicaFetcherThread.processPartitionData, for one entry. Both must be in one epoch."""
        leader, end = self.view[partition].leader, len(self.log[partition])
        require(leader != self and leader.view[partition] == self.view[partition])
        require(end < len(leader.log[partition]))
        self.log[partition].append(leader.log[partition][end])
        known = min(leader.committed[partition], end + 1)
        self.committed[partition] = max(self.committed[partition], known)

    @action(fair="weak")
    def raise_high_watermark(self, partition: LogPartition) -> None:
        """Partition.maybeIncrementLeaderHW, by one."""
        require(self.leads(partition) and self.committed[partition] < len(self.log[partition]))
        require(self.may_commit(partition))
        self.committed[partition] += 1

    def may_commit(self, partition: LogPartition) -> bool:
        """Return whether every in-sync replica has the next entry."""
        end = self.committed[partition] + 1
        return all(has_fetched(broker, self, partition, end) for broker in partition.isr)

    # -- in-sync replicas. Of these only the leader that the controller knows can decide

    @action
    def shrink_isr(self, partition: LogPartition, broker: Broker) -> None:
        """Partition.maybeShrinkIsr: a follower lags for too long."""
        require(faults.shrinks < MAX_SHRINKS)
        require(partition.now.leader == self and broker != self and broker in partition.isr)
        faults.shrinks += 1
        partition.isr -= {broker}

    @action(fair="weak")
    def expand_isr(self, partition: LogPartition, broker: Broker) -> None:
        """Partition.maybeExpandIsr: a follower has caught up."""
        require(partition.now.leader == self and broker not in partition.isr)
        require(has_fetched(broker, self, partition, self.end_to_catch_up_with(partition)))
        partition.isr |= {broker}

    def end_to_catch_up_with(self, partition: LogPartition) -> int:
        """Partition.isFollowerInSync: of older epochs, more is committed than the leader knows."""
        before = [e for e in self.log[partition] if e.epoch < self.view[partition].epoch]
        return max(self.committed[partition], len(before))


def has_fetched(replica: Broker, leader: Broker, partition: LogPartition, end: int) -> bool:
    """Return whether a leader takes a replica to have its log up to an end."""
    same_epoch = replica.view[partition] == leader.view[partition]
    return same_epoch and len(replica.log[partition]) >= end


faults = Faults()
