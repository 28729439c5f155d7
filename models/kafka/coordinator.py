"""Kafka transactions, part 2: the protocol between clients, coordinators and the controller.

Every broker keeps a copy of every partition of the transaction log. The leader of a transactional
id's partition is its coordinator; it answers a request once the log entry that this led to is
committed: on every copy. Leadership may move at any time: the new leader rebuilds its metadata from
the log and finishes what was decided; the old one drops what is not committed and tells who waits.
A client takes a producer id and an epoch (part 1, `init_pid`) and adds the topic partitions it will
write to. When another client takes the same transactional id meanwhile, the epoch is bumped: an
open transaction is aborted first, and the client before is fenced at its next request, for good.
Left out: ending a transaction, markers and records (part 3), running out of epochs, KIP-360 and
KIP-890. To look up the coordinator is one step, and may be out of date when the request arrives.

Read this file first; then `metadata`, for what may become of a transaction, and `transactions`, the
spec to check. `coordinator_mutants` has defects put in on purpose, `fine` what `GRAIN=fine` takes
apart, and the instances. Classes and methods are of Kafka 3.9; the page says what each leaves out.
"""

from typing import Literal

from statewalk import Auxiliary, Message, Record, Role, action, any_of, require
from statewalk.models.kafka.common import PidSource
from statewalk.models.kafka.metadata import DECIDED, Entry, Metadata
from statewalk.models.kafka.settings import (
    ALL_PARTITIONS,
    CHECKS,
    ELSEWHERE,
    GRAIN,
    KEEP_PROCESSED,
    LATER,
    LOG_PARTITIONS,
    MATERIALISE,
    MAX_ELECTIONS,
    TIDS,
    ClientState,
    Code,
)


# -- messages and records ------------------------------------------------------------------------
class InitPidRequest(Message):
    source: "Client"
    tid: int


class InitPidResponse(Message):
    source: "Broker"
    code: Code
    pid: int = -1
    epoch: int = -1


class AddPartitionsRequest(Message):
    source: "Client"
    tid: int
    pid: int
    epoch: int
    partitions: frozenset[int]


class AddPartitionsResponse(Message):
    source: "Broker"
    code: Code
    partitions: frozenset[int] = frozenset()


Request = InitPidRequest | AddPartitionsRequest
Response = InitPidResponse | AddPartitionsResponse


class Callback(Record):
    """The client that waits for a log entry, its answer on commit, and on loss."""

    client: "Client"
    success: Response
    failure: Response


class LogEntry(Entry):
    callback: Callback | None = None
    epoch: int = 0  # of the leader that appended it, where the grain is fine


class Leadership(Record):
    leader: "Broker"
    epoch: int  # of the coordinator: how often leadership has moved, not an epoch of producers


# -- the controller ------------------------------------------------------------------------------
class LogPartition(Role):
    """A partition of the transaction log, with the truth about its leadership."""

    now: Leadership
    isr: frozenset["Broker"]  # whose copies count; with the atomic grain all

    def tids(self) -> list[int]:
        return [tid for tid in range(TIDS) if partition_of(tid) == self]

    @action
    def elect(self, broker: "Broker") -> None:
        """PartitionChangeBuilder.electLeader, for reasons of its own. The old one is not told."""
        require(sum(partition.now.epoch - 1 for partition in partitions) < MAX_ELECTIONS)
        require(broker in self.isr and broker.view[self].leader != broker)
        broker.materialise(self)
        self.now = Leadership(broker, self.now.epoch + 1)
        broker.view[self] = self.now


# -- the client ----------------------------------------------------------------------------------
class Client(Role, symmetric=True):
    state: ClientState = "Ready"
    tid: int | None = None
    pid: int = -1
    epoch: int = -1
    coordinator: "Broker | None" = None
    pending: frozenset[int] = frozenset()  # topic partitions it has asked to add
    partitions: frozenset[int] = frozenset()  # topic partitions that are part of the transaction
    last_state: ClientState | None = None
    last_error: Code | None = None
    inbox: set[Response] = set()
    processed: Auxiliary[set[Response]] = set()

    def consume(self, response: Response) -> None:
        self.inbox.remove(response)
        if KEEP_PROCESSED:
            self.processed.add(response)

    def failed(self, code: Code, then: ClientState) -> None:
        self.last_state = self.state
        self.last_error = code
        self.state = then

    @action(fair="strong")
    def send_init_pid(self) -> None:
        """TransactionManager.initializeTransactions, and lookupCoordinator in the same step."""
        require(self.state == "Ready")
        if self.tid is None:
            self.tid = any_of(range(TIDS))
        leader_of(self.tid).inbox.add(InitPidRequest(self, self.tid))
        self.state = "SentInitPidRequest"

    @action(fair="weak")
    def receive_init_pid_response(self, broker: "Broker") -> None:
        """InitProducerIdHandler.handleResponse."""
        require(self.state == "SentInitPidRequest")
        response = any_of(
            [m for m in self.inbox if isinstance(m, InitPidResponse) and m.source == broker]
        )
        self.consume(response)
        if response.code == "OK":
            self.state = "HasPid"
            self.coordinator = response.source
            self.pid = response.pid
            self.epoch = response.epoch
            self.last_state = None
            self.last_error = None
        else:
            self.failed(response.code, then="Ready")

    @action(fair="strong")
    def send_add_partitions(self) -> None:
        """TransactionManager.addPartitionsToTransactionHandler, for one partition."""
        require(self.state in ("HasPid", "BegunTxn"))
        require(not self.pending)
        self.pending = frozenset({any_of(ALL_PARTITIONS - self.partitions)})
        self.state = "BegunTxn"
        assert self.tid is not None and self.coordinator is not None
        self.coordinator.inbox.add(
            AddPartitionsRequest(self, self.tid, self.pid, self.epoch, self.pending)
        )

    @action(fair="weak")
    def receive_add_partitions_response(self, broker: "Broker") -> None:
        """AddPartitionsToTxnHandler.handleResponse."""
        require(self.state == "BegunTxn")
        response = any_of(
            [m for m in self.inbox if isinstance(m, AddPartitionsResponse) and m.source == broker]
        )
        self.consume(response)
        if response.code == "OK":
            self.pending -= response.partitions
            self.partitions |= response.partitions
            return
        self.pending = frozenset()
        if response.code in LATER:
            self.failed(response.code, then="BegunTxn")
            if response.code in ELSEWHERE and self.tid is not None:
                self.coordinator = leader_of(self.tid)
        else:
            # Fenced: somebody else owns the id. Asking for it again would begin an endless fight.
            self.failed(response.code, then="Terminated")
            self.partitions = frozenset()


# -- the broker, whose coordinator serves the log partitions it leads ----------------------------
class Broker(Role, symmetric=True):
    view: dict[LogPartition, Leadership] = {}  # who leads, as far as this broker knows
    log: dict[LogPartition, list[LogEntry]] = {}
    committed: dict[LogPartition, int] = {}  # entries below are on every broker: the high watermark
    metadata: dict[int, Metadata] = {}  # tid -> what is in effect
    pending: dict[int, Metadata] = {}  # tid -> appended, not yet committed
    inbox: set[Request] = set()
    processed: Auxiliary[set[Request]] = set()

    def consume(self, request: Request) -> None:
        self.inbox.remove(request)
        if KEEP_PROCESSED:
            self.processed.add(request)

    def leads(self, partition: LogPartition) -> bool:
        return self.view[partition].leader == self

    def absent(self, partition: LogPartition) -> Code | None:
        """Return why this broker cannot speak for the ids of a partition."""
        return None if self.leads(partition) else "NotCoordinator"

    def uncommitted(self, partition: LogPartition) -> list[LogEntry]:
        return self.log[partition][self.committed[partition] :]

    def known(self, tid: int) -> Metadata:
        """The metadata of an id; a new one's is cached at once, before anything is committed."""
        if tid not in self.metadata:
            self.metadata[tid] = Metadata(pids.fresh())
        return self.metadata[tid]

    def is_under_way(self, tid: int) -> bool:
        """Return whether a transition of the id awaits commit, or follows from one that was."""
        return tid in self.pending or self.metadata[tid].state in DECIDED

    def append(self, tid: int, transition: Metadata, callback: Callback | None) -> None:
        """Begin a transition: it takes effect when its entry is committed."""
        self.pending[tid] = transition
        entry = LogEntry(tid, transition, callback)
        self.log[partition_of(tid)].append(entry)
        self.answer(entry, "appended")

    def answer(self, entry: LogEntry, moment: Literal["appended", "committed"]) -> None:
        """A client hears of its entry when that is committed, and not before."""
        if moment == "committed" and entry.callback is not None:
            entry.callback.client.inbox.add(entry.callback.success)

    # -- a client asks for a producer id

    @action(fair="weak")
    def receive_init_pid_request(self, client: Client) -> None:
        """TransactionCoordinator.handleInitProducerId."""
        request = any_of(
            [m for m in self.inbox if isinstance(m, InitPidRequest) and m.source == client]
        )
        self.consume(request)
        result = self.after_init_pid(request.tid)
        if isinstance(result, str):
            client.inbox.add(InitPidResponse(self, result))
            return
        if result.state == "PrepareAbort":
            # The bumped epoch is nobody's. Once the abort is decided, the client may ask again.
            success = InitPidResponse(self, "ConcurrentTransactions")
        else:
            success = InitPidResponse(self, "OK", result.pid, result.epoch)
        failure = InitPidResponse(self, "NotCoordinator")
        self.append(request.tid, result, Callback(client, success, failure))

    def after_init_pid(self, tid: int) -> Metadata | Code:
        """Return what a request leads to, or why it is refused: prepareInitProducerIdTransit."""
        absent = self.absent(partition_of(tid))
        if absent is not None:
            return absent
        now = self.known(tid)
        if self.is_under_way(tid):
            return "ConcurrentTransactions"
        return (self.fence(tid) if now.state == "Ongoing" else now.taken()) or "IllegalState"

    def fence(self, tid: int) -> Metadata | None:
        """An open transaction is to be aborted before another client may take its id."""
        return self.metadata[tid].fenced()

    # -- a client adds topic partitions to its transaction

    @action(fair="weak")
    def receive_add_partitions_request(self, client: Client) -> None:
        """TransactionCoordinator.handleAddPartitionsToTransaction."""
        request = any_of(
            [m for m in self.inbox if isinstance(m, AddPartitionsRequest) and m.source == client]
        )
        self.consume(request)
        result = self.after_add_partitions(request)
        if isinstance(result, str):
            client.inbox.add(AddPartitionsResponse(self, result))
            return
        success = AddPartitionsResponse(self, "OK", result.partitions)
        failure = AddPartitionsResponse(self, "NotCoordinator")
        self.append(request.tid, result, Callback(client, success, failure))

    def after_add_partitions(self, request: AddPartitionsRequest) -> Metadata | Code:
        """The metadata that a request to add partitions leads to, or why it is refused."""
        tid = request.tid
        absent = self.absent(partition_of(tid))
        if absent is not None:
            return absent
        if CHECKS == "v4" and tid in self.pending:
            return "ConcurrentTransactions"
        if tid not in self.metadata or self.metadata[tid].pid != request.pid:
            return "InvalidPidMapping"
        now = self.metadata[tid]
        if self.is_outdated(request):
            return "ProducerFenced"
        if self.is_under_way(tid):
            return "ConcurrentTransactions"
        return now.with_partitions(request.partitions) or "IllegalState"

    def is_outdated(self, request: AddPartitionsRequest) -> bool:
        """Return whether another client has taken the id since."""
        return self.metadata[request.tid].epoch != request.epoch

    # -- entries are committed, and what waited for them happens

    def may_commit(self, partition: LogPartition) -> bool:
        """Return whether this broker leads and every broker knows: then all copies follow
        its log.
        """
        return partition.now.leader == self and all(
            broker.view[partition].epoch == self.view[partition].epoch for broker in partition.isr
        )

    if GRAIN == "atomic":

        @action(fair="weak")
        def commit_append(self, partition: LogPartition) -> None:
            """TransactionStateManager.appendTransactionToLog: on all copies at once, in effect."""
            require(self.committed[partition] < len(self.log[partition]))
            require(self.may_commit(partition))
            entry = self.log[partition][self.committed[partition]]
            end = self.committed[partition] + 1
            for broker in partition.isr:
                if broker != self:
                    broker.log[partition].append(entry)
                broker.committed[partition] = end
            self.apply(entry)

    def apply(self, entry: LogEntry) -> None:
        """A transition takes effect; what a decision leads to is begun."""
        self.metadata[entry.tid] = entry.transition
        self.pending.pop(entry.tid, None)
        if entry.transition.state in DECIDED:
            self.append(entry.tid, entry.transition.completed(), None)
        self.answer(entry, "committed")

    @action(fair="weak")
    def complete_partial(self, tid: int = any_of(range(TIDS))) -> None:
        """TransactionMetadata.prepareComplete, for a decision that a new leader finds."""
        require(self.leads(partition_of(tid)))
        require(tid in self.metadata and tid not in self.pending)
        require(self.metadata[tid].state in DECIDED)
        self.append(tid, self.metadata[tid].completed(), None)

    # -- leadership moves

    def materialise(self, partition: LogPartition) -> None:
        """Load the new leader's knowledge of the transactional ids of its partition."""
        if MATERIALISE == "from_log":
            for entry in self.log[partition][: self.committed[partition]]:
                self.metadata[entry.tid] = entry.transition
        else:
            for tid in partition.tids():
                if tid in partition.now.leader.metadata:
                    self.metadata[tid] = partition.now.leader.metadata[tid]

    @action(fair="weak")
    def become_follower(self, partition: LogPartition) -> None:
        """TransactionCoordinator.onResignation; those who wait for what is forgotten are told."""
        require(self.view[partition].epoch < partition.now.epoch)
        self.view[partition] = partition.now
        self.truncate(partition)
        for tid in partition.tids():
            self.forget(tid)

    def truncate(self, partition: LogPartition) -> None:
        for entry in self.uncommitted(partition):
            self.disappoint(entry)
        self.log[partition] = self.log[partition][: self.committed[partition]]

    def forget(self, tid: int) -> None:
        self.metadata.pop(tid, None)
        self.pending.pop(tid, None)

    def disappoint(self, entry: LogEntry) -> None:
        """The client of an entry that is lost is told that it has asked the wrong broker."""
        if entry.callback is not None:
            entry.callback.client.inbox.add(entry.callback.failure)


def partition_of(tid: int) -> LogPartition:
    """The log partition of a transactional id: ids are spread evenly."""
    return partitions[tid % LOG_PARTITIONS]


def leader_of(tid: int) -> Broker:
    """The lookup of a coordinator. It may be out of date when a request gets there."""
    return partition_of(tid).now.leader


pids = PidSource()
partitions = [LogPartition() for _ in range(LOG_PARTITIONS)]  # type: ignore[call-arg]
