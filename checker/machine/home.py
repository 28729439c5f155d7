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
