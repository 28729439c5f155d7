"""Ending a search from outside: Ctrl-C, and memory where the engine does not watch it itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from statewalk.checker.machine import signals
from statewalk.checker.machine.places import Place, place_of_error
from statewalk.checker.machine.streams import let_go_of_the_terminal
from statewalk.checker.machine.watch import CutShort, Watchdog, memory_in_use
from statewalk.dsl.source.modules import FILES


class Interruptions:
    """While entered, the first Ctrl-C (or SIGTERM, or the end of the terminal) asks the search to
    end, and soon after whatever the spec is running; the second ends the program. What comes twice
    at once, from a terminal and from who passes it on, counts once.

    Called, it says whether the search should end.
    """

    def __init__(self) -> None:
        self.asked = False
        self._at = 0.0
        self._saved: dict[int, Any] = {}

    def __call__(self) -> bool:
        return self.asked

    def __enter__(self) -> Interruptions:
        if threading.current_thread() is threading.main_thread():
            self._saved = signals.handle(self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        signals.restore(self._saved)
        self._saved = {}

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if number == signals.HANG_UP:
            let_go_of_the_terminal()
        elif self.asked and time.monotonic() - self._at > signals.ONCE:
            raise KeyboardInterrupt
        if not self.asked:
            self.asked, self._at = True, time.monotonic()
        if Watchdog.active is not None:
            Watchdog.active.end("interrupt")


@contextmanager
def within(
    spec: str, doing: str, timeout: float | None = None, memory: int | None = None
) -> Iterator[None]:
    """While entered, what is done with a spec ends at a limit and when somebody asks for it.

    Raises:  CutShort
    """
    FILES.add(spec)
    with Watchdog(timeout, memory, doing) as watch:
        try:
            yield
        except Exception as error:
            cut = watch.cut
            if cut is None and watch.reason == "interrupt":
                cut = CutShort("interrupt", place_of_error(error) or Place(doing, "", 0))
            if cut is None:
                raise
            raise cut from error  # what was interrupted may say so in a way of its own


class MemoryGuard:
    """Says whether to end: when somebody else says so, or when resident memory passes a limit."""

    def __init__(self, limit: int, other: Callable[[], bool]) -> None:
        self.limit = limit
        self.other = other
        self.passed = False

    def __call__(self) -> bool:
        self.passed = self.passed or memory_in_use() > self.limit
        return self.passed or self.other()
