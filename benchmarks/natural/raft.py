"""Raft: elections and replication of a log, in the style of TLA+.

Messages stay in the network. A receiver chooses among those sent to it.
"""

from typing import Literal

from statewalk import (
    Constant,
    Message,
    Network,
    Role,
    action,
    always,
    deadlock,
    draw,
    on_message,
    pairs,
    picture,
    require,
)

SERVERS: Constant[int] = 3
MAX_TERM: Constant[int] = 2
MAX_LOG: Constant[int] = 1
deadlock(False)  # terms and logs are bounded


class RequestVote(Message):
    term: int
    source: "Server"
    last_term: int
    length: int


class Vote(Message):
    term: int
    source: "Server"


class Append(Message):
    term: int
    source: "Server"
    prev: int
    prev_term: int
    entries: tuple[int, ...]
    commit: int


class Ack(Message):
    term: int
    source: "Server"
    match: int


class Server(Role):
    term: int = 1
    role: Literal["follower", "candidate", "leader"] = "follower"
    voted_for: "Server | None" = None
    log: list[int] = []
    commit: int = 0
    votes: set["Server"] = set()
    match: dict["Server", int] = {}

    def last_term(self) -> int:
        return self.log[-1] if self.log else 0

    def see(self, term: int) -> None:
        if term > self.term:
            self.term = term
            self.role = "follower"
            self.voted_for = None
            self.votes.clear()
            for other in servers:
                self.match[other] = 0

    @action
    def timeout(self) -> None:
        require(self.role != "leader" and self.term < MAX_TERM)
        self.term += 1
        self.role = "candidate"
        self.voted_for = self
        self.votes.clear()
        self.votes.add(self)
        others = [s for s in servers if s is not self]
        wire.broadcast(others, RequestVote(self.term, self, self.last_term(), len(self.log)))

    @on_message
    def vote(self, message: RequestVote) -> None:
        require(message.term >= self.term)
        self.see(message.term)
        require((message.last_term, message.length) >= (self.last_term(), len(self.log)))
        require(self.voted_for is None or self.voted_for is message.source)
        self.voted_for = message.source
        wire.send(message.source, Vote(self.term, self))

    @on_message
    def count_vote(self, vote: Vote) -> None:
        require(vote.term == self.term and self.role == "candidate")
        self.votes.add(vote.source)

    @action
    def become_leader(self) -> None:
        require(self.role == "candidate" and 2 * len(self.votes) > SERVERS)
        self.role = "leader"
        for other in servers:
            self.match[other] = 0

    @action
    def client_request(self) -> None:
        require(self.role == "leader" and len(self.log) < MAX_LOG)
        self.log.append(self.term)

    @action
    def append_entries(self, other: "Server") -> None:
        require(other is not self and self.role == "leader")
        prev = self.match[other]
        prev_term = self.log[prev - 1] if prev > 0 else 0
        entries = tuple(self.log[prev : prev + 1])
        wire.send(other, Append(self.term, self, prev, prev_term, entries, self.commit))

    @on_message
    def receive_append(self, message: Append) -> None:
        require(message.term >= self.term)
        self.see(message.term)
        if self.role == "candidate":
            self.role = "follower"
        prev = message.prev
        require(prev == 0 or (prev <= len(self.log) and self.log[prev - 1] == message.prev_term))
        if message.entries and self.log[prev : prev + 1] != list(message.entries):
            self.log = [*self.log[:prev], *message.entries]
        match = prev + len(message.entries)
        self.commit = max(self.commit, min(message.commit, match))
        wire.send(message.source, Ack(self.term, self, match))

    @on_message
    def receive_ack(self, message: Ack) -> None:
        require(message.term == self.term and self.role == "leader")
        require(message.match > self.match[message.source])
        self.match[message.source] = message.match

    @action
    def advance_commit(self) -> None:
        require(self.role == "leader" and self.commit < len(self.log))
        n = self.commit + 1
        require(2 * (1 + sum(self.match[o] >= n for o in servers if o is not self)) > SERVERS)
        require(self.log[n - 1] == self.term)
        self.commit = n


class Wire(Network[Message, Server], kind="kept"): ...


wire = Wire()
servers = [Server() for _ in range(SERVERS)]


@always
def one_leader_a_term() -> bool:
    return not any(a.role == b.role == "leader" and a.term == b.term for a, b in pairs(servers))


@always
def committed_agree() -> bool:
    return all(
        a.log[: min(a.commit, b.commit)] == b.log[: min(a.commit, b.commit)]
        for a, b in pairs(servers)
    )


@picture
def logs() -> draw.Part:
    """Entries have the color of their term; those with a strong edge are committed."""
    return draw.grid(
        *(
            [
                draw.token(server.role, color=server.term, strong=server.role == "leader"),
                server,
                *(
                    draw.box(f"term {term}", color=term, strong=at < server.commit)
                    for at, term in enumerate(server.log)
                ),
            ]
            for server in servers
        )
    )
