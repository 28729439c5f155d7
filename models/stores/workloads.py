"""What the clients of the dataflow store do: scripts of transactions, and the answers to one.

Nodes are small numbers, an item is an edge between two of them.
"""

from typing import Literal

from statewalk.models.stores.resolution import Counts, Item, Transaction

Workload = Literal[
    "free",  # any transactions with one requirement and one change at most, over two items
    "dependent",  # the second requires what the first inserts
    "mutual",  # each requires what the other removes
    "zero",  # a transaction numbered 0 requires what is there
    "insert",  # one insertion
    "ring",  # a root, and a ring behind it that is cut off
    "twice",  # an edge is inserted twice and removed once
    "session",  # a tree, queries, conditional insertions, and an edge that closes a ring
]

A: Item = (0, 1)
B: Item = (1, 0)
ITEMS: tuple[Item, Item] = (A, B)
STARTS: tuple[Counts, ...] = ((), ((A, 1),), ((A, 1), (B, 1)))


def added(*edges: Item) -> Counts:
    return tuple((edge, 1) for edge in edges)


def removed(*edges: Item) -> Counts:
    return tuple((edge, -1) for edge in edges)


SCRIPTS: dict[str, tuple[Transaction, ...]] = {
    "free": (),
    "dependent": (Transaction(1, changes=added(A)), Transaction(2, (A,), added(B))),
    "mutual": (Transaction(1, (A,), removed(B)), Transaction(2, (B,), removed(A))),
    "zero": (Transaction(0, (A,)),),
    "insert": (Transaction(1, changes=added(A), look_ups=(0,), roots=(0,)),),
    "ring": (
        Transaction(1, changes=added((0, 1), (1, 2), (2, 3), (3, 1)), roots=(0,)),
        Transaction(2, changes=removed((0, 1))),
    ),
    "twice": (
        Transaction(1, changes=added(A), look_ups=(0,), roots=(0,)),
        Transaction(2, changes=added(A)),
        Transaction(3, changes=removed(A)),
    ),
    "session": (
        Transaction(1, changes=added((0, 1), (0, 2))),
        Transaction(2, changes=added((1, 3))),
        Transaction(3, changes=added((1, 4))),
        Transaction(4, look_ups=(1,), roots=(1,)),
        Transaction(5, ((0, 2),), added((2, 5))),
        Transaction(6, ((5, 1),), added((4, 5))),  # there is no such edge
        Transaction(7, ((1, 3),), added((3, 0))),  # closes the ring 0, 1, 3
    ),
}

# What each transaction of "session" changes: edges looked up, and nodes got to from the root.
ANSWERS: tuple[tuple[Counts, Counts], ...] = (
    ((), ()),
    ((), ()),
    ((), ()),
    (added((1, 3), (1, 4)), added((1, 1), (1, 3), (1, 4))),
    ((), ()),
    ((), ()),
    ((), added((1, 0), (1, 2), (1, 5))),
)


def starts(workload: Workload) -> tuple[Counts, ...]:
    """The collections to begin with."""
    if workload == "free":
        return STARTS
    if workload in ("mutual", "zero"):
        return (((A, 1), (B, 1)),)
    return ((),)
