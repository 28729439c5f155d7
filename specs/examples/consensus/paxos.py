"""Paxos for one value: acceptors promise, and accept what a quorum lets a leader propose.

Messages stay and can be received again. A ballot is a leader. `voting.py` is what it does without
messages.
"""

from itertools import combinations

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
    old,
    on_step,
    require,
)

ACCEPTORS: Constant[int] = 3
VALUES: Constant[int] = 2
BALLOTS: Constant[int] = 2


class Prepare(Message):
    ballot: int


class Promise(Message):
    source: "Acceptor"
    ballot: int
    voted: int  # the last ballot in which it accepted, -1: none
    value: int | None


class Propose(Message):
    ballot: int
    value: int


class Accepted(Message):
    source: "Acceptor"
    ballot: int
    value: int


class Network(State):
    sent: set[Message] = set()


class Acceptor(Role, symmetric=True):
    ballot: int = -1
    voted: int = -1
    value: int | None = None

    @action
    def promise(self, ballot: int = any_of(range(BALLOTS))) -> None:
        require(Prepare(ballot) in network.sent and ballot > self.ballot)
        self.ballot = ballot
        network.sent.add(Promise(self, ballot, self.voted, self.value))

    @action
    def accept(
        self, ballot: int = any_of(range(BALLOTS)), value: int = any_of(range(VALUES))
    ) -> None:
        require(Propose(ballot, value) in network.sent and ballot >= self.ballot)
        self.ballot = self.voted = ballot
        self.value = value
        network.sent.add(Accepted(self, ballot, value))


class Leader(Role):
    @action
    def prepare(self) -> None:
        network.sent.add(Prepare(self.index))

    @action
    def propose(self, value: int = any_of(range(VALUES))) -> None:
        """Propose the value of a quorum's latest vote, or any value where there is none."""
        require(all(not isinstance(m, Propose) or m.ballot != self.index for m in network.sent))
        promised = [m for m in network.sent if isinstance(m, Promise) and m.ballot == self.index]
        any_of([why for quorum in quorums() for why in reasons(quorum, promised, value)])
        network.sent.add(Propose(self.index, value))


network = Network()
acceptors = [Acceptor() for _ in range(ACCEPTORS)]
leaders = [Leader() for _ in range(BALLOTS)]
deadlock(False)


def quorums() -> list[tuple[Acceptor, ...]]:
    """More than half of the acceptors; any two share one."""
    return list(combinations(acceptors, ACCEPTORS // 2 + 1))


def reasons(quorum: tuple[Acceptor, ...], promised: list[Promise], value: int) -> list[str]:
    """Return why a value may be proposed, as far as one quorum has promised."""
    heard = [m for m in promised if m.source in quorum]
    if len(heard) < len(quorum):
        return []
    latest = max(m.voted for m in heard)
    if latest < 0:
        return ["nobody voted"]
    return ["it was voted for" for m in heard if m.voted == latest and m.value == value]


def chosen() -> set[int]:
    """The values that a quorum accepted in one ballot."""
    return {
        value
        for value in range(VALUES)
        for ballot in range(BALLOTS)
        for quorum in quorums()
        if all(Accepted(a, ballot, value) in network.sent for a in quorum)
    }


@always
def one_at_most() -> bool:
    return len(chosen()) <= 1


@on_step
def what_is_chosen_stays() -> bool:
    return old(chosen()) <= chosen()


@exists
def something_is_chosen() -> bool:
    return bool(chosen())


config("one-acceptor", ACCEPTORS=1, VALUES=1, expect=holds(distinct=25, generated=82, depth=9))
config("three-acceptors", expect=holds(distinct=3921, generated=23563, depth=17))
