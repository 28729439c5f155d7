"""Caches and a directory in plain Python: the states of msi.py.

Usage: msi_plain.py [NAME=VALUE ...].
"""

from collections.abc import Iterator
from typing import Any

from search import constants, search

CACHES, VALUES = constants(CACHES=4, VALUES=2)
INVALID, SHARED, MODIFIED = range(3)
State = tuple[Any, ...]
# messages, caches (state, value, waiting), directory (memory, owner, sharers, request served)


def successors(state: State) -> Iterator[State]:
    sent, caches, directory = state
    for me, (line, value, waiting) in enumerate(caches):

        def become(line: int, value: int, waiting: bool, me: int = me) -> State:
            return (*caches[:me], (line, value, waiting), *caches[me + 1 :])

        if not waiting:
            for exclusive in (False, True):
                if line == INVALID or (line == SHARED and exclusive):
                    yield sent | {("get", me, exclusive)}, become(line, value, True), directory
        if line == MODIFIED:
            for other in range(VALUES):
                if other != value:
                    yield sent, become(line, other, waiting), directory
        for m in sent:
            rest = sent - {m}
            if m == ("invalidate", me):
                yield rest | {("invalidated", me)}, become(INVALID, 0, waiting), directory
            elif m == ("fetch", me):
                yield rest | {("write back", me, value)}, become(INVALID, 0, waiting), directory
            elif m[:2] == ("data", me):
                new = become(MODIFIED if m[3] else SHARED, m[2], False)
                yield rest | {("received", me)}, new, directory
    memory, owner, sharers, serving = directory
    for m in sent:
        rest = sent - {m}
        if m[0] == "get" and serving is None:
            if owner is not None:
                rest |= {("fetch", owner)}
            elif m[2]:
                rest |= {("invalidate", i) for i in sharers if i != m[1]}
            yield rest, caches, (memory, owner, sharers, m)
        elif m[0] == "write back":
            yield rest, caches, (m[2], None, sharers, serving)
        elif m[0] == "invalidated":
            yield rest, caches, (memory, owner, sharers - {m[1]}, serving)
        elif m[0] == "received":
            yield rest, caches, (memory, owner, sharers, None)
    if serving is not None and owner is None:
        _, source, exclusive = serving
        after = sent | {("data", source, memory, exclusive)}
        if exclusive and not sharers - {source}:
            yield after, caches, (memory, source, frozenset(), serving)
        elif not exclusive and source not in sharers:
            yield after, caches, (memory, owner, sharers | {source}, serving)


def correct(state: State) -> bool:
    """Check that a writer is alone, and that sharers have the value of memory."""
    _, caches, (memory, *_) = state
    lines = [line for line, _, _ in caches]
    if MODIFIED in lines and len(lines) - lines.count(INVALID) != 1:
        return False
    return all(value == memory for line, value, _ in caches if line == SHARED)


nobody = (0, None, frozenset[int](), None)
search((frozenset[Any](), ((INVALID, 0, False),) * CACHES, nobody), successors, correct)
