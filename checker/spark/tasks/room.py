"""Memory that a task works in, kept by its process for the next task.

Memory that is new to a process has to be cleared by the system when it is first touched. A level
would pay that for all its successors again; so a task takes over what the one before left.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from statewalk.checker.native.states import Partition, Shape
from statewalk.checker.native.workers import Worker

_CANDIDATES = 1 << 14  # room per partition for what a batch gives; it grows where there are more
_MOST = 1 << 30  # bytes that a process keeps
_kept: list[Room] = []


@dataclass
class Room:
    """A worker, and partitions for the successors that are held until they are sent."""

    n_roots: int
    shape: Shape
    worker: Worker
    partitions: list[Partition]

    @property
    def bytes(self) -> int:
        """What it takes."""
        held = (
            *self.worker.batch,
            *(a for p in self.partitions for a in (*p.segment, p.table, p.table_low)),
        )
        return sum(array.nbytes for array in held)


def borrow(bits: int, n_roots: int, shape: Shape) -> Room:
    """Room with 2**bits partitions, all of them empty."""
    n = 1 << bits
    with suppress(IndexError):
        room = _kept.pop()
        if (len(room.partitions), room.n_roots, room.shape) == (n, n_roots, shape):
            return room
    partitions = [Partition(number, n, shape) for number in range(n)]
    return Room(n_roots, shape, Worker(n, n_roots, _CANDIDATES, shape.wide), partitions)


def give_back(room: Room, needed: int) -> None:
    """Keep room for the next task; not if ``needed``, states held at once, are few for it.

    For tasks that came to their end only: the partitions are empty again.
    """
    capacity = sum(len(partition.segment.fp) for partition in room.partitions)
    if 4 * needed >= capacity and room.bytes <= _MOST:
        _kept[:] = [room]


def forget() -> None:
    """Keep nothing."""
    _kept.clear()
