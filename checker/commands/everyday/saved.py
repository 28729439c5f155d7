"""A watch for saved files, by polling."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from statewalk.dsl.files import absolute
from statewalk.dsl.origins import outdated

Facts = tuple[int, int, int, int]  # when it was changed, or renamed; written; size; number

_OTHER = (0, 0, 0, 0)  # no file has these facts
_LOOK = 0.1  # seconds between two looks whether whoever saves is done,
_LOOKS = 10  # and how many there are at most
_COARSE = 50_000_000  # nanoseconds by which the clock of files may be behind; less than a look


class Files:
    """Files that are told apart from what they were: ``which`` are to be looked at, each time.

    One that nobody looked at before is new, but in `learn`, where one that was not written or
    renamed since belongs to them only now.
    """

    def __init__(self, which: Callable[[], Iterable[str]]) -> None:
        self.which = which
        self.outdated: dict[str, str] = {}  # file → its digest when it was another than it is
        self.known: dict[str, Facts | None] = {}
        self._know(self._all())

    def learn(self, made: Iterable[Mapping[str, str]] = ()) -> None:
        """Look from now on also at files that belong to them only now, unless they are new.

        ``made`` are origins of what was done with them: a file of another digest is new as well,
        but not twice in a row, since some files differ each time they are read.
        """
        now = self._all()
        kept = {file: facts for file, facts in self.known.items() if file in now}
        for file, found in now.items():
            if file in self.known or found is None or found[0] <= self.since:
                kept.setdefault(file, found)
        self.known = kept
        before, self.outdated = self.outdated, {}
        for origins in made:
            for file in outdated(origins):
                self.outdated[file] = origins[file]
                if before.get(file) != origins[file]:
                    self.known[absolute(file)] = _OTHER

    def saved(self) -> list[str]:
        """Return the files that are not as they were; also those that are there now, or no more."""
        return sorted(f for f, found in self._all().items() if self._differs(f, found))

    def settled(self) -> list[str]:
        """Return the same, once nobody writes them any more; from then on, they are known so.

        An editor may remove a file before it puts another in its place.
        """
        before, found = self._all(), self.saved()
        for _ in range(_LOOKS):
            time.sleep(_LOOK)
            now = self._all()
            if now == before and all(now[f] or not self.known.get(f) for f in now):
                break
            before = now
        found = sorted({*found, *self.saved()})
        self._know(before)
        return found

    def _know(self, files: dict[str, Facts | None]) -> None:
        self.known, self.since = files, time.time_ns() - _COARSE

    def _differs(self, file: str, found: Facts | None) -> bool:
        if file in self.known:
            return found != self.known[file]
        return found is not None

    def _all(self) -> dict[str, Facts | None]:
        """Return facts of those that are to be looked at; also of those that were, and are gone."""
        found = {file: _facts(file) for file in self.which()}
        return found | {f: None for f in self.known if f not in found and not _facts(f)}


def _facts(file: str) -> Facts | None:
    """Return what differs once a file was saved; None where there is none."""
    with suppress(OSError, ValueError):
        found = os.stat(file)
        return found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino
    return None
