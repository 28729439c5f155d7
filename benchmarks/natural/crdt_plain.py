"""A counting CRDT in plain Python: the states of crdt.py.

Usage: crdt_plain.py [NAME=VALUE ...].
"""

from collections.abc import Iterator

from search import constants, search

NODES, TOP = constants(NODES=3, TOP=3)
ALL = range(NODES)
State = tuple[tuple[int, ...], ...]  # what each node has seen of each


def reduced(state: State) -> State:
    least = min(map(min, state))
    return tuple(tuple(n - least for n in seen) for seen in state)


def successors(state: State) -> Iterator[State]:
    for i, seen in enumerate(state):
        one_more = (*seen[:i], seen[i] + 1, *seen[i + 1 :])
        target = (*state[:i], one_more, *state[i + 1 :])
        yield target
        yield reduced(target)
        for j, others in enumerate(state):
            merged = tuple(max(a, b) for a, b in zip(seen, others, strict=True))
            target = (*state[:j], merged, *state[j + 1 :])
            yield target
            yield reduced(target)


def inside(state: State) -> bool:
    return all(state[i][i] <= TOP for i in ALL)


def correct(state: State) -> bool:
    """Check that nobody has seen more of a node than the node itself."""
    return all(state[i][i] >= state[j][i] for i in ALL for j in ALL)


search(((0,) * NODES,) * NODES, successors, correct, inside)
