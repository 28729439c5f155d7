"""Files of others: only regular ones are opened, so that nobody waits for a pipe or a device."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe opens only so


def opened(path: str | Path) -> BufferedReader:
    """A file, to be read. Raises OSError, for what is no regular file and what none can be called
    as well.
    """
    try:
        handle = os.open(path, os.O_RDONLY | _AT_ONCE)
    except ValueError:
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return os.fdopen(handle, "rb")


def file_name(text: str) -> str:
    """A text as the name of a file. Raises ValueError for what no file can be called."""
    if "\0" in text:
        raise ValueError("no file can have this name")
    os.fsencode(text)
    return text


def read_bytes(path: str | Path) -> bytes:
    """What a file holds. Raises OSError."""
    with opened(path) as file:
        return file.read()


def read_text(path: str | Path, *, errors: str = "strict") -> str:
    """The text of a file; some editors write a mark at the start. Line ends are all one.

    Raises:  OSError, UnicodeDecodeError
    """
    text = read_bytes(path).decode("utf-8-sig", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")
