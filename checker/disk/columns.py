"""Columns: numbers in files of their own, written at the end and read anywhere.

Nothing is mapped: what is read is in memory that counts, and for as long as it is used.
"""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np

from statewalk.checker.contract.saved import COLUMN
from statewalk.checker.native.kernels.arrays import Array
from statewalk.checker.native.manifests import Damaged, damaged, why_unread
from statewalk.dsl.files import opened

_PIECE = 1 << 22  # bytes that are looked at together
_MOST = 1 << 48  # numbers in a file
SavedColumn = tuple[str, str, int | None, int, int]
"""A file's name, the type and width of its numbers, how many there are, and their CRC-32."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


@dataclass
class Column:
    """``n`` numbers of one type, or rows of ``width`` of them; like an array as far as single
    positions are asked for. Only what is ``durable`` has a CRC-32.
    """

    path: Path
    dtype: Any
    width: int | None = None
    durable: bool = False
    n: int = 0
    check: int = 0
    nbytes: int = 0  # held in memory

    def __post_init__(self) -> None:
        """Know the type as numpy does."""
        self.dtype = np.dtype(self.dtype)

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, position: int) -> int:
        try:
            return int(self.read(position, position + 1)[0])
        except Damaged as damage:
            raise damaged([str(damage)]) from None

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return self.n * self._each

    @property
    def _each(self) -> int:
        return int(self.dtype.itemsize) * (1 if self.width is None else self.width)

    def append(self, numbers: Array) -> None:
        """Write more at the end. Raises OSError."""
        if numbers.dtype != self.dtype or (self.width or 1) != numbers[:1].size != 0:
            raise TypeError(f"{self.path} cannot hold {numbers.shape} of {numbers.dtype}")
        data = np.ascontiguousarray(numbers, self.dtype).reshape(-1).view(np.uint8).data
        if not self.size:
            self.path.unlink(missing_ok=True)  # what is a link there is not written through
        how = 0 if self.size else os.O_CREAT | os.O_EXCL
        with FileIO(os.open(self.path, os.O_WRONLY | _NO_LINK | how, 0o666), "w") as file:
            file.seek(self.size)  # what lies behind was never saved
            if self.durable:
                self.check = zlib.crc32(data, self.check)
            while len(data):
                data = data[file.write(data) :]
        self.n += len(numbers)

    def sync(self) -> None:
        """Have everything on the disk. Raises OSError."""
        if self.size:
            with opened(self.path) as file:
                os.fsync(file.fileno())

    def read(self, first: int, end: int) -> Array:
        """Some of the numbers. Raises `Damaged`."""
        found = np.empty(
            end - first if self.width is None else (end - first, self.width), self.dtype
        )
        rest = found.reshape(-1).view(np.uint8).data if found.size else memoryview(b"")
        if not len(rest):
            return found
        try:
            with opened(self.path) as file:
                file.seek(first * self._each)
                while len(rest):
                    got = file.readinto(rest)
                    if not got:
                        raise Damaged(f"{self.path} is shorter than {self.size} bytes")
                    rest = rest[got:]
        except OSError as error:
            raise Damaged(f"{self.path} {why_unread(error)}") from None
        return found

    def remove(self) -> None:
        """Take the file away."""
        with suppress(OSError):  # one more file does no harm
            self.path.unlink()

    # -- saved and found again ---------------------------------------------------------------------

    def saved(self) -> SavedColumn:
        """What is to know of the file."""
        return self.path.name, self.dtype.str, self.width, self.n, self.check


def found(folder: Path, about: SavedColumn, types: tuple[str, ...]) -> Column:
    """A column that was saved, not looked at. Raises ValueError for what is none of such types."""
    name, dtype, width, n, check = about
    numbers = all(0 <= number < _MOST for number in (n, check, width or 0))
    if name != Path(name).name or not name.endswith(COLUMN) or dtype not in types or not numbers:
        raise ValueError(f"{name} is no column")
    return Column(folder / name, dtype, width, True, n, check)


def look_at(column: Column) -> None:
    """Read a column byte by byte. Raises `Damaged`."""
    path, left, check = column.path, column.size, 0
    if not left:
        return
    try:
        with opened(path) as file:
            there = os.fstat(file.fileno()).st_size
            while left and (piece := file.read(min(left, _PIECE))):
                check, left = zlib.crc32(piece, check), left - len(piece)
    except OSError as error:
        raise Damaged(f"{path} {why_unread(error)}") from None
    if left:
        raise Damaged(f"{path} has {there} bytes instead of {column.size}")
    if check != column.check:
        raise Damaged(f"{path} does not hold what was written to it")
