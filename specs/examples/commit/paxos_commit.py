"""Transaction commit that no single failure blocks: each vote is agreed on by an instance of Paxos.

A resource manager proposes its own vote in ballot 0; a leader that gets impatient asks in a later
ballot, and proposes to abort where no acceptor has heard of a vote. Messages stay.
"""

from itertools import combinations
from math import prod
from typing import Literal, TypeVar

from statewalk import (
    Constant,
    Message,
    Role,
    State,
    action,
    always,
    any_of,
    config,
    deadlock,
    exists,
    holds,
    require,
)

RMS: Constant[int] = 2
ACCEPTORS: Constant[int] = 3
BALLOTS: Constant[int] = 2

Vote = Literal["prepared", "aborted"]
M = TypeVar("M")
VOTES: tuple[Vote, ...] = ("prepared", "aborted")


class Prepare(Message):
    about: "ResourceManager"
    ballot: int


class Promise(Message):
    source: "Acceptor"
    ballot: int
    accepted: int  # the last ballot in which it accepted, -1: none
    vote: Vote | None


class Propose(Message):
    about: "ResourceManager"
    ballot: int
    vote: Vote


class Accepted(Message):
    source: "Acceptor"
    ballot: int
    vote: Vote


class Outcome(Message):
    commit: bool


class Network(State):
    sent: set[Message] = set()


class ResourceManager(Role):
    state: Literal["working", "prepared", "committed", "aborted"] = "working"

    @action
    def vote(self, vote: Vote) -> None:
        require(self.state == "working")
        self.state = vote
        network.sent.add(Propose(self, 0, vote))

    @action
    def learn(self, commit: bool) -> None:
        require(Outcome(commit) in network.sent)
        self.state = "committed" if commit else "aborted"


class Acceptor(Role):
    """An acceptor's knowledge of one vote."""

    about: ResourceManager
    ballot: int = 0
    accepted: int = -1
    value: Vote | None = None

    @action
    def promise(self, ballot: int = any_of(range(1, BALLOTS))) -> None:
        require(ballot > self.ballot and Prepare(self.about, ballot) in network.sent)
        self.ballot = ballot
        network.sent.add(Promise(self, ballot, self.accepted, self.value))

    @action
    def accept(self, vote: Vote, ballot: int = any_of(range(BALLOTS))) -> None:
        require(ballot >= self.ballot and Propose(self.about, ballot, vote) in network.sent)
        self.ballot = self.accepted = ballot
        self.value = vote
        network.sent.add(Accepted(self, ballot, vote))


@action
def ask(about: ResourceManager, ballot: int = any_of(range(1, BALLOTS))) -> None:
    network.sent.add(Prepare(about, ballot))


@action
def propose(about: ResourceManager, ballot: int = any_of(range(1, BALLOTS))) -> None:
    """Propose the value that a majority accepted last, or to abort where it accepted none."""
    require(not any(Propose(about, ballot, vote) in network.sent for vote in VOTES))
    heard = [promise for a in acceptors[about.index] for promise in promises(a, ballot)]
    latest = any_of([max(m.accepted for m in some) for some in majorities(heard)])
    known = [m.vote for m in heard if m.accepted == latest and m.vote]
    network.sent.add(Propose(about, ballot, known[0] if known else "aborted"))


@action
def commit() -> None:
    any_of(range(prod(reasons(rm, "prepared") for rm in rms)))
    network.sent.add(Outcome(True))


@action
def abort() -> None:
    any_of(range(sum(reasons(rm, "aborted") for rm in rms)))
    network.sent.add(Outcome(False))


network = Network()
rms = [ResourceManager() for _ in range(RMS)]
acceptors = [[Acceptor(about=rm) for _ in range(ACCEPTORS)] for rm in rms]
deadlock(False)


def promises(acceptor: Acceptor, ballot: int) -> list[Promise]:
    """Return what it answered in a ballot; that is one promise at most."""
    silent = [Promise(acceptor, ballot, -1, None)]
    told = [Promise(acceptor, ballot, b, vote) for b in range(ballot) for vote in VOTES]
    return [m for m in silent + told if m in network.sent]


def majorities(messages: list[M]) -> list[tuple[M, ...]]:
    """Of messages that each acceptor sends once."""
    return list(combinations(messages, ACCEPTORS // 2 + 1))


def reasons(rm: ResourceManager, vote: Vote) -> int:
    """In how many ways a majority shows that a vote is agreed on."""
    return sum(
        len(majorities([a for a in acceptors[rm.index] if Accepted(a, b, vote) in network.sent]))
        for b in range(BALLOTS)
    )


@always
def one_outcome() -> bool:
    states = {rm.state for rm in rms}
    return not {"committed", "aborted"} <= states


@always
def one_vote_is_agreed_on() -> bool:
    return not any(reasons(rm, "prepared") and reasons(rm, "aborted") for rm in rms)


@exists
def all_commit() -> bool:
    return all(rm.state == "committed" for rm in rms)


@exists
def aborted_without_a_vote() -> bool:
    return any(rm.state == "aborted" and reasons(rm, "aborted") for rm in rms)


config("two", expect=holds(distinct=1321761, generated=16959159, depth=28))
config("one", RMS=1, expect=holds(distinct=1461, generated=9936, depth=15))
