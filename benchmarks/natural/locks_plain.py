"""A lock service in plain Python: the states of locks.py.

Usage: locks_plain.py [NAME=VALUE ...].
"""

from collections.abc import Iterator
from typing import Any

from search import constants, search

CLIENTS, SESSIONS, TOKENS = constants(CLIENTS=2, SESSIONS=2, TOKENS=3)
State = tuple[Any, ...]
# messages, clients (session, token, waiting), service (sessions, holder, token), storage


def changed(values: State, at: int, value: Any) -> State:
    return (*values[:at], value, *values[at + 1 :])


def successors(state: State) -> Iterator[State]:
    sent, clients, service, highest = state
    for me, (session, token, waiting) in enumerate(clients):

        def become(session: int, token: int, waiting: bool, me: int = me) -> State:
            return changed(clients, me, (session, token, waiting))

        if not waiting and token == 0:
            asked = sent | {("acquire", me, session)}
            yield asked, become(session, 0, True), service, highest
        for m in sent:
            if m[:2] == ("granted", me):
                new = become(session, m[3], False) if m[2] == session else clients
                yield sent - {m}, new, service, highest
        if token > 0:
            yield sent | {("write", me, token)}, clients, service, highest
            yield sent | {("release", me, token)}, become(session, 0, waiting), service, highest
        if session < service[0][me]:
            yield sent, become(service[0][me], 0, False), service, highest
    sessions, holder, newest = service
    for m in sent:
        if m[0] == "acquire" and m[2] == sessions[m[1]] and holder is None and newest < TOKENS:
            granted = ("granted", *m[1:], newest + 1)
            yield sent - {m} | {granted}, clients, (sessions, granted, newest + 1), highest
        elif m[0] == "release":
            kept = None if holder is not None and holder[3] == m[2] else holder
            yield sent - {m}, clients, (sessions, kept, newest), highest
        elif m[0] == "write":
            yield sent - {m}, clients, service, max(highest, m[2])
    for i in range(CLIENTS):
        if sessions[i] < SESSIONS:
            kept = None if holder is not None and holder[1] == i else holder
            yield sent, clients, (changed(sessions, i, sessions[i] + 1), kept, newest), highest


def correct(state: State) -> bool:
    """Check that tokens differ, and that clients in a live session have the newest one or none."""
    _, clients, (sessions, _, newest), _ = state
    tokens = [token for _, token, _ in clients if token > 0]
    return len(tokens) == len(set(tokens)) and all(
        token in (0, newest)
        for (session, token, _), living in zip(clients, sessions, strict=True)
        if session == living
    )


def step(state: State, target: State) -> bool:
    return bool(target[3] >= state[3])


service = ((1,) * CLIENTS, None, 0)
search((frozenset[Any](), ((1, 0, False),) * CLIENTS, service, 0), successors, correct, step=step)
