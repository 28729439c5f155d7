"""A view change in plain Python: the states of viewchange.py.

Usage: viewchange_plain.py [NAME=VALUE ...].
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from search import constants, search

REPLICAS, MAX_VIEW, MAX_LOG = constants(REPLICAS=3, MAX_VIEW=2, MAX_LOG=1)
State = tuple[Any, ...]  # messages, replicas (view, normal, log, last normal view, commit)


def successors(state: State) -> Iterator[State]:
    sent, replicas = state
    for me, replica in enumerate(replicas):
        for message, new in moves(sent, me, replica):
            after = sent if message is None else sent | {message}
            yield after, (*replicas[:me], new, *replicas[me + 1 :])


def moves(sent: frozenset[Any], me: int, replica: State) -> Iterator[tuple[Any, State]]:
    """Yield the message that a replica may send, if any, and its state afterwards."""
    message: tuple[Any, ...]
    view, normal, log, last, commit = replica
    primary = view % REPLICAS == me
    here = [m for m in sent if m[1] == view]
    started = [m for m in sent if m[0] == "start view change"]
    if normal and primary:
        if len(log) < MAX_LOG:
            message = ("prepare", view, len(log) + 1, view, commit)
            yield message, (view, normal, (*log, view), last, commit)
        have = {m[3] for m in here if m[0] == "ok" and m[2] > commit}
        if commit < len(log) and 2 * (len(have) + 1) > REPLICAS:
            yield None, (view, normal, log, last, commit + 1)
    if normal and not primary:
        for m in here:
            if m[0] == "prepare" and m[2] == len(log) + 1:
                new = (view, normal, (*log, m[3]), last, max(commit, m[4]))
                yield ("ok", view, m[2], me), new
    later = [view + 1] if view < MAX_VIEW else []
    for higher in [*later, *{m[1] for m in started if m[1] > view}]:
        yield ("start view change", higher, me), (higher, False, log, last, commit)
    if not normal:
        if 2 * len([m for m in started if m[1] == view]) > REPLICAS:
            message = ("do view change", view, me, log, last, commit)
            if message not in sent:
                yield message, replica
        votes = [m for m in here if m[0] == "do view change"]
        if primary and 2 * len(votes) > REPLICAS:
            _, _, _, best, _, _ = max(votes, key=lambda m: (m[4], len(m[3])))
            upto = max(commit, *(m[5] for m in votes))
            yield ("start view", view, best, upto), (view, True, best, view, upto)
    for m in sent:
        if m[0] == "start view" and (m[1] > view or (m[1] == view and not normal)):
            yield None, (m[1], True, m[2], m[1], max(commit, m[3]))


def correct(state: State) -> bool:
    """Check that committed entries agree, and that a view has one normal primary."""
    replicas = state[1]
    for a, b in combinations(replicas, 2):
        both = min(a[4], b[4])
        if a[2][:both] != b[2][:both]:
            return False
    primaries = [r[0] for i, r in enumerate(replicas) if r[1] and r[0] % REPLICAS == i]
    return len(primaries) == len(set(primaries))


search((frozenset[Any](), ((0, True, (), 0, 0),) * REPLICAS), successors, correct)
