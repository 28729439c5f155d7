"""The Raft of raft.py, written pointwise: an action has the fields of its message as parameters.

No action looks at the whole network: each asks for one message.
"""

from typing import Literal

from statewalk import (
    Constant,
    Message,
    Role,
    State,
    action,
    always,
    any_of,
    deadlock,
    pairs,
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
    dest: "Server"


class Append(Message):
    term: int
    source: "Server"
    dest: "Server"
    prev: int
    prev_term: int
    entries: tuple[int, ...]
    commit: int


class Ack(Message):
    term: int
    source: "Server"
    dest: "Server"
    match: int


class Network(State):
    sent: set[Message] = set()


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
        network.sent.add(RequestVote(self.term, self, self.last_term(), len(self.log)))

    @action
    def vote(
        self,
        source: "Server",
        term: int = any_of(range(1, MAX_TERM + 1)),
        last_term: int = any_of(range(MAX_TERM + 1)),
        length: int = any_of(range(MAX_LOG + 1)),
    ) -> None:
        require(source is not self)
        require(RequestVote(term, source, last_term, length) in network.sent)
        require(term >= self.term)
        self.see(term)
        require((last_term, length) >= (self.last_term(), len(self.log)))
        require(self.voted_for is None or self.voted_for is source)
        self.voted_for = source
        network.sent.add(Vote(self.term, self, source))

    @action
    def count_vote(self, other: "Server") -> None:
        require(other is not self and self.role == "candidate")
        require(Vote(self.term, other, self) in network.sent)
        self.votes.add(other)

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
        network.sent.add(
            Append(
                self.term,
                self,
                other,
                prev,
                prev_term,
                tuple(self.log[prev : prev + 1]),
                self.commit,
            )
        )

    @action
    def receive_append(
        self,
        source: "Server",
        term: int = any_of(range(1, MAX_TERM + 1)),
        prev: int = any_of(range(MAX_LOG + 1)),
        prev_term: int = any_of(range(MAX_TERM + 1)),
        entry: int = any_of(range(MAX_TERM + 1)),
        commit: int = any_of(range(MAX_LOG + 1)),
    ) -> None:
        entries = (entry,) if entry > 0 else ()
        require(
            Append(term, source, self, prev, prev_term, entries, commit) in network.sent
            and term >= self.term
        )
        self.see(term)
        if self.role == "candidate":
            self.role = "follower"
        require(prev == 0 or (prev <= len(self.log) and self.log[prev - 1] == prev_term))
        if entries and self.log[prev : prev + 1] != list(entries):
            self.log = [*self.log[:prev], *entries]
        match = prev + len(entries)
        self.commit = max(self.commit, min(commit, match))
        network.sent.add(Ack(self.term, self, source, match))

    @action
    def receive_ack(self, source: "Server", match: int = any_of(range(MAX_LOG + 1))) -> None:
        require(Ack(self.term, source, self, match) in network.sent and self.role == "leader")
        require(match > self.match[source])
        self.match[source] = match

    @action
    def advance_commit(self) -> None:
        require(self.role == "leader" and self.commit < len(self.log))
        n = self.commit + 1
        require(2 * (1 + sum(self.match[o] >= n for o in servers if o is not self)) > SERVERS)
        require(self.log[n - 1] == self.term)
        self.commit = n


network = Network()
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
