"""Errors that speak to the reader: where, what, why, what to do.

Three classes, one per audience: `SpecError` for the author of a spec, `RunError` for the person at
the command line, `EngineError` for us. Each carries a stable code; ``docs/errors.md`` lists them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

# What a terminal obeys, or what makes it show a text in another order than it is read.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """A text as it may go to a terminal: names in it can come from files of others.

    Control characters, but for line breaks and tabs, are written as in JSON, which stays the same.
    """
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


@dataclass(frozen=True)
class Span:
    """A place in a source file. Lines and columns count from 1; ``end_column`` is exclusive."""

    file: str
    line: int
    column: int = 1
    end_column: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def excerpt(self) -> list[str]:
        """The source line with a caret under the place; empty when the file cannot be read."""
        lines = _lines(self.file)
        if not 1 <= self.line <= len(lines):
            return []
        text = lines[self.line - 1]
        end = self.end_column if self.end_column and self.end_column > self.column else None
        width = min(end or self.column + 1, len(text) + 1) - self.column
        caret = "".join("\t" if c == "\t" else " " for c in text[: self.column - 1])
        number = f"{self.line:>5} | "
        return [number + text, " " * len(number) + caret + "^" * max(1, width)]


def did_you_mean(name: str, known: Iterable[str], *, quoted: bool = False) -> str:
    """The sentence that lists what a misspelt name could have been, closest first."""
    names = list(dict.fromkeys(known))
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    rest = [n for n in names if n not in close]
    listed = ", ".join(rest[:8]) + (", ..." if len(rest) > 8 else "")
    if close:
        shown = repr(close[0]) if quoted else close[0]
        return f"Did you mean {shown}?" + (f" (also: {listed})" if rest else "")
    return f"There are: {listed}." if names else "There are none."


class StatewalkError(Exception):
    """What all our errors share: a code, a message, and optionally place, reason and way out."""

    def __init__(
        self, code: str, message: str, *, at: Span | None = None, why: str = "", help: str = ""
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.at = at
        self.why = why
        self.help = help

    def __str__(self) -> str:
        head = f"{self.at}: " if self.at else ""
        lines = [f"{head}{self.code} {self.message}"]
        lines += self.at.excerpt() if self.at else []
        for text in (self.why, self.help):
            lines += ["   " + part for part in text.splitlines()]
        return printable("\n".join(lines))

    @property
    def one_line(self) -> str:
        """The code and the message, as a warning has them."""
        return printable(f"{self.code} {self.message}")

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.code, self.message, self.at, self.why, self.help))


def _rebuild(
    cls: type[StatewalkError], code: str, message: str, at: Span | None, why: str, help: str
) -> StatewalkError:
    return cls(code, message, at=at, why=why, help=help)


class SpecError(StatewalkError):
    """A mistake in a spec."""


class UnknownField(SpecError, AttributeError):
    """A field that a role or record does not have; to Python, an attribute that is not there."""


def no_field(cls: type, name: str, known: Iterable[str]) -> UnknownField:
    """The error of a misspelt field."""
    return UnknownField(
        "SW101",
        f"{cls.__name__} has no field '{name}'. {did_you_mean(name, known, quoted=True)}",
        why="Fields are declared in the class body with a type.",
    )


def no_delete(place: str) -> SpecError:
    """The error of a field that is deleted."""
    return SpecError(
        "SW208",
        f"{place} is deleted, which would leave it without a value.",
        why="The fields of roles and records are the same in every state.",
        help="Where it may be empty, say so with its type, ... | None, and store None.",
    )


def placed(error: StatewalkError, place: str) -> StatewalkError:
    """An error of a value that cannot be stored, said of the place where it was to go."""
    error.message = error.message.replace("The state cannot hold", f"{place} cannot hold", 1)
    return error


class RunError(StatewalkError):
    """A mistake in how a run was asked for, or something outside the spec that stopped it."""


class EngineError(StatewalkError):
    """A bug in statewalk, or a limit of the machine."""


@dataclass
class Mistakes:
    """Collects every mistake of a file, so that all are reported in one pass; warnings aside."""

    found: list[SpecError] = field(default_factory=list)
    warned: list[SpecError] = field(default_factory=list)

    def warn(self, code: str, message: str, *, at: Span | None = None, help: str = "") -> None:
        """Note what is allowed and probably not meant."""
        self.warned.append(SpecError(code, message, at=at, help=help))

    def add(
        self, code: str, message: str, *, at: Span | None = None, why: str = "", help: str = ""
    ) -> None:
        self.found.append(SpecError(code, message, at=at, why=why, help=help))

    def raise_if_any(self) -> None:
        if self.found:
            raise SpecErrors(self.found)


class SpecErrors(SpecError):
    """Several mistakes of one spec, in the order of the file."""

    def __init__(self, errors: list[SpecError]) -> None:
        self.errors = sorted(errors, key=lambda e: (e.at.file, e.at.line) if e.at else ("", 0))
        first = self.errors[0]
        super().__init__(first.code, first.message, at=first.at, why=first.why, help=first.help)

    def __str__(self) -> str:
        return "\n\n".join(str(e) for e in self.errors)

    def __reduce__(self) -> tuple[object, ...]:
        return (SpecErrors, (self.errors,))
