"""Raft in plain Python: the states of raft.py.

Usage: raft_plain.py [NAME=VALUE ...].
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from search import constants, search

SERVERS, MAX_TERM, MAX_LOG = constants(SERVERS=3, MAX_TERM=2, MAX_LOG=1)
ALL = range(SERVERS)
FOLLOWER, CANDIDATE, LEADER = range(3)
NOBODY = -1
NO_MATCH = (-1,) * SERVERS  # entries that were never written
State = tuple[Any, ...]  # the messages, then the servers
# a server: term, role, voted for, log, commit, votes, match


def later(server: State, term: int) -> State:
    """Return a server after it has seen a term."""
    if term <= server[0]:
        return server
    return (term, FOLLOWER, NOBODY, server[3], server[4], frozenset(), (0,) * SERVERS)


def changed(values: State, at: int, value: Any) -> State:
    return (*values[:at], value, *values[at + 1 :])


def successors(state: State) -> Iterator[State]:
    sent, servers = state
    for me, server in enumerate(servers):
        for message, new in moves(sent, me, server):
            yield (sent if message is None else sent | {message}, changed(servers, me, new))


def moves(sent: frozenset[Any], me: int, server: State) -> Iterator[tuple[Any, State]]:
    """Yield the message that a server may send, if any, and its state afterwards."""
    term, role, voted, log, commit, votes, match = server
    mine = (log[-1] if log else 0, len(log))
    if role != LEADER and term < MAX_TERM:
        new = (term + 1, CANDIDATE, me, log, commit, frozenset({me}), match)
        yield ("request", term + 1, me, *mine), new
    for m in sent:
        if m[0] == "request" and m[2] != me and m[1] >= term:
            new = later(server, m[1])
            if m[3:] >= mine and new[2] in (NOBODY, m[2]):
                yield ("vote", new[0], me, m[2]), changed(new, 2, m[2])
        elif m[0] == "append" and m[3] == me and m[1] >= term:
            _, _, source, _, prev, prev_term, entries, committed = m
            if prev == 0 or (prev <= len(log) and log[prev - 1] == prev_term):
                new = later(server, m[1])
                kept = (
                    log if log[prev : prev + 1] == entries or not entries else log[:prev] + entries
                )
                end = prev + len(entries)
                after = FOLLOWER if new[1] == CANDIDATE else new[1]
                upto = max(commit, min(committed, end))
                yield (
                    ("ack", new[0], me, source, end),
                    (new[0], after, new[2], kept, upto, *new[5:]),
                )
        elif (
            m[0] == "ack" and m[3] == me and m[1] == term and role == LEADER and m[4] > match[m[2]]
        ):
            yield None, changed(server, 6, changed(match, m[2], m[4]))
    if role == CANDIDATE:
        for other in ALL:
            if other != me and ("vote", term, other, me) in sent:
                yield None, changed(server, 5, votes | {other})
        if 2 * len(votes) > SERVERS:
            yield None, (term, LEADER, voted, log, commit, votes, (0,) * SERVERS)
    if role == LEADER:
        if len(log) < MAX_LOG:
            yield None, changed(server, 3, (*log, term))
        for other in ALL:
            if other != me:
                prev = match[other]
                prev_term = log[prev - 1] if prev > 0 else 0
                yield (
                    ("append", term, me, other, prev, prev_term, log[prev : prev + 1], commit),
                    server,
                )
        if commit < len(log) and log[commit] == term:
            if 2 * (1 + sum(match[o] > commit for o in ALL if o != me)) > SERVERS:
                yield None, changed(server, 4, commit + 1)


def correct(state: State) -> bool:
    """Check that a term has one leader, and that committed entries agree."""
    for a, b in combinations(state[1], 2):
        if a[1] == b[1] == LEADER and a[0] == b[0]:
            return False
        both = min(a[4], b[4])
        if a[3][:both] != b[3][:both]:
            return False
    return True


server = (1, FOLLOWER, NOBODY, (), 0, frozenset[int](), NO_MATCH)
search((frozenset[Any](), (server,) * SERVERS), successors, correct)
