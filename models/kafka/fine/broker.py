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

Which class and method of Kafka stand behind each is told in docs/models/kafka-coordinator.md.
"""

from statewalk import Record, State, action, any_of, replace, require
from statewalk.models.kafka.coordinator import (
    Broker,
    Callback,
    Leadership,
    LogEntry,
    LogPartition,
    partition_of,
)
from statewalk.models.kafka.metadata import DECIDED, Metadata
from statewalk.models.kafka.settings import MAX_TIMEOUTS, REPEATED, TIDS, Code


class Waiting(Record):
    """A pending transition that waits until the log is committed up to an end, and for whom.

    The end is 0 as long as nothing is appended.
    """

    end: int
    callback: Callback | None


class Faults(State):
    timeouts: int = 0


class FineBroker(Broker, symmetric=True):
    waiting: dict[int, Waiting] = {}  # by tid, as pending
    loading: set[LogPartition] = set()
    failed_fence: set[int] = set()  # tids whose epoch was raised for an abort that then failed

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
        log = self.log[partition_of(tid)]
        log.append(LogEntry(tid, transition, epoch=self.view[partition_of(tid)].epoch))
        self.pending[tid] = transition
        self.waiting[tid] = Waiting(len(log), callback)
        self.answer(LogEntry(tid, transition, callback), "appended")

    @action(fair="weak")
    def complete_append(self, tid: int = any_of(range(TIDS))) -> None:
        """What waited for the high watermark takes effect, and its client is answered."""
        require(tid in self.waiting)
        waiting = self.waiting[tid]
        require(0 < waiting.end <= self.committed[partition_of(tid)])
        entry = LogEntry(tid, self.pending[tid], waiting.callback)
        self.waiting.pop(tid)
        if entry.transition.state in DECIDED:
            self.failed_fence.discard(tid)
        self.apply(entry)

    @action
    def time_out(self, tid: int = any_of(range(TIDS))) -> None:
        """A client is told an error. Its entry lives on, and whoever leads may yet commit it."""
        require(faults.timeouts < MAX_TIMEOUTS)
        require(tid in self.waiting)
        waiting = self.waiting[tid]
        require(waiting.end > self.committed[partition_of(tid)])
        require(waiting.callback is not None)  # a completion is tried again until it is done
        faults.timeouts += 1
        if self.pending[tid].state == "PrepareAbort":
            self.failed_fence.add(tid)
        self.pending.pop(tid)
        self.waiting.pop(tid)
        if waiting.callback is not None:
            failure = replace(waiting.callback.failure, code="CoordinatorNotAvailable")
            waiting.callback.client.inbox.add(failure)

    # -- as coordinator: fencing

    def fence(self, tid: int) -> Metadata | None:
        return self.metadata[tid].fenced(again=tid in self.failed_fence)

    @action(fair="weak")
    def abort_fenced(self, tid: int = any_of(range(TIDS))) -> None:
        """The decision to fence is acted on: from now on the old epoch is refused."""
        require(tid in self.pending and self.pending[tid].state == "PrepareEpochFence")
        fence, callback = self.pending[tid], self.waiting[tid].callback
        self.raise_epoch(tid, fence.epoch)
        self.write(tid, replace(fence, state="PrepareAbort"), callback)

    def raise_epoch(self, tid: int, epoch: int) -> None:
        self.metadata[tid] = replace(self.metadata[tid], epoch=epoch)

    # -- as coordinator: leadership moves

    def materialise(self, partition: LogPartition) -> None:
        self.loading.add(partition)

    @action(fair="weak")
    def load(self, partition: LogPartition) -> None:
        """A new leader reads its log. Another election may come before."""
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
        self.failed_fence.discard(tid)

    # -- the log

    def truncation_point(self, partition: LogPartition) -> int:
        """Behind the last entry that this log has in common with the leader's."""
        own, leaders = self.log[partition], partition.now.leader.log[partition]
        both = range(min(len(own), len(leaders)))
        return max([n + 1 for n in both if own[n].epoch == leaders[n].epoch], default=0)

    @action(fair="weak")
    def fetch(self, partition: LogPartition) -> None:
        """The next entry of the leader, and its high watermark. Both must be in one epoch."""
        leader, end = self.view[partition].leader, len(self.log[partition])
        require(leader != self and leader.view[partition] == self.view[partition])
        require(end < len(leader.log[partition]))
        self.log[partition].append(leader.log[partition][end])
        known = min(leader.committed[partition], end + 1)
        self.committed[partition] = max(self.committed[partition], known)

    @action(fair="weak")
    def raise_high_watermark(self, partition: LogPartition) -> None:
        require(self.leads(partition) and self.committed[partition] < len(self.log[partition]))
        require(self.may_commit(partition))
        self.committed[partition] += 1

    def may_commit(self, partition: LogPartition) -> bool:
        """Whether every replica has the next entry."""
        end = self.committed[partition] + 1
        view = self.view[partition]
        return all(broker.has_fetched(partition, view, end) for broker in partition.replicas)

    def has_fetched(self, partition: LogPartition, view: Leadership, end: int) -> bool:
        """Whether a leader takes this replica to have its log up to an end."""
        return self.view[partition] == view and len(self.log[partition]) >= end


faults = Faults()
