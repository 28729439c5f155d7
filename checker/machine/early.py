"""A signal that comes while Python still imports us ends the program with a word, not a traceback.

The package imports it first; it does nothing where somebody else imports the package.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from contextlib import suppress
from types import FrameType, TracebackType

NO_FILES = (errno.EMFILE, errno.ENFILE)
SHORT = b"\nstatewalk: memory, processes or files run short, so there is no result\n"
_INCONCLUSIVE, _INTERNAL = 3, 70  # as checker/verdict/exits.py has them, not imported yet
_SAID = b"\nstatewalk: interrupted before there was a result\n"


def is_program() -> bool:
    """Whether this process is the command ``statewalk``, as opposed to somebody who imports us."""
    asked = sys.orig_argv
    if "-m" in asked:
        return asked[asked.index("-m") + 1 :][:1] == ["statewalk"]
    return os.path.splitext(os.path.basename(sys.argv[0]))[0] == "statewalk"


class Stop:
    """Handles what asks the program to end: one KeyboardInterrupt, however many signals come at
    once.
    """

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if number == HANG_UP:
            streams.let_go_of_the_terminal()
        now = time.monotonic()
        if now - self.at > ONCE:
            self.at = now
            raise KeyboardInterrupt


def _leave(number: int, frame: FrameType | None) -> None:
    with suppress(OSError):  # a terminal that is gone
        os.write(2, _SAID)
    os._exit(_INCONCLUSIVE)


def _failed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What fails before a command runs, or what waits for it, is no verdict: Python ends with 1."""
    short = isinstance(error, MemoryError) or getattr(error, "errno", None) in (
        *NO_FILES,
        errno.ENOMEM,
        errno.EAGAIN,
    )
    if short or (isinstance(error, ImportError) and "failed to map segment" in str(error)):
        with suppress(OSError):
            os.write(2, SHORT)
        os._exit(_INCONCLUSIVE)
    sys.__excepthook__(kind, error, trace)
    with suppress(AttributeError, OSError):
        sys.stderr.flush()
    os._exit(_INTERNAL)


if is_program():
    sys.excepthook = _failed

from statewalk.checker.machine.signals import HANG_UP, ONCE, handle  # noqa: E402 (it may fail)

if is_program():
    handle(_leave)

from statewalk.checker.machine import streams  # noqa: E402 (a signal may come meanwhile)
