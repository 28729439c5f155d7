"""Levels that are files, as the driver sees them: columns read by position, not loaded."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property

from statewalk.checker.native.kernels.arrays import Array
from statewalk.checker.spark.tasks.files import Part, opened


@dataclass(frozen=True)
class FileLevel:
    """A level in files, in the order of fingerprints."""

    folder: str
    parts: tuple[Part, ...]

    @cached_property
    def n(self) -> int:
        """Number of states."""
        return sum(part.n for part in self.parts)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The position of each part's first state."""
        found, at = [], 0
        for part in self.parts:
            found.append(at)
            at += part.n
        return tuple(found)

    def column(self, which: str) -> FileColumn:
        """A column by position: ``fp`` or ``link``."""
        return FileColumn(self, which)


@dataclass
class FileColumn:
    """One column of a level: like an array, as far as single positions are asked for."""

    level: FileLevel
    which: str
    nbytes: int = 0
    _open: dict[int, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.level.n

    def __getitem__(self, position: int) -> int:
        number = bisect_right(self.level.starts, position) - 1
        if number not in self._open:
            part = self.level.parts[number]
            self._open[number] = opened(self.level.folder, part.ids)[self.which]
        return int(self._open[number][position - self.level.starts[number]])
