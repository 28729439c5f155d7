"""Acceptors vote in ballots such that no two values can be chosen: Paxos without messages."""

from itertools import combinations

from statewalk import (
    Constant,
    Role,
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
    symmetric_values,
)

ACCEPTORS: Constant[int] = 3
VALUES: Constant[int] = 2
BALLOTS: Constant[int] = 3

NAMES = symmetric_values("v", VALUES)


class Acceptor(Role, symmetric=True):
    ballot: int = -1
    votes: set[tuple[int, str]] = set()  # ballot and value

    @action
    def begin(self, ballot: int = any_of(range(BALLOTS))) -> None:
        require(ballot > self.ballot)
        self.ballot = ballot

    @action
    def vote(self, ballot: int = any_of(range(BALLOTS)), value: str = any_of(NAMES)) -> None:
        require(self.ballot <= ballot and not self.voted_in(ballot))
        cast = [(b, v) for a in acceptors for b, v in a.votes]
        require(all(v == value for b, v in cast if b == ballot))
        any_of(range(reasons(ballot, value)))
        self.votes.add((ballot, value))
        self.ballot = ballot

    def voted_in(self, ballot: int) -> bool:
        return any(b == ballot for b, _ in self.votes)


acceptors = [Acceptor() for _ in range(ACCEPTORS)]
deadlock(False)


def quorums() -> list[tuple[Acceptor, ...]]:
    """More than half of the acceptors; any two share one."""
    return list(combinations(acceptors, ACCEPTORS // 2 + 1))


def reasons(ballot: int, value: str) -> int:
    """In how many ways a quorum shows that nothing else can be chosen below a ballot.

    All of it have come to the ballot; in some ballot one of them voted for the value, or in none at
    all, and in none after that did anybody of it vote.
    """
    found = 0
    for members in quorums():
        if all(a.ballot >= ballot for a in members):
            for last in range(-1, ballot):
                if not any(a.voted_in(b) for a in members for b in range(last + 1, ballot)):
                    found += 1 if last < 0 else sum((last, value) in a.votes for a in members)
    return found


def chosen() -> set[str]:
    """The values that a quorum voted for in some ballot."""
    return {
        value
        for value in NAMES
        for ballot in range(BALLOTS)
        if any(all((ballot, value) in a.votes for a in quorum) for quorum in quorums())
    }


@always
def one_at_most() -> bool:
    return len(chosen()) <= 1


@always
def one_value_in_a_ballot() -> bool:
    cast = {vote for a in acceptors for vote in a.votes}
    return len({ballot for ballot, _ in cast}) == len(cast)


@on_step
def what_is_chosen_stays() -> bool:
    return old(chosen()) <= chosen()


@exists
def something_is_chosen() -> bool:
    return bool(chosen())


config("two-ballots", BALLOTS=2, expect=holds(distinct=599, generated=3124, depth=11))
config("three-ballots", expect=holds(distinct=6752, generated=41017, depth=16))
