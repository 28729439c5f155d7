"""Levels that are files: columns across buckets, read by position without loading them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from checker.spark.tasks import column


@dataclass(frozen=True)
class FileColumn:
    """One column of a level: like an array, as far as single positions are asked for."""

    folder: str
    names: tuple[str, ...]
    offsets: tuple[int, ...]
    size: int
    which: str
    nbytes: int = 0

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, position: int) -> int:
        bucket = bisect_right(self.offsets, position) - 1
        while not self.names[bucket]:
            bucket -= 1
        return int(
            column(self.folder, self.names[bucket], self.which)[position - self.offsets[bucket]]
        )


@dataclass(frozen=True)
class FileLevel:
    """A level in files: the name of each bucket's file set, empty where it has no states."""

    folder: str
    names: tuple[str, ...]
    sizes: tuple[int, ...]

    @property
    def offsets(self) -> tuple[int, ...]:
        """Where each bucket's positions start."""
        found, at = [], 0
        for size in self.sizes:
            found.append(at)
            at += size
        return tuple(found)

    @property
    def n(self) -> int:
        """Number of states."""
        return sum(self.sizes)

    def column(self, which: str) -> FileColumn:
        """A column by position."""
        return FileColumn(self.folder, self.names, self.offsets, self.n, which)
