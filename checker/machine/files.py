"""Writing files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from statewalk.dsl.errors import RunError
from statewalk.dsl.source.modules import FILES

OUT = "Give another place with --out."
_MASK = os.umask(0o022)  # of new files: there is no way to read it but to set it
os.umask(_MASK)


def write_text(file: Path, text: str, help: str = OUT, *, named: bool = False) -> None:
    """Write a file beside its place, then move it there: no reader ever sees half of it, and what
    a link there leads to stays as it is.

    Only a pipe or device that the user has ``named`` is written to directly. Half a character,
    which UTF-8 cannot say, is written as in JSON.

    Raises:  RunError[SW403] where that fails; nothing is left behind then.
    """
    if named and os.path.realpath(file) in map(os.path.realpath, FILES):
        raise RunError("SW403", f"{file} cannot be written: the spec is loaded from it.", help=help)
    try:
        if named and file.exists() and not file.is_file():
            file.write_text(text, encoding="utf-8", errors="backslashreplace")
            return
        _replace(file, text)
    except OSError as error:
        raise RunError(
            "SW403",
            f"{file} cannot be written: {error.strerror or error}.",
            help=help,
        ) from error


@contextmanager
def written_bit_by_bit(file: Path, help: str = OUT) -> Iterator[IO[str]]:
    """A stream into what becomes the file when all is written; nothing does where that is broken
    off.

    Raises:  RunError[SW403] where it cannot be written
    """
    try:
        with _replacing(file) as stream:
            yield stream
    except OSError as error:
        raise RunError(
            "SW403", f"{file} cannot be written: {error.strerror or error}.", help=help
        ) from error


def _replace(file: Path, text: str) -> None:
    with _replacing(file) as stream:
        stream.write(text)


@contextmanager
def _replacing(file: Path) -> Iterator[IO[str]]:
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o666 & ~_MASK)
        os.replace(name, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
