"""Which files were saved since they were looked at last; by looking at them now and then."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

Stamp = tuple[int, int, int]

_LOOK = 0.1  # seconds between two looks whether whoever saves is done,
_LOOKS = 10  # and how many there are at most


class Files:
    """Files that are told apart from what they were: ``which`` are to be looked at, each time."""

    def __init__(self, which: Callable[[], Iterable[str]]) -> None:
        self.which = which
        self.known = self._stamps()

    def keep_up(self) -> None:
        """Look at the files that are to be looked at by now; those that are new, as they are."""
        self.known = {f: self.known.get(f, stamp) for f, stamp in self._stamps().items()}

    def saved(self) -> list[str]:
        """The files that are not as they were; also those that are there now, or no more."""
        now = self._stamps()
        return sorted(f for f in now if now[f] != self.known.get(f))

    def settled(self) -> list[str]:
        """The same, once nobody writes them any more; from then on, they are known so.

        An editor may remove a file before it puts another in its place.
        """
        before, found = self._stamps(), self.saved()
        for _ in range(_LOOKS):
            time.sleep(_LOOK)
            now = self._stamps()
            if now == before and None not in now.values():
                break
            before = now
        found = sorted({*found, *self.saved()})
        self.known = before
        return found

    def _stamps(self) -> dict[str, Stamp | None]:
        return {file: _stamp(file) for file in self.which()}


def _stamp(file: str) -> Stamp | None:
    """What differs once a file was saved; None where there is none."""
    with suppress(OSError, ValueError):
        found = os.stat(file)
        return found.st_mtime_ns, found.st_size, found.st_ino
    return None
