"""The workloads of the stamping store's clients: update transactions, and programs that walk.

Vertices are small numbers. An update adds or removes edges, each at the vertex that it leaves; a
program starts at a root and follows edges.
"""

from typing import Literal

from statewalk import Record

Edge = tuple[int, int]
Workload = Literal[
    "one",  # one transaction at the first vertex
    "both",  # two transactions, each at the same two vertices
    "circle",  # three that meet pairwise, each pair at a vertex of its own
    "chain",  # two of one gatekeeper at different vertices, and one of another at both
    "walk",  # an edge behind the program is removed, then one before it is added
    "half-walk",  # the first of these two updates alone
    "strangers",  # two transactions at different vertices
    "looked-at",  # an update, and a program that looks at its vertex
    "followed",  # one meets another at a vertex, and that one a third at another vertex
]


class Work(Record):
    """A transaction: what it changes, or where its program starts; and who stamps it."""

    name: str
    gatekeeper: int
    changes: tuple[tuple[Edge, int], ...] = ()
    root: int | None = None


def adds(*vertices: int) -> tuple[tuple[Edge, int], ...]:
    """One more edge leaves each vertex."""
    return tuple(((vertex, vertex + 1), 1) for vertex in vertices)


WORKS: dict[str, tuple[Work, ...]] = {
    "one": (Work("A", 0, adds(0)),),
    "both": (Work("A", 0, adds(0, 1)), Work("B", 1, adds(0, 1))),
    "circle": (Work("A", 0, adds(0, 1)), Work("B", 1, adds(1, 2)), Work("C", 2, adds(2, 0))),
    "chain": (Work("A", 0, adds(0)), Work("B", 0, adds(1)), Work("C", 1, adds(0, 1))),
    "walk": (
        Work("P", 1, root=0),
        Work("A", 0, (((0, 1), -1),)),
        Work("B", 0, (((2, 3), 1),)),
    ),
    "half-walk": (Work("P", 1, root=0), Work("A", 0, (((0, 1), -1),))),
    "strangers": (Work("A", 0, adds(0)), Work("B", 1, adds(1))),
    "looked-at": (Work("A", 0, adds(0)), Work("P", 1, root=0)),
    "followed": (Work("A", 0, adds(0)), Work("B", 1, adds(0, 1)), Work("C", 2, adds(1))),
}
STARTS: dict[str, tuple[Edge, ...]] = {"walk": ((0, 1), (1, 2)), "half-walk": ((0, 1), (1, 2))}
