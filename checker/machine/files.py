"""Writing files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from statewalk.checker.machine.home import go_home, mask_of_files
from statewalk.dsl.errors import RunError
from statewalk.dsl.source.modules import FILES

OUT = "Give another place with --out."


def write_text(file: Path, text: str, help: str = OUT, *, named: bool = False) -> None:
    """Write a file beside its place, then move it there: no reader ever sees half of it, and what
    a link there leads to stays as it is.

    Only a pipe or device that the user has ``named`` is written to directly. Half a character,
    which UTF-8 cannot say, is written as in JSON.

    Raises:  RunError[SW403] where that fails; nothing is left behind then.
    """
    go_home()
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


def _replace(file: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o666 & ~mask_of_files())
        os.replace(name, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
