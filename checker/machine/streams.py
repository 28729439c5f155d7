"""Standard output is for the answer to a command; what a spec prints there goes to standard error.

A spec can print while it is loaded, in each step, from C and from programs that it starts. So it is
not its words that are kept apart but the descriptor: 1 becomes the same as 2 before any spec runs,
and only we know the other one.
"""

from __future__ import annotations

import codecs
import os
import stat
import sys
from contextlib import suppress
from typing import TextIO

# What some code pages lack, and what stands for it.
_FALLBACKS = {
    "→": "->", "←": "<-", "·": "-", "…": "...", "–": "-", "—": "-", "⏎": "|", "└": "`", "├": "|",
    "│": "|", "─": "-", "×": "x", "≤": "<=", "≥": ">=",
    "▁": "_", "▂": ".", "▃": "-", "▄": "=", "▅": "+", "▆": "*", "▇": "%", "█": "#",
}  # fmt: skip
FALL_BACK = "statewalk.fall_back"  # how streams treat what they cannot encode
_ours: TextIO | None = None
_OF_PYTHON = 3  # descriptors that are given away by number
_USUAL, _NARROWEST = 100, 60  # columns of a report


def _fall_back(error: UnicodeError) -> tuple[str, int]:
    """Signs that look alike for those that a code page lacks; a question mark for others."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_FALLBACKS.get(sign, "?") for sign in lacking), error.end


codecs.register_error(FALL_BACK, _fall_back)


def out() -> TextIO:
    """Return where the answer to a command is written."""
    return sys.stdout if _ours is None else _ours


def say(text: str) -> None:
    """Write words for a person: names in them can come from files of others."""
    from statewalk.dsl.errors import printable  # not at the top: signals come early

    out().write(printable(text))


def warn(text: str) -> None:
    """The same on standard error."""
    from statewalk.dsl.errors import printable

    if sys.stderr is not None:
        sys.stderr.write(printable(text))


def divert() -> None:
    """From now on, what is written to standard output by anybody but us goes to standard error."""
    global _ours  # noqa: PLW0603 (one per process)
    import fcntl

    for number in range(_OF_PYTHON):  # what is closed would be opened as something else
        with suppress(OSError):
            os.fstat(number)
            continue
        os.open(os.devnull, os.O_RDWR)
    encoding = "utf-8" if sys.stdout is None else sys.stdout.encoding
    if sys.stdout is not None:
        sys.stdout.flush()
    own = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, _OF_PYTHON)
    os.dup2(2, 1)
    _ours = open(own, "w", encoding=encoding, errors=FALL_BACK)  # noqa: SIM115 (to the end)
    if sys.stdout is not None:
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]


def keep_silent() -> None:
    """Nothing is written for us any more: another process is doing that, or nobody can."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, out().fileno())
        os.close(nowhere)


def width() -> int:
    """Return the width to report for: that of the terminal the answer goes to, 100 where
    there is none.
    """
    found = 0
    with suppress(ValueError):
        found = int(os.environ.get("COLUMNS", ""))
    if found <= 0:
        with suppress(OSError, ValueError):
            found = os.get_terminal_size(out().fileno()).columns
    return max(found, _NARROWEST) if found > 0 else _USUAL


def let_go_of_the_terminal() -> None:
    """Send what would be printed nowhere: writing to a terminal that is gone fails."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in {0, 1, 2, *([] if _ours is None else [_ours.fileno()])}:
        with suppress(OSError):
            if stat.S_ISCHR(os.fstat(stream).st_mode):
                os.dup2(nowhere, stream)
    os.close(nowhere)
