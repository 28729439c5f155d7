"""Pages of styled text: what reports are made of, without a terminal.

A `Page` is lines of segments, each with a style from `STYLES`. Colour never carries meaning alone,
so the plain text of a page says everything.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import IO

from statewalk.dsl.errors import printable

# Of the colours of terminals, those that can be read on white and on black.
STYLES: dict[str, str] = {
    "": "",
    "good": "bold color(28)",
    "bad": "bold color(196)",
    "warn": "color(130)",
    "head": "bold",
    "dim": "dim",
    "actor": "color(30)",
    "action": "bold",
    "+": "color(28)",
    "-": "color(196)",
    "~": "color(130)",
}
Segment = tuple[str, str]
"""(text, style)"""


@dataclass
class Page:
    """Lines of segments, made for a width."""

    width: int = 100
    lines: list[list[Segment]] = field(default_factory=list)

    def add(self, *segments: Segment | str) -> None:
        """Add a line; longer than the page, it stays whole."""
        self.lines.append([s if isinstance(s, tuple) else (s, "") for s in segments])

    def blank(self) -> None:
        """Add an empty line, unless there is one or the page is empty."""
        if self.lines and self.lines[-1]:
            self.lines.append([])

    def join(self, other: Page) -> None:
        """Add the lines of another page."""
        self.lines += other.lines

    def flow(
        self, head: Sequence[Segment | str], items: Iterable[Segment | str], *, between: str = " · "
    ) -> None:
        """Add a head and items after it, broken between items and indented below the first.

        An item that is longer than a line is broken between words, and indented further.
        """
        segments = [s if isinstance(s, tuple) else (s, "") for s in head]
        indent = sum(len(text) for text, _ in segments)
        line, used, first = segments, indent, True
        for item in items:
            text, style = item if isinstance(item, tuple) else (item, "")
            if len(text) > self.width - indent > 20 and " " in text and "\n" not in text:
                *whole, text = self._pieces(text, indent)
                for part in whole:
                    if not first:
                        self.lines.append(line)
                        line = [(" " * indent, "")]
                    line.append((part, style))
                    first = False
                if whole:
                    self.lines.append(line)
                    line, used, first = [(" " * (indent + 2), "")], indent + 2, True
            extra = len(text) + (0 if first else len(between))
            if not first and used + extra > self.width:
                self.lines.append(line)
                line, used, first = [(" " * indent, "")], indent, True
                extra = len(text)
            line += [(text, style)] if first else [(between, "dim"), (text, style)]
            used += extra
            first = False
        self.lines.append(line)

    def _pieces(self, text: str, indent: int) -> list[str]:
        """A text cut between words to what fits after an indent."""
        room = self.width - indent - 2
        return wrap(text, room, break_long_words=False, break_on_hyphens=False)

    def words(self, head: Segment | str, text: str, style: str = "") -> None:
        """Add a head and a text after it, broken between words."""
        start = head if isinstance(head, tuple) else (head, "")
        for number, part in enumerate(text.splitlines() or [""]):
            first = start if number == 0 else (" " * len(start[0]), "")
            self.flow([first], [(word, style) for word in part.split()], between=" ")

    def table(
        self, heads: Sequence[str], rows: Sequence[Sequence[Segment | str]], left: Sequence[bool]
    ) -> None:
        """Add rows below their heads, in columns as wide as need be; to the left or the right."""
        cells = [[s if isinstance(s, tuple) else (s, "") for s in row] for row in rows]
        cells.insert(0, [(head, "head") for head in heads])
        sizes = [max(len(text) for text, _ in column) for column in zip(*cells, strict=True)]
        for row in cells:
            line: list[Segment] = []
            for (text, style), size, first in zip(row, sizes, left, strict=True):
                line += [(f"{text:<{size}}" if first else f"{text:>{size}}", style), ("  ", "")]
            self.lines.append(line[:-1])

    def plain(self) -> str:
        """The text, without styles and without blanks at the ends of lines."""
        text = "\n".join("".join(text for text, _ in line).rstrip() for line in self.lines)
        return printable(text)

    def show(self, file: IO[str]) -> None:
        """Print: with styles where the file is a terminal that has colours, else plainly."""
        if not wants_colour(file):
            file.write(self.plain() + "\n")
            return
        from rich.console import Console
        from rich.text import Text

        forced = _is_forced()
        console = Console(
            file=file, highlight=False, soft_wrap=True, force_terminal=forced or None,
            color_system="256" if forced else "auto",
        )  # fmt: skip
        with console.capture() as shown:  # it would leave the program where a pipe is closed
            for line in self.lines:
                text = Text()
                for part, style in line:
                    text.append(printable(part), STYLES[style])
                console.print(text)
        file.write(shown.get())


def wants_colour(file: IO[str]) -> bool:
    """Whether styles make sense: a terminal, or somebody asked for them; and nobody for none."""
    if os.environ.get("NO_COLOR"):
        return False
    if _is_forced():
        return True
    in_ci = os.environ.get("CI") == "true"
    return not in_ci and file.isatty() and os.environ.get("TERM", "") not in ("dumb", "")


def _is_forced() -> bool:
    return os.environ.get("FORCE_COLOR", "0") not in ("", "0")


def number(n: int) -> str:
    """``12 913 442`` with thin structure: digits in threes."""
    return f"{n:,}"


def plural(n: int, one: str) -> str:
    """``1 step``, ``2 steps``."""
    return f"{number(n)} {one if n == 1 else one + 's'}"


def seconds(value: float) -> str:
    """A duration as a person says it."""
    if value < 60:
        return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
