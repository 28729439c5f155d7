"""Kafka transactions, part 1: a client obtains a producer id and an epoch.

A client sends InitPidRequest for its transactional id to some broker, again until it is answered
OK. The broker that leads the id's partition of the transaction log caches metadata with a fresh
producer id, appends a transition that bumps the epoch, and answers when that entry is committed.
Left out: leader movement, failing appends, running out of epochs, fencing (see `coordinator`), and
looking up the coordinator. Names of classes and methods are of Kafka 3.9.
"""

from itertools import pairwise
from typing import Literal

from statewalk import (
    Auxiliary,
    Constant,
    Fairness,
    Message,
    Network,
    Role,
    action,
    always,
    any_of,
    config,
    draw,
    eventually,
    exists,
    holds,
    init,
    mutant,
    on_message,
    pairs,
    picture,
    require,
    terminal,
    violates,
)
from statewalk.models.kafka.common import PidSource
from statewalk.models.kafka.metadata import Entry, Metadata, shared_pids

# -- constants -----------------------------------------------------------------------------------
CLIENTS: Constant[int] = 2
BROKERS: Constant[int] = 2
TIDS: Constant[int] = 1
LOG_PARTITIONS: Constant[int] = 1
KEEP_PROCESSED: Constant[bool] = False  # remember processed messages, a debugging aid

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
    source: "Broker"
    code: Code
    pid: int = -1
    epoch: int = -1


class LogEntry(Entry):
    client: "Client"


# -- roles ---------------------------------------------------------------------------------------
class TxnLog(Role):
    """A partition of the transaction log. Entries below ``committed`` are on every replica."""

    entries: list[LogEntry] = []
    committed: int = 0


def fairness_of_asking() -> Fairness:
    """Strong: every broker is asked again and again, or a client might know only the wrong one."""
    return "strong"


class Client(Role, symmetric=True):
    state: ClientState = "Ready"
    tid: int | None = None
    pid: int = -1
    epoch: int = -1
    last_state: ClientState | None = None  # allow SW603: the original keeps it too
    last_error: Code | None = None
    processed: Auxiliary[set[InitPidResponse]] = set()

    @action(fair=fairness_of_asking())
    def send_init_pid(self, broker: "Broker") -> None:
        """TransactionManager.initializeTransactions."""
        require(self.state == "Ready")
        if self.tid is None:
            self.tid = any_of(range(TIDS))
        inbox.send(broker, InitPidRequest(self.tid, source=self))
        self.state = "SentInitPidRequest"

    @on_message(fair="weak")
    def receive_init_pid_response(self, response: InitPidResponse) -> None:
        """InitProducerIdHandler.handleResponse."""
        require(self.state == "SentInitPidRequest")
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
    processed: Auxiliary[set[InitPidRequest]] = set()

    def known(self, tid: int) -> Metadata:
        """The metadata of an id; a new one's is cached at once, before anything is committed."""
        if tid not in self.metadata:
            self.metadata[tid] = Metadata(pids.fresh())
        return self.metadata[tid]

    def after_init_pid(self, tid: int) -> Metadata | Code:
        """The metadata that a request for a producer id leads to, or why it is refused."""
        if partition_of(tid) not in self.owned:
            return "NotCoordinator"
        now = self.known(tid)
        if tid in self.pending:
            return "ConcurrentTransactions"
        return now.taken() or "IllegalState"

    def append(self, entry: LogEntry) -> None:
        """Begin a transition: it takes effect when its entry is committed."""
        self.pending[entry.tid] = entry.transition
        logs[partition_of(entry.tid)].entries.append(entry)

    def answer(self, entry: LogEntry, moment: Literal["appended", "committed"]) -> None:
        """A client hears of its entry when that is committed, and not before."""
        if moment == "committed":
            result = entry.transition
            inbox.send(entry.client, InitPidResponse(self, "OK", result.pid, result.epoch))

    @on_message(fair="weak")
    def receive_init_pid_request(self, request: InitPidRequest) -> None:
        """TransactionCoordinator.handleInitProducerId."""
        if KEEP_PROCESSED:
            self.processed.add(request)
        result = self.after_init_pid(request.tid)
        if isinstance(result, str):
            inbox.send(request.source, InitPidResponse(self, result))
            return
        entry = LogEntry(request.tid, result, request.source)
        self.append(entry)
        self.answer(entry, "appended")

    @action(fair="weak")
    def commit_init_pid(self, log: TxnLog) -> None:
        """The callback of TransactionStateManager.appendTransactionToLog."""
        require(log.index in self.owned)
        require(log.committed < len(log.entries))
        entry = log.entries[log.committed]
        require(entry.transition.state == "Empty")
        log.committed += 1
        self.metadata[entry.tid] = entry.transition
        self.pending.pop(entry.tid, None)
        self.answer(entry, "committed")


# -- instances and initial state -----------------------------------------------------------------
class Inbox(Network[InitPidRequest | InitPidResponse, Broker | Client], kind="set"): ...


inbox = Inbox()
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
        for r in inbox.to(client)
    ) and all((client.last_state is None) == (client.last_error is None) for client in clients)


@always
def no_illegal_state() -> bool:
    return all(r.code != "IllegalState" for client in clients for r in inbox.to(client))


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
    return not any(shared_pids(a.entries, b.entries) for a in logs for b in logs)


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
            for r in inbox.to(entry.client)
        )
        for log in logs
        for entry in log.entries[log.committed :]
    )


@always
def pending_matches_log() -> bool:
    """A transition is pending exactly where one entry of that tid awaits commit."""
    return all(
        sum(e.tid == tid for e in log.entries[log.committed :]) == (tid in broker.pending)
        for log in logs
        for tid in range(TIDS)
        if partition_of(tid) == log.index
        for broker in brokers
        if log.index in broker.owned
    )


# -- witnesses, each where the constants allow it ------------------------------------------------
if CLIENTS > 1:

    @exists
    def concurrent_transactions_reply() -> bool:
        return any(r.code == "ConcurrentTransactions" for c in clients for r in inbox.to(c))

    @exists
    def bumped_epoch_held() -> bool:
        return any(client.state == "HasPid" and client.epoch >= 1 for client in clients)


if BROKERS > 1:

    @exists
    def not_coordinator_reply() -> bool:
        return any(r.code == "NotCoordinator" for c in clients for r in inbox.to(c))


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


# -- a picture -----------------------------------------------------------------------------------
@picture
def log_and_epochs() -> draw.Part:
    """Entries have the color of their epoch; those with a strong edge are committed."""
    return draw.column(
        *(draw.grid([log, *(box_of(log, at) for at in range(len(log.entries)))]) for log in logs),
        draw.grid(
            *([client, client.state, client.pid, epoch_of(client.epoch)] for client in clients),
            columns=["client", "state", "pid", "epoch"],
        ),
    )


def box_of(log: TxnLog, at: int) -> draw.Part:
    entry = log.entries[at]
    epoch = entry.transition.epoch
    text = f"pid {entry.transition.pid} epoch {epoch}"
    return draw.box(text, title=f"tid {entry.tid}", color=epoch, strong=at < log.committed)


def epoch_of(epoch: int) -> draw.Part | str:
    return draw.token(epoch) if epoch >= 0 else "none"


# -- mutants -------------------------------------------------------------------------------------
@mutant(Broker.append)
def phantom_pending(self: Broker, entry: LogEntry) -> None:
    """Accepting a request marks every id with metadata as pending."""
    for broker in brokers:
        broker.pending.update(broker.metadata)
    self.pending[entry.tid] = entry.transition
    logs[partition_of(entry.tid)].entries.append(entry)


@mutant(Broker.known)
def pid_regress(self: Broker, tid: int) -> Metadata:
    """The source of producer ids falls back to the id just used."""
    if tid not in self.metadata:
        self.metadata[tid] = Metadata(pids.fresh())
    pids.last = self.metadata[tid].pid
    return self.metadata[tid]


@mutant(Broker.after_init_pid)
def no_pending_check(self: Broker, tid: int) -> Metadata | Code:
    """A second transition may start while one is under way."""
    if partition_of(tid) not in self.owned:
        return "NotCoordinator"
    return self.known(tid).taken() or "IllegalState"


@mutant(Broker.answer)
def early_reply(self: Broker, entry: LogEntry, moment: Literal["appended", "committed"]) -> None:
    """A client is answered at append, not at commit."""
    if moment == "appended":
        result = entry.transition
        inbox.send(entry.client, InitPidResponse(self, "OK", result.pid, result.epoch))


@mutant(Metadata.taken)
def no_epoch_bump(self: Metadata) -> Metadata | None:
    """A request sets the epoch of its id to 0 if it is the first, and else does not raise it."""
    return Metadata(self.pid, max(self.epoch, 0)) if self.may_become("Empty") else None


@mutant(fairness_of_asking)
def weak_send() -> Fairness:
    """Sending is only weakly fair: asking another broker counts as well."""
    return "weak"


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
    MUTANT=phantom_pending,
    expect=violates({pending_matches_log: 5}),
)
config(
    "phantom-pending-livelock",
    CLIENTS=3,
    BROKERS=1,
    TIDS=2,
    MUTANT=phantom_pending,
    expect=violates(eventually_all_clients_get_pid),
)
config(
    "pid-regress",
    CLIENTS=4,
    BROKERS=1,
    TIDS=3,
    MUTANT=pid_regress,
    expect=violates({pid_per_tid: 8}),
)
config(
    "no-pending-check",
    BROKERS=1,
    MUTANT=no_pending_check,
    expect=violates(pending_matches_log, epoch_monotone, length=4),
)
config(
    "early-reply", CLIENTS=1, BROKERS=1, MUTANT=early_reply, expect=violates({no_ok_above_hwm: 2})
)
config("no-epoch-bump", BROKERS=1, MUTANT=no_epoch_bump, expect=violates(epoch_monotone, length=5))
config("weak-send", CLIENTS=1, MUTANT=weak_send, expect=violates(eventually_all_clients_get_pid))
