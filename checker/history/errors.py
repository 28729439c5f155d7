"""What is wrong with a history file, said to the person who recorded it."""

from __future__ import annotations

from pathlib import Path


class Undecided(Exception):
    """The time that was given ran out before there was a verdict."""


class HistoryError(Exception):
    """A recorded history that cannot be read or judged: where, what, and what was expected.

    `where` is "line 12" or "byte 96"; `code` is stable and listed in docs/history-format.md.
    """

    def __init__(
        self,
        message: str,
        *,
        source: str = "",
        where: str = "",
        expected: str = "",
        code: str = "SW701",
    ) -> None:
        """Build the message once; an empty part is left out."""
        self.message, self.source, self.where = message, source, where
        self.expected, self.code = expected, code
        place = ", ".join(part for part in (source, where) if part)
        text = f"{place}: {code} {message}" if place else f"{code} {message}"
        super().__init__(f"{text}\n   Expected {expected}." if expected else text)


def no_access(error: OSError, read: Path | None = None) -> str:
    """What to say of a file that cannot be opened: ``read`` (or inside it), or one to write."""
    name = str(error.filename or "")
    reading = read is not None and Path(name).is_relative_to(read)
    reason = error.strerror or str(error)
    if reading:
        return f"{name}: SW302 cannot be read: {reason}"
    return f"{name}: SW403 cannot be written: {reason}"
