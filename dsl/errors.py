"""Errors that speak to the reader: where, what, why, what to do.

Three classes, one per audience: `SpecError` for the author of a spec, `RunError` for the person at
the command line, `EngineError` for us. Each carries a stable code;
``docs/reference/errors.md`` lists them.
"""

from __future__ import annotations

import ast
import difflib
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from statewalk.dsl.files import MOST_OF_A_TEXT, absolute, read_text

# What a terminal obeys, what makes it show a text in another order than it is read, and what is no
# character: half of one (bytes of a file's name that are no text come as such), U+FFFE, U+FFFF.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
# What the runners of GitHub, Azure and TeamCity obey: the first at the beginning of a line.
_COMMAND = re.compile(r"^([^\S\n]*)::", re.MULTILINE)
_HASHES = re.compile(r"##(?=[A-Za-z-]*\[)")
_NOT_IMPORTED = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_NO_SECOND = re.compile(r"(leads_to|until)\(\) missing 1 required positional argument")
_NO_KEYWORD = re.compile(r"(\w+)\(\) got an unexpected keyword argument '(\w+)'")
_LINE_ENDS = re.compile("\r\n|\r|\n")  # as Python counts lines, and parsers
_QUOTED = 120  # characters of a line of source
_TOLD = 40  # mistakes of one spec, or names that there are
_ALSO = 8  # names besides the one that was meant
_SAID = 2_000  # characters of a line of a message


def printable(text: str) -> str:
    """Return a text as it may go to a terminal or a file: names in it can come from files of
    others.

    Control characters, but for line breaks and tabs, and halves of characters are written as in
    JSON, which stays the same. So is what begins a command to those who run a program for others; a
    line that begins with two colons is quoted.
    """
    shown = _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return _COMMAND.sub(r"\1\\::", _HASHES.sub(r"#\\u0023", shown))


def one_line(text: str) -> str:
    """Return names of a file as they may stand in a line: those of a spec are words, others
    may not be.
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


LOADED: dict[str, str] = {}
"""The texts of specs as they were loaded last, by absolute path: somebody may save one while it is
checked, and what is told of the check quotes what was checked."""


def text_of(path: str) -> str:
    """Return the text of a spec as it was loaded, of another file as it is; empty when it cannot be
    read.
    """
    try:
        loaded = LOADED.get(absolute(path))
        return read_text(path, errors="replace", most=MOST_OF_A_TEXT) if loaded is None else loaded
    except (OSError, ValueError):  # a name that no file can have
        return ""


def quote(texts: Mapping[str, str]) -> None:
    """Quote files of a model as it was loaded from them: others may have been loaded since."""
    LOADED.update({absolute(path): text for path, text in texts.items()})


def source_lines(text: str) -> list[str]:
    """Return the lines of a text as parsers count them: ``splitlines`` also breaks at form
    feeds.
    """
    return _LINE_ENDS.split(text)


def _around(text: str, column: int) -> tuple[str, int]:
    """Return a line as it is quoted, cut to what is around a column if it is long; the column
    there.
    """
    if len(text) <= _QUOTED:
        return text, column
    start = max(0, min(column - _QUOTED // 2, len(text) - _QUOTED))
    before, after = "…" if start else "", "…" if start + _QUOTED < len(text) else ""
    return before + text[start : start + _QUOTED] + after, column - start + len(before)


def _cut(line: str) -> str:
    """Return a line of a message; of a very long one, which quotes something, its beginning."""
    return line if len(line) <= _SAID else line[:_SAID] + "…"


@dataclass(frozen=True)
class Span:
    """A place in a source file. Lines and columns count from 1; ``end_column`` is exclusive."""

    file: str
    line: int
    column: int = 1
    end_column: int | None = None

    @staticmethod
    def of(node: ast.AST, file: str) -> Span:
        """Return the place of a node; its end only where that is on the same line."""
        line = getattr(node, "lineno", 1)
        same = getattr(node, "end_lineno", None) == line
        end = getattr(node, "end_col_offset", 0) + 1 if same else None
        return Span(file, line, getattr(node, "col_offset", 0) + 1, end)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def excerpt(self) -> list[str]:
        """Return the source line with a caret under the place; empty when the file cannot be
        read.
        """
        lines = source_lines(text_of(self.file))
        if not 1 <= self.line <= len(lines):
            return []
        text, column = _around(lines[self.line - 1], self.column)
        end = self.end_column if self.end_column and self.end_column > self.column else None
        width = min((end or self.column + 1) - self.column, len(text) + 1 - column)
        caret = "".join("\t" if c == "\t" else " " for c in text[: column - 1])
        number = f"{self.line:>5} | "
        return [number + text, " " * len(number) + caret + "^" * max(1, width)]


def did_you_mean(name: str, known: Iterable[str], *, quoted: bool = False) -> str:
    """Return the sentence that lists what a misspelt name could have been, closest first."""
    names = list(dict.fromkeys(known))
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    rest = [n for n in names if n not in close]
    most = _ALSO if close else _TOLD
    listed = ", ".join(rest[:most]) + (", ..." if len(rest) > most else "")
    if close:
        shown = repr(close[0]) if quoted else close[0]
        return f"Did you mean {shown}?" + (f" (also: {listed})" if rest else "")
    return f"There are: {listed}." if names else "There are none."


class StatewalkError(Exception):
    """An error with a code and a message, and optionally a place, a reason and a remedy."""

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
        lines = f"{head}{self.code} {self.message}".split("\n")
        lines += self.at.excerpt() if self.at else []
        for text in (self.why, self.help):
            lines += ["   " + part for part in text.splitlines()]
        return printable("\n".join(map(_cut, lines)))

    @property
    def one_line(self) -> str:
        """The code and the message, as a warning has them."""
        return printable(_cut(f"{self.code} {self.message}"))

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
    """Return the error of a misspelt field."""
    said = f"{cls.__name__} has no field '{name}'. {did_you_mean(name, known, quoted=True)}"
    why = "Fields are declared in the class body with a type."
    return UnknownField("SW101", said, why=why, help=instead_of_field(cls, name))


def instead_of_field(cls: type, name: str) -> str:
    """Return the help for a field that a class lacks and that others would have."""
    number = name in ("id", "pid", "number", "num", "rank") and hasattr(cls, "index")
    return "The number of a role among its class is its index: self.index." if number else ""


def no_delete(place: str) -> SpecError:
    """Return the error of a field that is deleted."""
    said = f"{place} cannot be deleted: that would leave it without a value."
    why = "The fields of roles and records are the same in every state."
    help = "If it may be empty, declare its type as ... | None and assign None."
    return SpecError("SW208", said, why=why, help=help)


def placed(error: StatewalkError, place: str) -> StatewalkError:
    """Return an error of a value that cannot be stored, said of the place where it was to go."""
    error.message = error.message.replace("The state cannot hold", f"{place} cannot hold", 1)
    return error


def place_of(error: BaseException, paths: Collection[str]) -> Span | None:
    """Return the innermost place of a traceback that lies in the spec's own files."""
    span = None
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename in paths:
            line, last, column, end = list(code.co_positions())[trace.tb_lasti // 2]
            span = Span(code.co_filename, trace.tb_lineno, 1)
            if line is not None and column is not None:
                after = end + 1 if line == last and end is not None else None
                span = Span(code.co_filename, line, column + 1, after)
        trace = trace.tb_next
    return span


def raised(
    error: BaseException, when: str, paths: Collection[str], names: Mapping[str, Any] | None = None
) -> SpecError:
    """Return the error of a spec whose own code raised something, where those ``names`` were
    known.
    """
    text = f": {error}" if str(error) else "."
    help = meant(error, names) if names is not None else ""
    at = place_of(error, paths)
    if at and not help:
        help = "Python raised this in the code of the spec: correct the marked expression."
        if isinstance(error, SystemExit):
            help = "A spec must not end the program: remove the marked statement."
    return SpecError("SW303", f"{type(error).__name__} {when}{text}", at=at, help=help)


def meant(error: BaseException, names: Mapping[str, Any]) -> str:
    """Return the name that was meant: a keyword, an import, a variable, a word of the language."""
    known: Iterable[str] = ()
    if isinstance(error, NameError):
        wanted, known = str(error.name), names
        if wanted in getattr(sys.modules.get("statewalk"), "__all__", ()):
            return f"'{wanted}' comes from statewalk: write `from statewalk import {wanted}`."
    elif found := _NO_SECOND.match(str(error)):
        return (
            f"{found[1]} takes two functions, and is no decorator. Write a line on module level:\n"
            f"served = {found[1]}(asked, answered)"
        )
    elif found := _NOT_IMPORTED.match(str(error)):
        wanted, known = found[1], vars(sys.modules.get(found[2], sys))
    elif found := _NO_KEYWORD.match(str(error)):
        wanted, function = found[2], names.get(found[1])
        code = getattr(function, "__code__", None)
        known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else ()
    close = difflib.get_close_matches(wanted, known, n=1, cutoff=0.6) if known else ()
    return f"Did you mean {close[0]}?" if close else ""


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
        told = [str(e) for e in self.errors[:_TOLD]]
        if len(self.errors) > _TOLD:
            told.append(f"... and {len(self.errors) - _TOLD} more mistakes")
        return "\n\n".join(told)

    def __reduce__(self) -> tuple[object, ...]:
        return (SpecErrors, (self.errors,))
