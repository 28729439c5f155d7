"""The workloads of the dataflow store's clients: scripts of transactions, and the answers to one.

Nodes are small numbers, an item is an edge between two of them.
"""

from typing import Literal

from statewalk.models.stores.resolution import Answers, Counts, Edge, Item, Query, Transaction

Workload = Literal[
    "free",  # any transactions with one requirement and one change at most, over two items
    "dependent",  # the second requires what the first inserts
    "mutual",  # each requires what the other removes
    "zero",  # a transaction numbered 0 requires what is there
    "insert",  # one insertion
    "ring",  # a root, and a ring behind it that is cut off
    "twice",  # an edge is inserted twice and removed once
    "session",  # a tree, queries, conditional insertions, and an edge that closes a ring
    "colours",  # edges become red and stop to be; how many red ones leave a node is asked
    "taken_back",  # a query is registered twice and taken back twice, while edges come
]

A: Edge = (0, 1)
B: Edge = (1, 0)
ITEMS: tuple[Edge, Edge] = (A, B)
STARTS: tuple[Counts, ...] = ((), ((A, 1),), ((A, 1), (B, 1)))


def added(*items: Item) -> Counts:
    return tuple((item, 1) for item in items)


def removed(*items: Item) -> Counts:
    return tuple((item, -1) for item in items)


def asked(node: int, *answers: Answers, count: int = 1) -> tuple[Query, ...]:
    return tuple((kind, node, count) for kind in answers)


def red(edge: Edge) -> Item:
    return (*edge, "red")


SCRIPTS: dict[str, tuple[Transaction, ...]] = {
    "free": (),
    "dependent": (Transaction(1, changes=added(A)), Transaction(2, (A,), added(B))),
    "mutual": (Transaction(1, (A,), removed(B)), Transaction(2, (B,), removed(A))),
    "zero": (Transaction(0, (A,)),),
    "insert": (Transaction(1, changes=added(A), queries=asked(0, "look_up", "reach")),),
    "ring": (
        Transaction(1, changes=added((0, 1), (1, 2), (2, 3), (3, 1)), queries=asked(0, "reach")),
        Transaction(2, changes=removed((0, 1))),
    ),
    "twice": (
        Transaction(1, changes=added(A), queries=asked(0, "look_up", "reach")),
        Transaction(2, changes=added(A)),
        Transaction(3, changes=removed(A)),
    ),
    "session": (
        Transaction(1, changes=added((0, 1), (0, 2))),
        Transaction(2, changes=added((1, 3))),
        Transaction(3, changes=added((1, 4))),
        Transaction(4, queries=asked(1, "look_up", "reach")),
        Transaction(5, ((0, 2),), added((2, 5))),
        Transaction(6, ((5, 1),), added((4, 5))),  # there is no such edge
        Transaction(7, ((1, 3),), added((3, 0))),  # closes the ring 0, 1, 3
    ),
    "colours": (
        Transaction(1, changes=added((0, 1), red((0, 1)), (0, 2)), queries=asked(0, "red_degree")),
        Transaction(2, ((0, 2),), added(red((0, 2)))),
        Transaction(3, (red((0, 2)),), removed(red((0, 1)))),
        Transaction(4, (red((0, 1)),), removed((0, 1))),  # it is not red any more
    ),
    "taken_back": (
        Transaction(1, changes=added((0, 1)), queries=asked(0, "look_up", "reach")),
        Transaction(2, queries=asked(0, "look_up", "reach")),
        Transaction(3, queries=asked(0, "look_up", "reach", count=-1)),
        Transaction(4, changes=added((0, 2)), queries=asked(0, "look_up", count=-1)),
    ),
}
OUTPUTS: dict[str, tuple[Answers, ...]] = {"colours": ("red_degree",)}
SERVED: tuple[Answers, ...] = ("look_up", "reach")  # by other workloads

# Of some workloads: the transactions that abort, and how each transaction changes each answer.
ABORTED = {"session": (6,), "colours": (4,), "taken_back": ()}
CHANGED: dict[str, tuple[tuple[Counts, ...], ...]] = {
    "session": (
        ((), ()),
        ((), ()),
        ((), ()),
        (added((1, 3), (1, 4)), added((1, 1), (1, 3), (1, 4))),
        ((), ()),
        ((), ()),
        ((), added((1, 0), (1, 2), (1, 5))),
    ),
    "colours": (
        (added((0, 1)),),
        ((*added((0, 2)), *removed((0, 1))),),
        ((*added((0, 1)), *removed((0, 2))),),
        ((),),
    ),
    "taken_back": (
        (added((0, 1)), added((0, 0), (0, 1))),
        ((), ()),
        ((), ()),
        (removed((0, 1)), added((0, 2))),
    ),
}


def starts(workload: Workload) -> tuple[Counts, ...]:
    """The collections to begin with."""
    if workload == "free":
        return STARTS
    if workload in ("mutual", "zero"):
        return (((A, 1), (B, 1)),)
    return ((),)
