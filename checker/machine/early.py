"""A signal that comes while Python still imports us ends the program with a word, not a traceback.

The package imports it first; it does nothing where somebody else imports the package.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from types import FrameType, TracebackType

_INCONCLUSIVE, _INTERNAL = 3, 70  # as checker/verdict/exits.py has them, not imported yet
_SAID = b"\nstatewalk: interrupted before there was a result\n"


def is_program() -> bool:
    """Return whether this process is the command ``statewalk``, as opposed to somebody who imports
    us.
    """
    asked = sys.orig_argv
    if "-m" in asked:
        return asked[asked.index("-m") + 1 :][:1] == ["statewalk"]
    return os.path.splitext(os.path.basename(sys.argv[0]))[0] == "statewalk"


def _leave(number: int, frame: FrameType | None) -> None:
    with suppress(OSError):  # a terminal that is gone
        os.write(2, _SAID)
    os._exit(_INCONCLUSIVE)


def _failed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Give failures before a command runs their own exit code, as Python ends with 1."""
    if issubclass(kind, KeyboardInterrupt):  # it came before `handle`
        _leave(0, None)
    sys.__excepthook__(kind, error, trace)
    with suppress(AttributeError, OSError):
        sys.stderr.flush()
    os._exit(_INTERNAL)


if is_program():
    sys.excepthook = _failed
    from statewalk.checker.machine.signals import handle

    handle(_leave)
