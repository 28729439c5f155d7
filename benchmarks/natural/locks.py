"""A lock service with sessions and fencing tokens; messages overtake each other.

A client learns late that its session ended. It may then believe that it holds a lock that another
client has. The storage refuses tokens that are older than one it has seen.
"""

from statewalk import (
    Constant,
    Message,
    Network,
    Role,
    action,
    always,
    deadlock,
    exists,
    old,
    on_message,
    on_step,
    require,
)

CLIENTS: Constant[int] = 2
SESSIONS: Constant[int] = 2  # of each client
TOKENS: Constant[int] = 3
deadlock(False)  # sessions and tokens run out


class Acquire(Message):
    source: "Client"
    session: int


class Granted(Message):
    dest: "Client"
    session: int
    token: int


class Release(Message):
    source: "Client"
    token: int


class Write(Message):
    source: "Client"
    token: int


class Client(Role):
    session: int = 1
    token: int = 0  # 0: it does not believe that it holds the lock
    waiting: bool = False

    @action
    def acquire(self) -> None:
        require(not self.waiting and self.token == 0)
        self.waiting = True
        wire.send(service, Acquire(self, self.session))

    @on_message
    def receive_grant(self, message: Granted) -> None:
        if message.session == self.session:
            self.token = message.token
            self.waiting = False

    @action
    def write(self) -> None:
        require(self.token > 0)
        wire.send(storage, Write(self, self.token))

    @action
    def release(self) -> None:
        require(self.token > 0)
        wire.send(service, Release(self, self.token))
        self.token = 0

    @action
    def notice_end_of_session(self) -> None:
        require(self.session < service.sessions[self])
        self.session = service.sessions[self]
        self.token = 0
        self.waiting = False


class Service(Role):
    sessions: dict[Client, int] = {}
    holder: Granted | None = None
    token: int = 0

    @on_message
    def grant(self, message: Acquire) -> None:
        require(message.session == self.sessions[message.source])
        require(self.holder is None and self.token < TOKENS)
        self.token += 1
        self.holder = Granted(message.source, message.session, self.token)
        wire.send(message.source, self.holder)

    @on_message
    def receive_release(self, message: Release) -> None:
        if self.holder is not None and self.holder.token == message.token:
            self.holder = None

    @action
    def end_session(self, client: Client) -> None:
        require(self.sessions[client] < SESSIONS)
        self.sessions[client] += 1
        if self.holder is not None and self.holder.dest is client:
            self.holder = None


class Storage(Role):
    highest: int = 0

    @on_message
    def receive_write(self, message: Write) -> None:
        self.highest = max(message.token, self.highest)


class Wire(Network[Message, Client | Service | Storage], kind="set"): ...


wire = Wire()
clients = [Client() for _ in range(CLIENTS)]
service = Service(sessions=dict.fromkeys(clients, 1))
storage = Storage()


@always
def tokens_differ() -> bool:
    tokens = [c.token for c in clients if c.token > 0]
    return len(tokens) == len(set(tokens))


@always
def a_session_that_lives_holds_the_newest_token() -> bool:
    return all(c.token in (0, service.token) for c in clients if c.session == service.sessions[c])


@on_step
def a_newer_write_is_not_overwritten() -> bool:
    return storage.highest >= old(storage.highest)


@exists
def two_believe_that_they_hold_it() -> bool:
    return all(c.token > 0 for c in clients)
