"""The outputs of a comparison's report: lines of a page, or Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from statewalk.checker.report.page import Page
from statewalk.checker.report.trace import trace_page
from statewalk.checker.traces.exports.pictures import fenced

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace


class Sheet(Protocol):
    """An output of a report."""

    def head(self, text: str) -> None: ...
    def say(self, text: str) -> None: ...
    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None: ...
    def items(self, rows: Sequence[Sequence[str]]) -> None: ...
    def trace(self, trace: Trace) -> None: ...


@dataclass
class OnPage:
    """A sheet that is a page; of the constants of traces, some are told."""

    page: Page
    constants: frozenset[str] = frozenset()

    def head(self, text: str) -> None:
        """A title."""
        self.page.blank()
        self.page.add((text, "head"))

    def say(self, text: str) -> None:
        """A sentence."""
        self.page.words("  ", text)

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Rows below their heads."""
        self.page.blank()
        indented = [["", *row] for row in rows]
        self.page.table(["", *heads], indented, [True] * (len(heads) + 1))

    def items(self, rows: Sequence[Sequence[str]]) -> None:
        """A list of titles with what belongs to each below it."""
        for title, text in rows:
            self.page.words("    ", title, "action")
            self.page.words("      ", text)

    def trace(self, trace: Trace) -> None:
        """The steps of a trace."""
        self.page.blank()
        self.page.join(trace_page(_told(trace, self.constants), width=self.page.width))
        self.page.blank()


@dataclass
class Markdown:
    """A sheet that is Markdown; of the constants of traces, some are told."""

    constants: frozenset[str] = frozenset()
    lines: list[str] = field(default_factory=list)

    def head(self, text: str) -> None:
        """A title."""
        self.lines += [f"#### {plain(text)}", ""]

    def say(self, text: str) -> None:
        """A paragraph."""
        self.lines += [plain(text), ""]

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Rows below their heads."""
        for row in (heads, ["---"] * len(heads), *rows):
            self.lines.append("| " + " | ".join(plain(c).replace("|", "\\|") for c in row) + " |")
        self.lines.append("")

    def items(self, rows: Sequence[Sequence[str]]) -> None:
        """A list."""
        self.lines += [f"- {plain(title)}: {plain(text)}" for title, text in rows] + [""]

    def trace(self, trace: Trace) -> None:
        """The steps of a trace, as they are printed."""
        text = trace_page(_told(trace, self.constants), width=100).plain()
        self.lines.append(fenced(text, kind=""))


def _told(trace: Trace, constants: frozenset[str]) -> Trace:
    return replace(trace, constants={n: v for n, v in trace.constants.items() if n in constants})


def plain(text: str) -> str:
    """Return a text that Markdown takes as it is, but for what is code already. Values of a
    spec in it are no HTML, no link, no picture, call nobody and begin no line.
    """
    text = " ".join(text.splitlines())
    # code at odd places; where more than one backtick begins it, a value says so, and there is none
    parts = re.split(r"(`[^`]+`)", text) if "``" not in text else [text]
    parts[::2] = [_SPECIAL.sub(lambda found: _TAKEN[found[0]], p) for p in parts[::2]]
    return "".join(parts)


_TAKEN = {c: "\\" + c for c in "\\`*_[]~!"} | {"<": "&lt;", "&": "&amp;", "@": "@&#8203;"}
_SPECIAL = re.compile(f"[{re.escape(''.join(_TAKEN))}]")
