"""Errors in history files, worded for the person who recorded them."""

from __future__ import annotations

from pathlib import Path

from statewalk.dsl.errors import RunError, one_line, printable


class Undecided(Exception):
    """The time that was given ran out before there was a verdict."""


class HistoryError(RunError):
    """A recorded history that cannot be read or judged: where, what, and what was expected.

    `where` is "line 12" or "byte 96".
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
        """An empty part is left out of the text."""
        super().__init__(code, message, help=f"Expected {expected}." if expected else "")
        self.source, self.where, self.expected = source, where, expected

    def __str__(self) -> str:
        place = ", ".join(part for part in (self.source, self.where) if part)
        return printable(f"{one_line(place)}: ") + super().__str__() if place else super().__str__()

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.message, self.source, self.where, self.expected, self.code))


def _rebuild(message: str, source: str, where: str, expected: str, code: str) -> HistoryError:
    return HistoryError(message, source=source, where=where, expected=expected, code=code)


def no_access(error: OSError, read: Path | None = None) -> str:
    """Return what to say of a file that cannot be opened: ``read`` (or inside it), or one
    to write.
    """
    name = str(error.filename or "")
    shown = one_line(name)
    reading = read is not None and Path(name).is_relative_to(read)
    reason = error.strerror or str(error)
    if reading:
        return f"{shown}: SW302 cannot be read: {reason}"
    return f"{shown}: SW403 cannot be written: {reason}"
