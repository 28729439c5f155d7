"""A signal that comes while Python still imports us ends the program with a word, not a traceback.

The package imports it first; it does nothing where somebody else imports the package.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from types import FrameType

from statewalk.checker.machine.signals import HANG_UP, INCONCLUSIVE, ONCE, handle
from statewalk.checker.machine.streams import let_go_of_the_terminal

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
            let_go_of_the_terminal()
        now = time.monotonic()
        if now - self.at > ONCE:
            self.at = now
            raise KeyboardInterrupt


def _leave(number: int, frame: FrameType | None) -> None:
    with suppress(OSError):  # a terminal that is gone
        os.write(2, _SAID)
    os._exit(INCONCLUSIVE)


if is_program():
    handle(_leave)
