"""The learned tables on their way to the executors: a base, then what changed, in versions.

The driver compares the arrays with what it sent last, block by block, and sends the blocks that
differ. A worker process keeps the newest version it has seen and applies what came since. Versions
may lie in a folder, so they are plain arrays: reading one runs nothing.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from statewalk.checker.native.kernels.arrays import Array, Outcomes, Tries
from statewalk.checker.native.kernels.orbit_arrays import OrbitTables
from statewalk.checker.native.states import Partition, Shape
from statewalk.checker.native.workers import Worker

_BLOCK = 1 << 12  # elements
_LONGEST = 16  # versions until a new base is sent
_WITHOUT_ORBITS = len(Tries._fields) + len(Outcomes._fields)

# A change: per array (its number, shape, type, [(start, elements)]).
Change = list[tuple[int, tuple[int, ...], str, list[tuple[int, Array]]]]


class Learned(NamedTuple):
    """The tables that tasks replay; ``orbits`` where those are searched."""

    tries: Tries
    outcomes: Outcomes
    orbits: OrbitTables | None = None


@dataclass(frozen=True)
class Version:
    """The address of a version: its number, the first one needed, and where each one is."""

    token: str
    first: int
    places: tuple[Any, ...]

    @property
    def number(self) -> int:
        """The version these places lead to."""
        return self.first + len(self.places) - 1


@dataclass
class Feed:
    """The driver's side. ``send`` takes bytes to where executors find them, ``drop`` away again."""

    token: str
    send: Callable[[bytes], Any]
    drop: Callable[[Any], None]
    version: Version = field(init=False)
    sent: int = 0
    _known: list[Array] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin with nothing sent."""
        self.version = Version(self.token, 0, ())

    def update(self, found: Learned) -> Version:
        """Send what changed, if anything did."""
        arrays = [*found.tries, *found.outcomes, *(found.orbits or ())]
        rebase = len(self._sizes) >= _LONGEST or sum(self._sizes[1:]) > sum(self._sizes[:1])
        if rebase and self._changes(arrays):
            for place in self.version.places:
                self.drop(place)
            self.version = Version(self.token, self.version.number + 1, ())
            self._known, self._sizes = [], []
        changes = self._changes(arrays)
        if changes:
            data = _written(changes)
            places = (*self.version.places, self.send(data))
            self.version = Version(self.token, self.version.first, places)
            self._sizes.append(len(data))
            self.sent += len(data)
            self._known = [array.copy() for array in arrays]
        return self.version

    def close(self) -> None:
        """Take away what was sent."""
        for place in self.version.places:
            self.drop(place)
        self.version = Version(self.token, self.version.number + 1, ())
        self._known, self._sizes = [], []

    def _changes(self, arrays: Sequence[Array]) -> Change:
        result: Change = []
        for number, array in enumerate(arrays):
            known = self._known[number] if self._known else np.zeros(0, array.dtype)
            blocks = _blocks(known.reshape(-1), array.reshape(-1))
            if not self._known or blocks or known.shape != array.shape:
                result.append((number, array.shape, array.dtype.str, blocks))
        return result


def _written(changes: Change) -> bytes:
    """Return changes as an archive: of array n ``n`` its shape, ``n@`` its type, ``n@start``
    elements.
    """
    arrays: dict[str, Any] = {}
    for number, shape, dtype, blocks in changes:
        arrays[f"{number}"] = np.array(shape, np.int64)
        arrays[f"{number}@"] = np.zeros(0, dtype)
        arrays.update((f"{number}@{start}", elements) for start, elements in blocks)
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _blocks(old: Array, new: Array) -> list[tuple[int, Array]]:
    """Stretches of an array that are not in the old one, as (start, elements)."""
    both = min(len(old), len(new))
    differs = old[:both] != new[:both]
    full = both // _BLOCK * _BLOCK
    changed = np.flatnonzero(differs[:full].reshape(-1, _BLOCK).any(1)).tolist() if full else []
    found = [(b * _BLOCK, new[b * _BLOCK : (b + 1) * _BLOCK]) for b in changed]
    if differs[full:].any() or len(new) > both:
        found.append((full, new[full:]))
    return found


# -- on executors --------------------------------------------------------------------------------

_newest: dict[str, tuple[int, list[Array]]] = {}


def learned(version: Version, load: Callable[[Any], bytes]) -> Learned:
    """Return the arrays of a version, from the newest one this process has where possible."""
    number, arrays = _newest.get(version.token, (-1, []))
    if not version.first <= number <= version.number:
        number, arrays = version.first - 1, []
    for place in version.places[number + 1 - version.first :]:
        arrays = _applied(arrays, _read(load(place)))
    _newest.clear()
    _newest[version.token] = (version.number, arrays)
    outcomes = arrays[len(Tries._fields) : _WITHOUT_ORBITS]
    orbits = OrbitTables(*arrays[_WITHOUT_ORBITS:]) if len(arrays) > _WITHOUT_ORBITS else None
    return Learned(Tries(*arrays[: len(Tries._fields)]), Outcomes(*outcomes), orbits)


def _read(data: bytes) -> Change:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        blocks: dict[str, list[tuple[int, Array]]] = {}
        for name in file.files:
            number, _, start = name.partition("@")
            if start:
                blocks.setdefault(number, []).append((int(start), file[name]))
        return [
            (int(n), tuple(file[n].tolist()), file[f"{n}@"].dtype.str, blocks.get(n, []))
            for n in file.files
            if "@" not in n
        ]


def _applied(arrays: list[Array], changes: Change) -> list[Array]:
    result = list(arrays) or [np.zeros(0)] * (1 + max(number for number, *_ in changes))
    for number, shape, dtype, blocks in changes:
        old = result[number].reshape(-1)
        new = np.zeros(int(np.prod(shape)), dtype)
        both = min(len(old), len(new))
        new[:both] = old[:both]
        for start, elements in blocks:
            new[start : start + len(elements)] = elements
        result[number] = new.reshape(shape)
    return result


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
        """Return what it takes."""
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
