"""A sharded graph store whose gatekeepers stamp transactions with vector clocks.

Each transaction gets the clock of the gatekeeper that it comes to, and waits at the shards that it
touches until nothing of another gatekeeper can be before it. Gatekeepers tell each other their
clocks from time to time, so that most transactions are ordered by their stamps; two that are not,
and that meet at a shard, are ordered by an oracle. Programs walk along edges, and see one state.

Source: Dubey, Hill, Escriva and Sirer, Weaver (PVLDB 2016).
"""

from itertools import combinations

from statewalk import always, config, eventually, exists, terminal
from statewalk.models.stores.weaving.order import Pairs, is_cyclic, leads, vector_order
from statewalk.models.stores.weaving.parts import (
    ACKS,
    ALL_WORKS,
    BY_NAME,
    GRAIN,
    ORACLE,
    UPDATES,
    WALKS,
    clients,
    is_done,
    known_order,
    oracle,
    programs,
    shards,
    targets,
    vertices_of,
)
from statewalk.models.stores.weaving.rows import ROWS


# -- the orders that can be seen -------------------------------------------------------------------
def orders_of_shards() -> Pairs:
    """Return what shards have applied before what; where it counts, if they order by vertices."""
    return frozenset(
        (a, b)
        for shard in shards
        for a, b in combinations(shard.applied[:], 2)
        if GRAIN == "shard" or vertices_of(a) & vertices_of(b)
    )


def orders_of_programs() -> Pairs:
    """Return which updates programs have seen, and which they have missed."""
    found = set()
    for program in programs:
        for vertex in program.trail if program.done else program.trail[:-1]:
            for name in UPDATES:
                if (vertex, name) in program.seen:
                    found.add((name, program.work))
                elif vertex in vertices_of(name) and any(name in s.applied for s in shards):
                    found.add((program.work, name))
    return frozenset(found)


def order() -> Pairs:
    return vector_order(clients.stamps) | orders_of_shards() | orders_of_programs()


def real_time() -> Pairs:
    """Return who had been answered before another one was submitted."""
    return frozenset((a, b) for b in clients.earlier for a in clients.earlier[b])


@always
def serializable() -> bool:
    """One order of all transactions explains what shards did and programs saw."""
    return not is_cyclic(order())


if ACKS != "none":

    @always
    def strictly_serializable() -> bool:
        """And it has whatever was answered before what was submitted later."""
        return not is_cyclic(order() | real_time())


if ORACLE != "none":

    @always
    def oracle_consistent() -> bool:
        """Decisions contradict neither the stamps nor each other."""
        return not is_cyclic(known_order())


if WALKS:

    @always
    def traversal_snapshot() -> bool:
        """A program's way is one that it could have gone at one moment."""
        return all(not p.done or is_possible(p.work, p.trail) for p in programs)


def is_possible(work: str, trail: tuple[int, ...]) -> bool:
    """Return whether a walk goes that way after some updates, with all that are before these."""
    stamped = tuple(name for name in UPDATES if name in clients.stamps)
    known = vector_order(clients.stamps) | orders_of_shards()
    return any(
        walked(trail[0], chosen) == trail
        for size in range(len(stamped) + 1)
        for chosen in combinations(stamped, size)
        if all(a in chosen for a in stamped for b in chosen if leads(known, a, b))
    )


def walked(root: int, updates: tuple[str, ...]) -> tuple[int, ...]:
    """The vertices of a walk in a graph that does not change."""
    trail = [root]
    while (onward := targets(trail[-1], updates)) and onward[0] not in trail:
        trail.append(onward[0])
    return tuple(trail)


if ORACLE != "none":

    @always
    def no_needless_order() -> bool:
        """The oracle is asked only about transactions that have a vertex in common."""
        return all(
            a not in UPDATES or b not in UPDATES or vertices_of(a) & vertices_of(b)
            for a, b in oracle.decided
        )


@eventually
@always
def every_transaction_applied() -> bool:
    """Submitted transactions are applied in the end, and programs end."""
    return all(is_done(name) for name in clients.stamps)


if len(ALL_WORKS) > 1:

    @exists
    def all_done() -> bool:
        return everything_done()


@terminal
def everything_done() -> bool:
    return len(clients.stamps) == len(ALL_WORKS) and all(is_done(name) for name in BY_NAME)


for row, expect, constants in ROWS:
    config(row, expect=expect, **constants)
