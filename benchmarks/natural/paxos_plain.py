"""Paxos in plain Python: the states of specs/examples/consensus/paxos.py.

Usage: paxos_plain.py [NAME=VALUE ...].
"""

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import Any

from search import constants, search

ACCEPTORS, VALUES, BALLOTS = constants(ACCEPTORS=3, VALUES=2, BALLOTS=2)
QUORUMS = list(combinations(range(ACCEPTORS), ACCEPTORS // 2 + 1))
NONE = -1
Sent = frozenset[tuple[Any, ...]]
State = tuple[Sent, tuple[tuple[int, int, int], ...]]
# an acceptor: the last ballot, the one in which it voted, the value voted for


def successors(state: State) -> Iterator[State]:
    sent, acceptors = state
    for i, (ballot, voted, value) in enumerate(acceptors):
        for m in sent:
            if m[0] == "prepare" and m[1] > ballot:
                new, answer = (m[1], voted, value), ("promise", i, m[1], voted, value)
            elif m[0] == "propose" and m[1] >= ballot:
                new, answer = (m[1], *m[1:]), ("accepted", i, *m[1:])
            else:
                continue
            yield sent | {answer}, (*acceptors[:i], new, *acceptors[i + 1 :])
    for ballot in range(BALLOTS):
        yield sent | {("prepare", ballot)}, acceptors
        if not any(m[0] == "propose" and m[1] == ballot for m in sent):
            for value in proposals(sent, ballot):
                yield sent | {("propose", ballot, value)}, acceptors


def proposals(sent: Sent, ballot: int) -> Iterator[int]:
    """Yield the values that a leader may propose, once for each reason."""
    promised = [m for m in sent if m[0] == "promise" and m[2] == ballot]
    for quorum in QUORUMS:
        heard = [m for m in promised if m[1] in quorum]
        if len(heard) == len(quorum):
            latest = max(m[3] for m in heard)
            yield from range(VALUES) if latest < 0 else (m[4] for m in heard if m[3] == latest)


@cache
def chosen(sent: Sent) -> set[int]:
    return {
        value
        for value in range(VALUES)
        for ballot in range(BALLOTS)
        for quorum in QUORUMS
        if all(("accepted", i, ballot, value) in sent for i in quorum)
    }


def correct(state: State) -> bool:
    return len(chosen(state[0])) <= 1


def step(state: State, target: State) -> bool:
    return chosen(state[0]) <= chosen(target[0])


search((frozenset[Any](), ((NONE,) * 3,) * ACCEPTORS), successors, correct, step=step)
