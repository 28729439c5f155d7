"""A lease: clients ask a server for the right to write; the server grants it to one at a time."""

from typing import Literal

from statewalk import (
    Auxiliary,
    Constant,
    Message,
    Role,
    action,
    always,
    any_of,
    config,
    exists,
    holds,
    pairs,
    require,
    terminal,
    violates,
)

CLIENTS: Constant[int] = 2
ROUNDS: Constant[int] = 2
MUTANT: Constant[Literal["none", "two_owners", "stuck", "crash", "surprise"]] = "none"


class Grant(Message):
    term: int
    source: "Server"


class Client(Role):
    term: int = 0
    writing: bool = False
    inbox: set[Grant] = set()

    @action(fair="weak")
    def accept(self) -> None:
        grant = any_of(self.inbox)
        self.inbox.remove(grant)
        if MUTANT == "crash":
            self.term = [0, 1][grant.term]
        self.term = grant.term
        self.writing = True

    @action(fair="weak")
    def give_back(self) -> None:
        require(self.writing)
        if MUTANT == "surprise":
            assert server.owner is self, "only the owner gives back"
        self.writing = False
        server.owner = None if MUTANT != "stuck" else self

    @action
    def panic(self) -> None:
        require(self.term > ROUNDS)
        self.writing = False


class Server(Role):
    owner: Client | None = None
    term: int = 0
    granted: Auxiliary[list[int]] = []

    @action
    def grant(self, client: Client) -> None:
        require(self.term < ROUNDS)
        require(self.owner is None or MUTANT in ("two_owners", "surprise"))
        self.term += 1
        self.owner = client
        self.granted.append(self.term)
        client.inbox.add(Grant(self.term, source=self))


server = Server()
clients = [Client() for _ in range(CLIENTS)]


@always
def one_writer() -> bool:
    """At no time do two clients write."""
    return all(not (a.writing and b.writing) for a, b in pairs(clients))


@always
def terms_are_known() -> bool:
    return all(client.term <= server.term for client in clients)


@exists
def second_term_writes() -> bool:
    return any(client.writing and client.term == ROUNDS for client in clients)


@terminal
def all_rounds_done() -> bool:
    return server.term == ROUNDS and server.owner is None


config("small", expect=holds(depth=7))
config("broken", MUTANT="two_owners", expect=violates(one_writer, length=4))
