"""Files of a search: columns side by side, written whole or not at all, with a check sum.

A file is a line of JSON that says what is in it, padded, then the columns, each at a multiple of 64
bytes. Columns are mapped, not loaded; what is written to a mapped column stays in memory.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from statewalk.checker.disk.runs import look_at
from statewalk.checker.native.kernels.arrays import Array
from statewalk.checker.native.manifests import Damaged, why_unread
from statewalk.dsl import files

_ALIGNED = 64


@dataclass(frozen=True)
class Stored:
    """A file that was written: its name, its size in bytes, and its CRC-32."""

    name: str
    size: int
    check: int


@dataclass(frozen=True)
class Part:
    """Consecutive states of a level, in the order of their fingerprints, as files.

    They are those of the buckets from ``first`` to ``end``. ``ids`` holds fingerprints and links
    (a run of visited states only fingerprints), ``rows`` what is needed to expand them.
    """

    first: int
    end: int
    n: int
    ids: Stored
    rows: Stored | None = None


# -- one file ------------------------------------------------------------------------------------


def write(folder: str, name: str, columns: Mapping[str, Array], durable: bool = True) -> Stored:
    """Write columns under a temporary name, then rename. Only what is durable has a check sum."""
    about, arrays, at = [], [], 0
    for column, array in columns.items():
        plain = np.ascontiguousarray(array)
        about.append([column, plain.dtype.str, plain.shape, at])
        arrays.append(plain)
        at += _padded(plain.nbytes)
    line = json.dumps(about).encode()
    head = line.ljust(_padded(len(line) + 1) - 1) + b"\n"
    part = Path(folder, f".{name}.{os.uname().nodename}.{os.getpid()}")
    check = 0
    part.unlink(missing_ok=True)  # what is a link there is not written through
    with open(part, "xb") as file:
        for plain in (np.frombuffer(head, np.uint8), *arrays):
            data = plain.reshape(-1).view(np.uint8).data if plain.size else b""
            for piece in (data, bytes(_padded(plain.nbytes) - plain.nbytes)):
                if durable:
                    check = zlib.crc32(piece, check)
                file.write(piece)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    os.replace(part, Path(folder, name))
    return Stored(name, len(head) + at, check)


def read(folder: str, name: str, size: int | None = None) -> dict[str, Array]:
    """Return the columns of a file. Raises `Damaged` where it is missing or has another size."""
    path = Path(folder, name)
    try:
        with files.opened(path) as file:
            found = os.fstat(file.fileno()).st_size
            if size is not None and found != size:
                raise Damaged(f"{path} has {found} bytes instead of {size}")
            line = file.readline()
            about = json.loads(line)
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except (OSError, ValueError) as error:
        raise Damaged(f"{path} {why_unread(error)}") from None
    columns: dict[str, Array] = {}
    for column, dtype, shape, at in about:
        count = int(np.prod(shape))
        flat = np.frombuffer(data, dtype, count, len(line) + at) if count else np.zeros(0, dtype)
        columns[column] = flat.reshape(shape)
    return columns


def opened(folder: str, stored: Stored) -> dict[str, Array]:
    """Return the columns of a file whose size is known."""
    return read(folder, stored.name, stored.size)


def verified(folder: str, stored: Stored) -> dict[str, Array]:
    """Return the columns of a file, looked at byte by byte. Raises `Damaged`."""
    found = opened(folder, stored)  # which compares its size
    look_at(Path(folder, stored.name), stored.size, stored.check)
    return found


def damages(folder: str, files: Iterable[Stored]) -> Iterator[str]:
    """Yield what is wrong with files, in words."""
    for stored in files:
        try:
            verified(folder, stored)
        except Damaged as damage:
            yield str(damage)


def _padded(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED
