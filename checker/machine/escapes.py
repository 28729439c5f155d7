"""What a spec may do to the process that runs it: leave it without a word, or double it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

from statewalk.checker.machine import streams
from statewalk.checker.machine.signals import INCONCLUSIVE

_PR_SET_PDEATHSIG = 1
fork: Any = getattr(os, "fork", None)  # for ourselves, as `watched` puts another one in its place

Frame = tuple[str, int, str]


@contextmanager
def watched(left: Callable[[list[Frame]], None], doubled: Callable[[], None]) -> Iterator[None]:
    """While entered, ``left`` is told from where `os._exit` is called. A process that `os.fork`
    makes is ``doubled``, and ends at the latest when it comes back from the spec to us.
    """
    here, leave, fork = os.getpid(), os._exit, os.fork

    def leaving(status: int) -> NoReturn:
        if os.getpid() == here:
            left(_stack())
        leave(status)

    def forking() -> int:
        pid = fork()
        if not pid:
            die_with(here)
            streams.keep_silent()
            doubled()
            _end_with_the_spec(sys._getframe(1))
        return pid

    os._exit, os.fork = leaving, forking
    try:
        yield
    finally:
        os._exit, os.fork = leave, fork


def die_with(parent: int) -> None:
    """Let this process end with its parent, where the system can do that."""
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(INCONCLUSIVE)


def _end_with_the_spec(frame: FrameType | None) -> None:
    """Leave the process when the innermost function returns that code of ours called."""
    from statewalk.checker.machine.places import OURS

    last: FrameType | None = None
    while frame is not None and not frame.f_code.co_filename.startswith(OURS):
        last, frame = frame, frame.f_back
    if last is None:  # it is ours
        return

    def returns(frame: FrameType, event: str, value: Any) -> Any:
        if event == "return":
            os._exit(0)
        return returns

    sys.settrace(lambda frame, event, value: None)
    last.f_trace, last.f_trace_lines = returns, False


def _stack() -> list[Frame]:
    """Where this process is, innermost first."""
    import traceback

    return [(f.filename, f.lineno or 0, f.name) for f in reversed(traceback.extract_stack())]
