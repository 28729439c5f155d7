"""Ending a step that does not end: a limit is raised as an exception in the spec's own code.

A search asks between steps whether it should end. What goes on inside one step (or property, or
while the spec is loaded) nobody asks; a timer looks at it instead, and only then ends it.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from statewalk.checker.machine import able, supervisor
from statewalk.checker.machine.places import OURS, Limit, Place, place_of
from statewalk.dsl.source.modules import FILES

# A handler of signals imports nothing: it may have come in the middle of an import, and Python's
# locks of modules do not bear that.
with suppress(ImportError):  # not everywhere
    import resource

_TIMER = signal.SIGALRM if able.TIMERS else None
_GRACE = 0.4  # seconds that one call of the spec may go on past a limit
_LATEST = 1.0  # seconds that a search may go on past a limit in one call of the spec after another
_ROUGH = 0.5  # past that, our own code is not spared if the spec called it
_LOOK = 0.05
_AT_ONCE = 1e-6
# Calls in calls: Python allows 1000, and up to ten are ours for one of the spec's.
_DEEPEST = 10000
# What the compiler calls from C, where an exception is written to standard error and forgotten.
_FROM_C = frozenset({"_raw_object_cache_notify", "_raw_object_cache_getbuffer"})
_IMPORTING = "<frozen importlib."  # beginning of the name of the files that import


class CutShort(BaseException):
    """Raised inside the spec's code where a limit is passed. No `Exception`: a spec cannot catch
    it.
    """

    def __init__(self, reason: Limit, place: Place) -> None:
        super().__init__(f"{reason}: {place}")
        self.reason: Limit = reason
        self.place = place


def _up(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _told(frame: FrameType) -> tuple[str, int, str]:
    return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def memory_in_use() -> int:
    """Resident memory of this process in bytes; the most there ever was where that is all one can
    know.
    """
    if found := supervisor.memory_of("self"):
        return found
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class Watchdog:
    """While entered, what the spec runs is ended soon after a limit: `CutShort` is raised in it.

    A call that begins after the limit has the same grace, all of a search's together `_LATEST`.
    ``doing`` is what our own code does meanwhile, where that may be ended as well.
    Works in the main thread, where there are timers.
    """

    active: Watchdog | None = None

    def __init__(
        self, timeout: float | None = None, memory: int | None = None, doing: str = ""
    ) -> None:
        self.deadline = None if timeout is None else time.monotonic() + timeout
        self.memory = memory
        self.doing = doing
        self.searching = True
        self.reason: Limit | None = None
        self.cut: CutShort | None = None  # what was raised last
        self._call: object = None  # of the spec, as the last look found it, or this for our own
        self._called = self._inside = 0.0
        self._ended: object = None  # the call that something was raised in last
        self._saved: Any = None
        self._left = (0.0, 0.0)  # of the caller's timer, and its interval
        self._entered = 0.0
        self._outer: Watchdog | None = None
        self.behind: list[str] = []  # what other threads do meanwhile that may be ended
        self._able = False
        self._depth = 0  # of calls, that Python allowed before

    def __enter__(self) -> Watchdog:
        self._depth = sys.getrecursionlimit()
        sys.setrecursionlimit(max(self._depth, _DEEPEST))
        if _TIMER is not None and _is_main():
            self._entered = time.monotonic()
            self._left = signal.setitimer(signal.ITIMER_REAL, 0)
            self._saved = signal.signal(_TIMER, self._look)
            self._able = True
            self._outer, Watchdog.active = Watchdog.active, self
            self._wait()
        self.tell()
        return self

    def tell(self) -> None:
        """Note what ends what is run now."""
        supervisor.note(
            deadline=self.deadline, memory=self.memory, doing=self.doing, files=sorted(FILES)
        )

    def __exit__(self, *_: object) -> None:
        self._call = self._ended = None
        with suppress(RecursionError):  # where Python is deeper than that
            sys.setrecursionlimit(self._depth)
        if not self._able or _TIMER is None:
            return
        # A look may be due at any point of this: from here on it neither raises nor waits again.
        self._able = False
        Watchdog.active = self._outer
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(_TIMER, self._saved)
        if self._outer is not None:
            self._outer._wait()
            self._outer.tell()
        else:
            self._put_back()
            supervisor.note(deadline=None, memory=None, doing="")

    def _put_back(self) -> None:
        """Set the caller's timer to what is left of it; one that ran out meanwhile comes now."""
        left, interval = self._left
        if left:
            left -= time.monotonic() - self._entered
            signal.setitimer(signal.ITIMER_REAL, max(left, _AT_ONCE), interval)

    def end(self, reason: Limit) -> None:
        """A limit is passed now."""
        if self.reason is None:
            self.reason = reason
            self._wait()

    def concluding(self) -> None:
        """The search is over; what is still to be run ends by itself unless one call hangs."""
        self.searching = False

    def _wait(self) -> None:
        delay = 0.0
        if self.reason is not None:
            delay = _LOOK
        elif self.memory is not None:
            delay = 2 * _LOOK
        elif self.deadline is not None:
            delay = max(self.deadline - time.monotonic(), 0.001)
        if _TIMER is not None:
            signal.setitimer(signal.ITIMER_REAL, delay if self._able else 0)

    def _look(self, number: int, frame: FrameType | None) -> None:
        if not self._able:
            return
        now = time.monotonic()
        if self.deadline is not None and now >= self.deadline:
            self.end("time")
        elif self.memory is not None and memory_in_use() > self.memory:
            self.end("memory")
        self._wait()
        if self.reason is None or self._end_call(self.reason, frame, now):
            supervisor.beat()

    def _end_call(self, reason: Limit, frame: FrameType | None, now: float) -> bool:
        """Raise in the spec's code, or in ours, if it has run for long enough. False where that
        would not help, so that whoever waits for this process has to end it.
        """
        spec, gentle, importing = _running(frame)
        elsewhere = not spec and not self.doing and bool(self.behind)
        call: object = spec or (self if self.doing or elsewhere else None)
        if self._call is None:
            self._inside = now
        if call is not self._call:
            self._call, self._called = call, now
        over = now - self._called - (0.0 if reason == "memory" else _GRACE)
        if self.searching:
            over = max(over, now - self._inside - _LATEST)
        if call is None or over < (0.0 if gentle and not (importing or elsewhere) else _ROUGH):
            return True
        supervised = supervisor.line is not None
        if elsewhere:
            supervisor.note(doing=self.behind[-1])
        # a module that is half imported is of no use to those that come after
        if elsewhere or (importing and (supervised or spec is None)):
            return False
        if supervised and call is self._ended:  # it was raised, and swallowed
            return False
        if any(each.f_code.co_name in _FROM_C for each in _up(frame)):
            return True
        place = place_of(_told(f) for f in _up(frame)) or Place(self.doing, "", 0)
        self._ended, self._call = call, None
        self.cut = CutShort(reason, place)
        raise self.cut


@contextmanager
def interruptible(doing: str) -> Iterator[None]:
    """While entered, our own code is ended at a limit as well, as long as a search has a watchdog.

    Raises:  CutShort
    """
    watch = Watchdog.active
    if watch is None:
        yield
        return
    if not _is_main():  # nothing is raised in another thread, but its process can be ended
        watch.behind.append(doing)
        try:
            yield
        finally:
            watch.behind.remove(doing)
        return
    before, watch.doing = watch.doing, doing
    watch.tell()
    try:
        yield
    finally:
        watch.doing = before
        watch.tell()


def _running(frame: FrameType | None) -> tuple[FrameType | None, bool, bool]:
    """Return the outermost call of the spec; whether our own code is left alone where it ends
    now; whether that would leave a module half imported.
    """
    call: FrameType | None = None
    gentle, inside, importing = False, True, False
    for each in _up(frame):
        file = each.f_code.co_filename
        if file in FILES:
            gentle, call = gentle or inside, each
        elif file.startswith(OURS):
            inside = False
        elif file.startswith(_IMPORTING):
            importing = importing or call is None
    return call, gentle or call is None, importing
