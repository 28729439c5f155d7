"""Files of others: only regular ones are opened, so that nobody waits for a pipe or a device; JSON
that says a field twice has two meanings, so it has none.
"""

from __future__ import annotations

import errno
import json
import locale
import os
import stat
import sys
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path
from typing import Any

MOST = 1 << 30  # bytes that are read whole
_PART = 1 << 20
MOST_OF_A_TEXT = 1 << 24  # bytes of a spec, which somebody wrote
_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe opens only so


def python_settings() -> dict[str, str]:
    """Return settings of this Python with which a text or a file may mean something else."""
    found = {}
    if sys.flags.optimize:  # modules outside the spec's folders are compiled without assertions
        found["python -O"] = str(sys.flags.optimize)
    encoding = locale.getpreferredencoding(do_setlocale=False).lower()
    if encoding not in ("utf-8", "utf8"):  # of files that are opened as text
        found["encoding of files"] = encoding
    return found


def opened(path: str | Path, most: int | None = None) -> BufferedReader:
    """Open a regular file of at most ``most`` bytes for reading. Raises OSError."""
    try:
        handle = os.open(file_name(os.fspath(path)), os.O_RDONLY | _AT_ONCE)
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error), str(path)) from None
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    if most is not None and about.st_size > most:
        os.close(handle)
        raise _too_large(path, most)
    return os.fdopen(handle, "rb")


def _too_large(path: str | Path, most: int) -> OSError:
    size = f"{most >> 30} GB" if most >= 1 << 30 else f"{most >> 20} MB"
    return OSError(errno.EFBIG, f"it is larger than {size}", str(path))


def is_own_file(path: Path) -> bool:
    """Return whether a path is a regular file without another name: no link, nor a pipe."""
    try:
        about = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(about.st_mode) and about.st_nlink == 1


def absolute(path: str | Path) -> str:
    """Return the absolute path of a file, see `shortest`. Raises OSError, ValueError."""
    return shortest(os.path.join(os.getcwd(), path))


def shortest(path: str | Path) -> str:
    """Return the shortest form of a path that leads to the same file: what ``..`` means after a
    link, the system knows.
    """
    place = os.fspath(path)
    short = os.path.normpath(place)
    same = ".." not in place or os.path.realpath(short) == os.path.realpath(place)
    return short if same else place


def file_name(text: str) -> str:
    """Return a text that can name a file. Raises ValueError, for line breaks too."""
    if "\n" in text:
        raise ValueError("its name has a line break")
    try:
        os.fsencode(text)
    except ValueError:  # half a character
        text = "\0"
    if "\0" in text:
        raise ValueError("no file can have this name")
    return text


def read_bytes(path: str | Path, most: int = MOST) -> bytes:
    """Return what a file of at most so many bytes holds. Raises OSError."""
    parts, size = list[bytes](), 0
    with opened(path, most) as file:
        while part := file.read(_PART):  # room for all of `most` is made where it is asked for
            parts.append(part)
            size += len(part)
            if size > most:  # it grows, or the system does not know its size
                raise _too_large(path, most)
    return b"".join(parts)


def read_text(path: str | Path, *, errors: str = "strict", most: int = MOST) -> str:
    """Return the text of a file of at most so many bytes; some editors write a mark at the
    start. Line ends are all one.

    Raises:  OSError, UnicodeDecodeError
    """
    return as_text(read_bytes(path, most), errors)


def as_text(data: bytes, errors: str = "strict") -> str:
    """Return the text of a file as `read_text` does. Raises UnicodeDecodeError."""
    text = data.decode("utf-8-sig", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


class SaidTwice(ValueError):
    """A JSON object with two fields of one name."""


def decoded(
    text: str | bytes,
    fraction: Callable[[str], float] = float,
    constant: Callable[[str], float] = float,
) -> Any:
    """Return what a JSON text says. Raises `SaidTwice`, ValueError, RecursionError."""
    return json.loads(text, object_pairs_hook=_once, parse_float=fraction, parse_constant=constant)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise SaidTwice(f"field {name!r:.60} is there twice")
        found[name] = value
    return found
