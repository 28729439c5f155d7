"""Clients ask a transaction coordinator for a producer id and an epoch."""

from itertools import pairwise
from typing import Literal

from statewalk import (
    Auxiliary,
    Constant,
    Fairness,
    Message,
    Record,
    Role,
    State,
    action,
    always,
    any_of,
    eventually,
    exists,
    mutant,
    pairs,
    require,
    terminal,
)

CLIENTS: Constant[int] = 1
BROKERS: Constant[int] = 1
TIDS: Constant[int] = 1  # transactional ids
KEEP_PROCESSED: Constant[bool] = False  # remember messages that were received

Code = Literal["OK", "NotCoordinator", "ConcurrentTransactions"]


class Grant(Record):
    pid: int
    epoch: int = -1


class Request(Message):
    tid: int
    source: "Client"


class Response(Message):
    source: "Broker"
    code: Code
    grant: Grant | None = None


class Entry(Record):
    tid: int
    grant: Grant
    client: "Client"


class Pids(State):
    last: int = 0

    def fresh(self) -> int:
        self.last += 1
        return self.last


class Log(State):
    entries: list[Entry] = []
    committed: int = 0  # how many entries every replica has

    def waiting(self) -> list[Entry]:
        return self.entries[self.committed :]


def fairness_of_asking() -> Fairness:
    return "strong"


class Client(Role):
    state: Literal["ready", "asked", "has_pid"] = "ready"
    tid: int | None = None
    grant: Grant | None = None
    last_error: Code | None = None
    inbox: set[Response] = set()
    processed: Auxiliary[set[Response]] = set()

    @action(fair=fairness_of_asking())
    def ask(self, broker: "Broker") -> None:
        require(self.state == "ready")
        if self.tid is None:
            self.tid = any_of(range(TIDS))
        broker.inbox.add(Request(self.tid, source=self))
        self.state = "asked"

    @action(fair="weak")
    def hear(self) -> None:
        require(self.state == "asked")
        response = any_of(self.inbox)
        self.inbox.remove(response)
        if KEEP_PROCESSED:
            self.processed.add(response)
        if response.code == "OK":
            self.grant = response.grant
            self.state = "has_pid"
        else:
            self.last_error = response.code
            self.state = "ready"


class Broker(Role):
    metadata: dict[int, Grant] = {}  # in effect, by transactional id
    pending: dict[int, Grant] = {}  # appended to the log, not yet committed
    inbox: set[Request] = set()
    processed: Auxiliary[set[Request]] = set()

    def known(self, tid: int) -> Grant:
        if tid not in self.metadata:
            self.metadata[tid] = Grant(pids.fresh())
        return self.metadata[tid]

    def busy(self, tid: int) -> bool:
        return tid in self.pending

    def append(self, tid: int, client: Client) -> None:
        now = self.metadata[tid]
        self.pending[tid] = Grant(now.pid, now.epoch + 1)
        log.entries.append(Entry(tid, self.pending[tid], client))

    @action(fair="weak")
    def receive(self) -> None:
        request = any_of(self.inbox)
        self.inbox.remove(request)
        if KEEP_PROCESSED:
            self.processed.add(request)
        if self != coordinator:
            request.source.inbox.add(Response(self, "NotCoordinator"))
            return
        self.known(request.tid)
        if self.busy(request.tid):
            request.source.inbox.add(Response(self, "ConcurrentTransactions"))
        else:
            self.append(request.tid, request.source)

    @action(fair="weak")
    def commit(self) -> None:
        require(self == coordinator and log.waiting())
        entry = log.entries[log.committed]
        log.committed += 1
        self.metadata[entry.tid] = entry.grant
        self.pending.pop(entry.tid, None)
        entry.client.inbox.add(Response(self, "OK", entry.grant))


pids = Pids()
log = Log()
clients = [Client() for _ in range(CLIENTS)]
brokers = [Broker() for _ in range(BROKERS)]
coordinator = brokers[0]  # of all transactional ids


@always
def nobody_shares_a_grant() -> bool:
    """No two clients hold the same producer id with the same epoch."""
    return all(a.grant != b.grant for a, b in pairs(clients) if a.grant is not None)


@always
def pid_of_one_tid() -> bool:
    """Two transactional ids never have the same producer id."""
    return all(a.tid == b.tid or a.grant.pid != b.grant.pid for a, b in pairs(log.entries))


@always
def epochs_rise() -> bool:
    """Along the log, the epochs of a transactional id strictly increase."""
    return all(
        a < b
        for tid in range(TIDS)
        for a, b in pairwise(e.grant.epoch for e in log.entries if e.tid == tid)
    )


@always
def pending_is_in_the_log() -> bool:
    """What is pending is what waits in the log, once each."""
    return all(
        sum(e.tid == tid for e in log.waiting()) == (tid in coordinator.pending)
        for tid in range(TIDS)
    )


@exists
def refused_for_now() -> bool:
    return any(r.code == "ConcurrentTransactions" for client in clients for r in client.inbox)


@exists
def wrong_broker() -> bool:
    return any(r.code == "NotCoordinator" for client in clients for r in client.inbox)


@exists
def pid_after_an_error() -> bool:
    return any(c.state == "has_pid" and c.last_error is not None for c in clients)


@eventually
@always
def everybody_gets_a_pid() -> bool:
    return all(client.state == "has_pid" for client in clients)


@terminal
def everybody_served() -> bool:
    return all(client.state == "has_pid" for client in clients)


@mutant(Broker.busy)
def never_busy(self: Broker, tid: int) -> bool:
    """A second request is accepted while the first waits."""
    return False


@mutant(Broker.append)
def phantom_pending(self: Broker, tid: int, client: Client) -> None:
    """With each request that is accepted, every known transactional id counts as pending."""
    self.pending.update(self.metadata)
    now = self.metadata[tid]
    self.pending[tid] = Grant(now.pid, now.epoch + 1)
    log.entries.append(Entry(tid, self.pending[tid], client))


@mutant(Broker.known)
def pid_falls_back(self: Broker, tid: int) -> Grant:
    """The source of producer ids goes back to the one just used."""
    if tid not in self.metadata:
        self.metadata[tid] = Grant(pids.fresh())
    pids.last = self.metadata[tid].pid
    return self.metadata[tid]


@mutant(fairness_of_asking)
def weak_asking() -> Fairness:
    """Asking whomever, again and again, is fair enough."""
    return "weak"
