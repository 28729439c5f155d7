"""Kafka transactions, part 1: a client obtains a producer id and an epoch.

A client sends InitPidRequest for its transactional id to some broker. The broker that leads the
id's partition of the transaction log is its coordinator: it caches metadata with a fresh producer
id, appends a transition that bumps the epoch, and answers only when that entry is committed. A
wrong broker says NotCoordinator, a coordinator with a transition under way says
ConcurrentTransactions, and in both cases the client tries again.

Left out: leader movement, failing appends, epoch exhaustion, fencing of an ongoing transaction
(see the coordinator model), and looking up the coordinator (a client asks any broker).
"""

from itertools import pairwise
from typing import Literal

from statewalk import (
    Auxiliary,
    Constant,
    Message,
    Record,
    Role,
    action,
    always,
    any_of,
    config,
    eventually,
    exists,
    holds,
    init,
    pairs,
    require,
    terminal,
    violates,
)
from statewalk.models.kafka.common import LEGAL_BEFORE, PidSource, TxnState

# -- constants -----------------------------------------------------------------------------------
CLIENTS: Constant[int] = 2
BROKERS: Constant[int] = 2
TIDS: Constant[int] = 1
LOG_PARTITIONS: Constant[int] = 1
KEEP_PROCESSED: Constant[bool] = False  # remember processed messages, a debugging aid
MUTANT: Constant[
    Literal[
        "none",
        "phantom_pending",  # accepting a request marks every tid with metadata as pending
        "pid_regress",  # the source of producer ids falls back to the id just used
        "no_pending_check",  # a second transition may start while one is under way
        "early_reply",  # answer at append, not at commit
        "no_epoch_bump",  # metadata that exists keeps its epoch
        "weak_send",  # sending is only weakly fair
    ]
] = "none"

assert CLIENTS >= 1 and BROKERS >= 1 and TIDS >= 1 and LOG_PARTITIONS >= 1, "one of each is needed"

ClientState = Literal["Ready", "SentInitPidRequest", "HasPid"]
Code = Literal["OK", "NotCoordinator", "ConcurrentTransactions", "IllegalState"]


def partition_of(tid: int) -> int:
    """The log partition of a transactional id: ids are spread evenly."""
    return tid % LOG_PARTITIONS


# -- messages and records ------------------------------------------------------------------------
class InitPidRequest(Message):
    tid: int
    source: "Client"


class InitPidResponse(Message):
    code: Code
    pid: int
    epoch: int
    source: "Broker"


class Metadata(Record):
    """What a coordinator knows of a transactional id, and what a transition turns it into."""

    pid: int
    epoch: int = -1
    last_pid: int = -1
    last_epoch: int = -1
    state: TxnState = "Empty"
    partitions: frozenset[int] = frozenset()


class LogEntry(Record):
    client: "Client"
    tid: int
    transition: Metadata


# -- roles ---------------------------------------------------------------------------------------
class TxnLog(Role):
    """A partition of the transaction log. Entries below ``committed`` are on every replica."""

    entries: list[LogEntry] = []
    committed: int = 0


class Client(Role, symmetric=True):
    state: ClientState = "Ready"
    tid: int | None = None
    pid: int = -1
    epoch: int = -1
    last_state: ClientState | None = None  # allow SW603: the original keeps it too
    last_error: Code | None = None
    inbox: set[InitPidResponse] = set()
    processed: Auxiliary[set[InitPidResponse]] = set()

    # Fair per broker: asking another one does not count.
    @action(fair="weak" if MUTANT == "weak_send" else "strong")
    def send_init_pid(self, broker: "Broker") -> None:
        require(self.state == "Ready")
        if self.tid is None:
            self.tid = any_of(range(TIDS))
        broker.inbox.add(InitPidRequest(self.tid, source=self))
        self.state = "SentInitPidRequest"

    @action(fair="weak")
    def receive_init_pid_response(self) -> None:
        require(self.state == "SentInitPidRequest")
        response = any_of(self.inbox)
        self.inbox.remove(response)
        if KEEP_PROCESSED:
            self.processed.add(response)
        if response.code == "OK":
            self.pid = response.pid
            self.epoch = response.epoch
            self.state = "HasPid"
        else:
            self.last_state = self.state
            self.last_error = response.code
            self.state = "Ready"


class Broker(Role, symmetric=True):  # those that lead nothing can change places
    owned: dict[int, int] = {}  # log partition -> coordinator epoch
    metadata: dict[int, Metadata] = {}  # tid -> what is in effect
    pending: dict[int, Metadata] = {}  # tid -> appended, not yet committed
    inbox: set[InitPidRequest] = set()
    processed: Auxiliary[set[InitPidRequest]] = set()

    def reply(self, client: Client, code: Code, pid: int = -1, epoch: int = -1) -> None:
        client.inbox.add(InitPidResponse(code, pid, epoch, source=self))

    def transition(self, tid: int) -> Metadata | Code:
        """The metadata that an accepted request leads to, or why it is refused."""
        if partition_of(tid) not in self.owned:
            return "NotCoordinator"
        if tid not in self.metadata:
            # cached at once, before anything is committed
            self.metadata[tid] = Metadata(pids.fresh())
        now = self.metadata[tid]
        if MUTANT == "pid_regress":
            pids.last = now.pid
        if tid in self.pending and MUTANT != "no_pending_check":
            return "ConcurrentTransactions"
        if now.state not in LEGAL_BEFORE["Empty"]:
            return "IllegalState"
        epoch = now.epoch if MUTANT == "no_epoch_bump" and now.epoch >= 0 else now.epoch + 1
        return Metadata(now.pid, epoch, last_pid=now.pid, last_epoch=now.epoch)

    @action(fair="weak")
    def receive_init_pid_request(self) -> None:
        request = any_of(self.inbox)
        self.inbox.remove(request)
        if KEEP_PROCESSED:
            self.processed.add(request)
        result = self.transition(request.tid)
        if isinstance(result, str):
            self.reply(request.source, result)
            return
        if MUTANT == "phantom_pending":
            for broker in brokers:
                for tid in range(TIDS):
                    if tid in broker.metadata:
                        broker.pending[tid] = broker.metadata[tid]
        self.pending[request.tid] = result
        log = logs[partition_of(request.tid)]
        log.entries.append(LogEntry(request.source, request.tid, result))
        if MUTANT == "early_reply":
            self.reply(request.source, "OK", result.pid, result.epoch)

    @action(fair="weak")
    def commit_init_pid(self, log: TxnLog) -> None:
        require(log.index in self.owned)
        require(log.committed < len(log.entries))
        entry = log.entries[log.committed]
        require(entry.transition.state == "Empty")
        log.committed += 1
        self.metadata[entry.tid] = entry.transition
        self.pending.pop(entry.tid, None)
        if MUTANT != "early_reply":
            self.reply(entry.client, "OK", entry.transition.pid, entry.transition.epoch)


# -- instances and initial state -----------------------------------------------------------------
pids = PidSource()
brokers = [Broker() for _ in range(BROKERS)]
logs = [TxnLog() for _ in range(LOG_PARTITIONS)]
clients = [Client() for _ in range(CLIENTS)]


@init
def spread_partitions_over_brokers() -> None:
    for log in logs:
        brokers[log.index % BROKERS].owned[log.index] = 1


# -- safety --------------------------------------------------------------------------------------
@always
def type_ok() -> bool:
    """Responses carry an id and an epoch exactly when OK; errors are kept with their state."""
    return all(
        (r.pid >= 1 and r.epoch >= 0) if r.code == "OK" else (r.pid == -1 and r.epoch == -1)
        for client in clients
        for r in client.inbox
    ) and all((client.last_state is None) == (client.last_error is None) for client in clients)


@always
def no_illegal_state() -> bool:
    return all(r.code != "IllegalState" for client in clients for r in client.inbox)


@always
def unique_pid_epoch() -> bool:
    """No two clients hold the same producer id with the same epoch."""
    return all(
        (a.pid, a.epoch) != (b.pid, b.epoch)
        for a, b in pairs(clients)
        if a.state == b.state == "HasPid"
    )


@always
def pid_per_tid() -> bool:
    """Over the entries of all logs, two transactional ids never share a producer id."""
    return all(not (shared_pids(a, b)) for a in logs for b in logs if a.index <= b.index)


def shared_pids(a: TxnLog, b: TxnLog) -> bool:
    return any(
        x.tid != y.tid and x.transition.pid == y.transition.pid
        for x in a.entries
        for y in b.entries
    )


@always
def epoch_monotone() -> bool:
    """Along a log, the epochs of a transactional id strictly increase."""
    return all(increasing(log, tid) for log in logs for tid in range(TIDS))


def increasing(log: TxnLog, tid: int) -> bool:
    epochs = [entry.transition.epoch for entry in log.entries if entry.tid == tid]
    return all(a < b for a, b in pairwise(epochs))


@always
def no_ok_above_hwm() -> bool:
    """No OK response is in flight whose log entry is not committed."""
    return all(
        not any(
            r.code == "OK" and r.pid == entry.transition.pid and r.epoch == entry.transition.epoch
            for r in entry.client.inbox
        )
        for log in logs
        for entry in log.entries[log.committed :]
    )


@always
def pending_matches_log() -> bool:
    """A transition is pending exactly where one entry of that tid awaits commit."""
    return all(
        uncommitted(log, tid) == (1 if tid in broker.pending else 0)
        for log in logs
        for tid in range(TIDS)
        if partition_of(tid) == log.index
        for broker in brokers
        if log.index in broker.owned
    )


def uncommitted(log: TxnLog, tid: int) -> int:
    return sum(entry.tid == tid for entry in log.entries[log.committed :])


# -- witnesses, each where the constants allow it ------------------------------------------------
if CLIENTS > 1:

    @exists
    def concurrent_transactions_reply() -> bool:
        return any(r.code == "ConcurrentTransactions" for client in clients for r in client.inbox)

    @exists
    def bumped_epoch_held() -> bool:
        return any(client.state == "HasPid" and client.epoch >= 1 for client in clients)


if BROKERS > 1:

    @exists
    def not_coordinator_reply() -> bool:
        return any(r.code == "NotCoordinator" for client in clients for r in client.inbox)


if CLIENTS > 1 or BROKERS > 1:

    @exists
    def pid_after_an_error() -> bool:
        return any(client.state == "HasPid" and client.last_error is not None for client in clients)


# -- liveness and the end ------------------------------------------------------------------------
@eventually
@always
def eventually_all_clients_get_pid() -> bool:
    return all(client.state == "HasPid" for client in clients)


@terminal
def everyone_served() -> bool:
    return all(client.state == "HasPid" for client in clients)


# -- configurations ------------------------------------------------------------------------------
config("c1b1", CLIENTS=1, BROKERS=1, expect=holds(generated=5, distinct=5, depth=5))
config("c1b2", CLIENTS=1, expect=holds(generated=15, distinct=14, depth=8))
config("c2b2", expect=holds(generated=581, distinct=316, depth=15))
config("c2b2-processed", KEEP_PROCESSED=True, expect=holds(generated=861, distinct=484, depth=18))
config("c3b2", CLIENTS=3, expect=holds(generated=24169, distinct=9098, depth=22))
config(
    "c3b2-processed",
    CLIENTS=3,
    KEEP_PROCESSED=True,
    expect=holds(generated=63721, distinct=24362, depth=28),
)
config("c4b1", CLIENTS=4, BROKERS=1, expect=holds(generated=54401, distinct=19312, depth=26))
config("c2b2t2p2", TIDS=2, LOG_PARTITIONS=2, expect=holds(generated=1985, distinct=1041, depth=15))
config(
    "c3b1t2", CLIENTS=3, BROKERS=1, TIDS=2, expect=holds(generated=9649, distinct=4377, depth=19)
)
config("c4b2", CLIENTS=4, expect=holds(distinct=291160))
config(
    "phantom-pending",
    BROKERS=1,
    TIDS=2,
    MUTANT="phantom_pending",
    expect=violates(pending_matches_log, length=5),
)
config(
    "phantom-pending-livelock",
    CLIENTS=3,
    BROKERS=1,
    TIDS=2,
    MUTANT="phantom_pending",
    expect=violates(eventually_all_clients_get_pid),
)
config(
    "pid-regress",
    CLIENTS=4,
    BROKERS=1,
    TIDS=3,
    MUTANT="pid_regress",
    expect=violates(pid_per_tid, length=8),
)
config(
    "no-pending-check",
    BROKERS=1,
    MUTANT="no_pending_check",
    expect=violates(pending_matches_log, epoch_monotone, length=4),
)
config(
    "early-reply",
    CLIENTS=1,
    BROKERS=1,
    MUTANT="early_reply",
    expect=violates(no_ok_above_hwm, length=2),
)
config(
    "no-epoch-bump", BROKERS=1, MUTANT="no_epoch_bump", expect=violates(epoch_monotone, length=5)
)
config("weak-send", CLIENTS=1, MUTANT="weak_send", expect=violates(eventually_all_clients_get_pid))
