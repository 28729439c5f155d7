"""A transaction coordinator that may move: one transactional id, one partition to be added."""

from itertools import pairwise
from typing import Literal

from statewalk import (
    Auxiliary,
    Constant,
    Message,
    Record,
    Role,
    State,
    action,
    always,
    any_of,
    eventually,
    exists,
    init,
    mutant,
    pairs,
    replace,
    require,
    terminal,
)

CLIENTS: Constant[int] = 2
BROKERS: Constant[int] = 2
ELECTIONS: Constant[int] = 1
# A new leader reads the committed part of its log, or is given what the old one knew.
LEARNS: Constant[Literal["from_log", "from_cache"]] = "from_log"
KEEP_PROCESSED: Constant[bool] = False  # remember messages that were received

Code = Literal["OK", "NotCoordinator", "ConcurrentTransactions", "UnknownPid", "Fenced"]
ClientState = Literal["ready", "asked", "has_pid", "in_txn", "fenced"]


# -- what is sent, known and logged --------------------------------------------------------------
class Request(Message):
    source: "Client"
    pid: int | None = None  # None: it asks for one; else it adds the partition, as this producer
    epoch: int = -1


class Response(Message):
    source: "Broker"
    to: Literal["ask", "add"]
    code: Code
    pid: int = -1
    epoch: int = -1


class Metadata(Record):
    pid: int
    epoch: int = -1
    state: Literal["Empty", "Ongoing", "PrepareAbort", "CompleteAbort"] = "Empty"


class Waiting(Record):
    """Who is told what, when an entry is committed or lost."""

    client: "Client"
    success: Response
    failure: Response


class Entry(Record):
    metadata: Metadata
    waiting: Waiting | None


class Leadership(Record):
    leader: "Broker"
    epoch: int  # of leaders, not of producers


class Pids(State):
    last: int = 0

    def fresh(self) -> int:
        self.last += 1
        return self.last


class Controller(Role):
    now: Leadership

    @action
    def elect(self, broker: "Broker") -> None:
        require(self.now.epoch <= ELECTIONS and broker.view.leader != broker)
        broker.learn()
        self.now = Leadership(broker, self.now.epoch + 1)
        broker.view = self.now


# -- the client ----------------------------------------------------------------------------------
class Client(Role):
    state: ClientState = "ready"
    pid: int = -1
    epoch: int = -1
    coordinator: "Broker | None" = None
    adding: bool = False
    added: bool = False
    last_state: ClientState | None = None
    last_error: Code | None = None
    inbox: set[Response] = set()
    processed: Auxiliary[set[Response]] = set()

    @action(fair="strong")
    def ask(self) -> None:
        require(self.state == "ready")
        controller.now.leader.inbox.add(Request(self))
        self.state = "asked"

    @action(fair="strong")
    def add_partition(self) -> None:
        require(self.state in ("has_pid", "in_txn") and not self.adding and not self.added)
        self.adding = True
        self.state = "in_txn"
        assert self.coordinator is not None
        self.coordinator.inbox.add(Request(self, self.pid, self.epoch))

    @action(fair="weak")
    def hear(self, broker: "Broker") -> None:
        awaited = "ask" if self.state == "asked" else "add"
        require(self.state in ("asked", "in_txn"))
        response = any_of([m for m in self.inbox if m.to == awaited and m.source == broker])
        self.inbox.remove(response)
        if KEEP_PROCESSED:
            self.processed.add(response)
        if response.to == "add":
            self.heard_of_partition(response.code)
        elif response.code == "OK":
            self.state = "has_pid"
            self.coordinator = response.source
            self.pid = response.pid
            self.epoch = response.epoch
            self.last_state = None
            self.last_error = None
        else:
            self.failed(response.code, then="ready")

    def heard_of_partition(self, code: Code) -> None:
        self.adding = False
        if code == "OK":
            self.added = True
        elif code in ("NotCoordinator", "ConcurrentTransactions"):
            self.failed(code, then="in_txn")
            if code == "NotCoordinator":
                self.coordinator = controller.now.leader
        else:  # somebody else owns the id; asking again would begin an endless fight
            self.failed(code, then="fenced")
            self.added = False

    def failed(self, code: Code, then: ClientState) -> None:
        self.last_state = self.state
        self.last_error = code
        self.state = then


# -- the broker ----------------------------------------------------------------------------------
class Broker(Role):
    view: Leadership  # who leads, as far as this broker knows
    log: list[Entry] = []
    committed: int = 0  # entries that are on every broker
    metadata: Metadata | None = None  # in effect
    pending: Metadata | None = None  # appended to the log, not yet committed
    inbox: set[Request] = set()
    processed: Auxiliary[set[Request]] = set()

    @action(fair="weak")
    def receive(self, client: Client) -> None:
        request = any_of([m for m in self.inbox if m.source == client])
        self.inbox.remove(request)
        if KEEP_PROCESSED:
            self.processed.add(request)
        kind = "ask" if request.pid is None else "add"
        result = self.after_asking() if request.pid is None else self.after_adding(request)
        if not isinstance(result, Metadata):
            client.inbox.add(Response(self, kind, result))
        elif kind == "add":
            self.append(result, client, Response(self, "add", "OK"))
        elif result.state == "PrepareAbort":  # the epoch that fences is nobody's: ask again
            self.append(result, client, Response(self, "ask", "ConcurrentTransactions"))
        else:
            self.append(result, client, Response(self, "ask", "OK", result.pid, result.epoch))

    def after_asking(self) -> Metadata | Code:
        if self.view.leader != self:
            return "NotCoordinator"
        if self.metadata is None:
            self.metadata = Metadata(pids.fresh())
        if self.pending is not None or self.metadata.state == "PrepareAbort":
            return "ConcurrentTransactions"
        now = self.metadata
        if now.state == "Ongoing":
            return Metadata(now.pid, now.epoch + 1, "PrepareAbort")
        return Metadata(now.pid, now.epoch + 1)

    def after_adding(self, request: Request) -> Metadata | Code:
        if self.view.leader != self:
            return "NotCoordinator"
        if self.metadata is None or self.metadata.pid != request.pid:
            return "UnknownPid"
        if self.metadata.epoch != request.epoch:
            return "Fenced"
        if self.pending is not None or self.metadata.state == "PrepareAbort":
            return "ConcurrentTransactions"
        return replace(self.metadata, state="Ongoing")

    def append(self, metadata: Metadata, client: Client, success: Response) -> None:
        failure = Response(self, success.to, "NotCoordinator")
        self.pending = metadata
        self.log.append(Entry(metadata, Waiting(client, success, failure)))

    def complete_abort(self) -> None:
        assert self.metadata is not None
        self.pending = replace(self.metadata, state="CompleteAbort")
        self.log.append(Entry(self.pending, None))

    def may_commit(self) -> bool:
        return controller.now.leader == self and all(b.view == self.view for b in brokers)

    @action(fair="weak")
    def commit(self) -> None:
        require(self.committed < len(self.log) and self.may_commit())
        entry = self.log[self.committed]
        for broker in brokers:
            if broker != self:
                broker.log.append(entry)
            broker.committed += 1
        self.metadata = entry.metadata
        self.pending = None
        if entry.metadata.state == "PrepareAbort":
            self.complete_abort()
        if entry.waiting is not None:
            entry.waiting.client.inbox.add(entry.waiting.success)

    @action(fair="weak")
    def finish_for_another(self) -> None:
        """A new leader completes what its predecessor has decided."""
        require(self.view.leader == self and self.pending is None)
        require(self.metadata is not None and self.metadata.state == "PrepareAbort")
        self.complete_abort()

    def learn(self) -> None:
        if LEARNS == "from_cache":
            self.metadata = controller.now.leader.metadata
        elif self.committed > 0:
            self.metadata = self.log[self.committed - 1].metadata

    @action(fair="weak")
    def step_down(self) -> None:
        require(self.view.epoch < controller.now.epoch)
        self.view = controller.now
        for entry in self.log[self.committed :]:
            self.disappoint(entry)
        self.log = self.log[: self.committed]
        self.metadata = None
        self.pending = None

    def disappoint(self, entry: Entry) -> None:
        if entry.waiting is not None:
            entry.waiting.client.inbox.add(entry.waiting.failure)


pids = Pids()
clients = [Client() for _ in range(CLIENTS)]
brokers = [Broker() for _ in range(BROKERS)]  # type: ignore[call-arg]
controller = Controller()  # type: ignore[call-arg]


@init
def everybody_knows_the_leader() -> None:
    controller.now = Leadership(brokers[0], epoch=1)
    for broker in brokers:
        broker.view = controller.now


# -- what must hold ------------------------------------------------------------------------------
@always
def nobody_shares_an_epoch() -> bool:
    """Clients with the same producer id have different epochs."""
    return all((a.pid, a.epoch) != (b.pid, b.epoch) for a, b in pairs(clients) if a.pid != -1)


@always
def one_leader_per_epoch() -> bool:
    return all(
        a.view.epoch != b.view.epoch or a.view.leader == b.view.leader for a, b in pairs(brokers)
    )


@always
def same_log() -> bool:
    """What two brokers both know to be committed is the same."""
    return all(
        a.log[: min(a.committed, b.committed)] == b.log[: min(a.committed, b.committed)]
        for a, b in pairs(brokers)
    )


@always
def epochs_do_not_fall() -> bool:
    """Along the committed log, the epochs of a producer id do not fall."""
    return all(
        x.metadata.pid != y.metadata.pid or x.metadata.epoch <= y.metadata.epoch
        for broker in brokers
        for x, y in pairwise(broker.log[: broker.committed])
    )


@eventually
@always
def everybody_gets_a_pid() -> bool:
    return all(client.pid != -1 for client in clients)


@eventually
@always
def somebody_adds_the_partition() -> bool:
    return any(client.state == "in_txn" and client.added for client in clients)


@terminal
def added_or_fenced() -> bool:
    return all(client.state == "fenced" or client.added for client in clients)


if CLIENTS > 1:

    @exists
    def somebody_is_fenced() -> bool:
        return any(client.last_error == "Fenced" for client in clients)


if CLIENTS > 1 and BROKERS > 1 and ELECTIONS > 0:

    @exists
    def decided_by_the_one_before() -> bool:
        """A new leader finds a decision to abort that nobody is completing."""
        return any(
            broker.view.leader == broker
            and broker.pending is None
            and broker.metadata is not None
            and broker.metadata.state == "PrepareAbort"
            for broker in brokers
        )


# -- mutants -------------------------------------------------------------------------------------
@mutant(Broker.finish_for_another)
def decisions_are_left(self: Broker) -> None:
    """A new leader does not complete what its predecessor has decided."""
    require(False)


@mutant(Broker.disappoint)
def nobody_is_told(self: Broker, entry: Entry) -> None:
    """Clients do not hear that their entries are lost."""


@mutant(Broker.may_commit)
def leads_as_far_as_it_knows(self: Broker) -> bool:
    """A leader commits without asking who leads now."""
    return self.view.leader == self


@exists
def id_is_lost() -> bool:
    """Somebody holds the second id that was issued: the first one was lost with its entry."""
    return any(client.pid > 1 for client in clients)
