"""Where and how a command writes: in the folder and with the mask that it was started with.

A spec may change both at any time. So whoever is about to write goes back first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_start: tuple[str, int] | None = None


@contextmanager
def command() -> Iterator[None]:
    """While entered, `go_home` leads to where this began."""
    global _start  # noqa: PLW0603 (one per process)
    mask = mask_of_files()
    folder = ""
    with suppress(OSError):  # it may have been removed
        folder = os.getcwd()
    before, _start = _start, (folder, mask)
    try:
        yield
    finally:
        _start = before


def is_gone() -> bool:
    """Whether the current folder was removed."""
    try:
        os.getcwd()
    except OSError:
        return True
    return False


@contextmanager
def somewhere() -> Iterator[None]:
    """While entered, there is a current folder: others ask for its name, and cannot bear none."""
    if not is_gone():
        yield
        return
    handle = os.open(".", os.O_RDONLY)
    os.chdir(os.sep)
    try:
        yield
    finally:
        os.fchdir(handle)
        os.close(handle)


def mask_of_files() -> int:
    """The mask of new files; there is no way to read it but to set it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def go_home() -> None:
    """Undo what a spec did to the current folder and the mask of new files."""
    if _start is not None:
        folder, mask = _start
        os.umask(mask)
        if folder:
            with suppress(OSError):
                os.chdir(folder)
