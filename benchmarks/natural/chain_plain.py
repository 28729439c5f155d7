"""Chain replication in plain Python: the states of chain.py.

Usage: chain_plain.py [NAME=VALUE ...].
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from search import constants, search

NODES, WRITES = constants(NODES=3, WRITES=2)
ALL = tuple(range(NODES))
State = tuple[Any, ...]  # messages, chain, nodes (log, stable)


def successors(state: State) -> Iterator[State]:
    sent: frozenset[Any]
    sent, chain, nodes = state
    for place, me in enumerate(chain):
        log, stable = nodes[me]
        before = chain[place - 1] if place > 0 else None
        after = chain[place + 1] if place + 1 < len(chain) else None

        def become(log: State, stable: int, me: int = me) -> State:
            return (*nodes[:me], (log, stable), *nodes[me + 1 :])

        def acknowledged(stable: int, me: int = me, before: int | None = before) -> frozenset[Any]:
            return sent if before is None else sent | {("ack", me, before, stable)}

        if len(chain) > 1:
            yield sent, chain[:place] + chain[place + 1 :], nodes
        if before is None:
            for value in range(WRITES):
                if value not in log:
                    yield sent, chain, become((*log, value), stable)
        if after is not None:
            for position, value in enumerate(log):
                m = ("update", me, after, position, value)
                if m not in sent:
                    yield sent | {m}, chain, nodes
            acks = [m[3] for m in sent if m[:3] == ("ack", after, me)]
            if max(acks, default=0) > stable:
                yield acknowledged(max(acks)), chain, become(log, max(acks))
        elif stable < len(log):
            yield acknowledged(len(log)), chain, become(log, len(log))
        for m in sent:
            if before is not None and m[:4] == ("update", before, me, len(log)):
                yield sent, chain, become((*log, m[4]), stable)


def correct(state: State) -> bool:
    """Check that logs shrink along the chain, and that all of it has the stable entries."""
    _, chain, nodes = state
    for i, j in combinations(chain, 2):
        if nodes[i][0][: len(nodes[j][0])] != nodes[j][0]:
            return False
    return all(nodes[i][0][:stable] == log[:stable] for i in chain for log, stable in nodes)


search((frozenset[Any](), ALL, (((), 0),) * NODES), successors, correct)
