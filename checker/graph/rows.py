"""States set aside in a file, as rows of value ids, until the search is over.

What type a column needs is known only when every value has been met. Until then states are kept as
the search has them, two or four bytes per slot; they are read back in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Ints = NDArray[np.int32]
CHUNK = 1 << 17


class States(NamedTuple):
    """Some states of one level. At level 0 ``parent`` means nothing and ``action`` is -1."""

    depth: int
    values: NDArray[Any]  # (n, slots) value ids
    fp: Words  # (n,)
    parent: Words  # (n,)
    action: Ints  # (n,) action index


@dataclass
class Aside:
    """A file of states, written in one go and read in another."""

    file: Path
    parts: list[tuple[int, int, int, Any, int]] = field(default_factory=list)
    """(depth, states, slots, type of ids, where in the file) of each part"""
    stream: IO[bytes] | None = None

    def add(self, states: States) -> None:
        """Set states of one level aside."""
        if self.stream is None:
            self.stream = open(self.file, "w+b")  # noqa: SIM115 (closed by `close`)
        n, width = states.values.shape
        at = self.stream.tell()
        self.parts.append((states.depth, n, width, states.values.dtype, at))
        for array in states[1:]:
            self.stream.write(np.ascontiguousarray(array).data)

    def read(self, slots: int) -> Iterator[States]:
        """The states again, in parts of at most `CHUNK`, their rows widened to ``slots``."""
        for depth, n, width, kind, at in self.parts:
            offset = at
            arrays: list[NDArray[Any]] = []
            shapes = [((n, width), kind), ((n,), np.uint64), ((n,), np.uint64), ((n,), np.int32)]
            for shape, dtype in shapes:
                assert self.stream is not None
                array = np.memmap(self.stream, dtype, "r", offset, shape)
                arrays.append(array)
                offset += array.nbytes
            for first in range(0, n, CHUNK):
                part = slice(first, min(n, first + CHUNK))
                values = np.zeros((part.stop - part.start, slots), kind)
                values[:, :width] = arrays[0][part]
                yield States(depth, values, *(np.array(a[part]) for a in arrays[1:]))

    def close(self) -> None:
        """Close the file and remove it."""
        if self.stream is not None:
            self.stream.close()
        self.file.unlink(missing_ok=True)
