"""Pages of styled text: what reports are made of, without a terminal.

A `Page` is lines of segments, each with a style from `STYLES`. Colour never carries meaning alone,
so the plain text of a page says everything.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import IO, TYPE_CHECKING, Any

from statewalk.dsl.errors import one_line, printable

if TYPE_CHECKING:
    from statewalk.checker.verdict.run import Run


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
        """Return a text cut between words to what fits after an indent."""
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
        """Return the text, without styles and without blanks at the ends of lines."""
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
    """Return whether styles make sense: a terminal, or somebody asked for them; and nobody for
    none.
    """
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
    """Return a duration as a person says it."""
    if value < 60:
        return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


_STYLE = {"holds": "good", "violated": "bad", "bounded": "warn", "error": "bad"}
_LEFT = ("config", "verdict", "violated")


def table(rows: Sequence[tuple[Mapping[str, Any], Run]], *, width: int = 100) -> Page:
    """The runs of a sweep; the columns of constants are those that were swept."""
    page = Page(width)
    names = list(rows[0][0]) if rows else []
    told = any(run.evidence.expectation is not None for _, run in rows)
    expected = ["expected"] if told else []
    heads = [*names, "verdict", *expected, "distinct", "generated", "depth", "time", "violated"]
    cells = [_cells(constants, run, told) for constants, run in rows]
    page.table(heads, cells, [head in _LEFT for head in heads])
    for _, run in rows:
        if (error := run.evidence.error) is not None:
            page.blank()
            page.lines += [[(line, "")] for line in error.text.splitlines()]
        if run.evidence.unexpected:
            page.blank()
            where = f"{one_line(str(run.evidence.options.config))}: "
            page.words((where, "bad"), "; ".join(run.evidence.unexpected))
    return page


def _cells(constants: Mapping[str, Any], run: Run, told: bool) -> list[Segment | str]:
    counts = run.counts
    broken = [f"{p.name} at {p.length}" if p.length is not None else p.name
              for p in run.properties if p.verdict == "violated"]  # fmt: skip
    return [
        *(one_line(str(v)) for v in constants.values()),
        (run.verdict, _STYLE[run.verdict]),
        *([_expected(run)] if told else []),
        number(counts.distinct),
        number(counts.generated),
        str(counts.depth),
        seconds(run.seconds),
        ", ".join(broken),
    ]


def _expected(run: Run) -> str:
    if run.evidence.expectation is None:
        return ""
    return {True: "yes", False: "NO", None: "unknown"}[run.as_expected]


BARS = "▁▂▃▄▅▆▇█"
_FEW = 4  # levels that need no bars
_COLUMNS = 16  # of bars in a report
_ROWS = 24  # of a plot
_TREND = 3  # levels that make a trend,
_SHAPE = 8  # and those that make a shape,
_GROUPS = 12  # of which so many are told apart
_LONGEST = 10_000  # levels that are guessed at most


def bars(levels: Sequence[int]) -> str:
    """Return the sizes of levels as little bars; empty where there are few of them."""
    if len(levels) < _FEW:
        return ""
    groups = [max(group) for group in _grouped(levels, _COLUMNS)]
    most = max(groups)
    return "".join(BARS[(g * 7 + most - 1) // most] for g in groups)


def _grouped(levels: Sequence[int], most: int) -> list[Sequence[int]]:
    size = -(-len(levels) // most)
    return [levels[i : i + size] for i in range(0, len(levels), size)]


def levels_page(levels: Sequence[int], *, width: int = 100) -> Page:
    """Return a plot: how many states each level has; of many levels some together, with their
    mean.
    """
    page = Page(width)
    groups = _grouped(levels, _ROWS) if levels else []
    size = len(groups[0]) if groups else 0
    means = [sum(group) / len(group) for group in groups]
    head = "states" if size == 1 else "states in each, on average"
    page.add((f"  {'level' if size == 1 else 'levels'}", "head"), "  ", (head, "head"))
    names = []
    for at, group in enumerate(groups):
        first, last = at * size, at * size + len(group) - 1
        names.append(str(first) if first == last else f"{first}–{last}")
    column, sizes = max(6, *map(len, names), 0), [number(round(m)) for m in means]
    digits = max(map(len, sizes), default=0)
    room = max(20, min(width - column - digits - 6, 80))
    for name, shown, mean in zip(names, sizes, means, strict=True):
        bar = "█" * round(mean * room / max(means)) or BARS[0]
        page.add((f"  {name:>{column}}", "dim"), f"  {shown:>{digits}}  ", (bar, "actor"))
    return page


def trend(levels: Sequence[int]) -> str:
    """Return whether the frontier grows."""
    if len(levels) < _TREND:
        return ""
    a, b, c = _last(levels)
    return "growing" if a < b < c else "falling" if a > b > c else ""


def _last(levels: Sequence[int]) -> list[int]:
    """Return the states in the last three groups of levels; a group is one level where there
    are few.
    """
    count, size = len(levels), max(1, len(levels) // _GROUPS)
    return [sum(levels[count - size * i : count - size * (i - 1)]) for i in (3, 2, 1)]


def to_come(levels: Sequence[int]) -> tuple[float, float] | None:
    """Return how many states the levels to come may have, from and to; None where nothing can be
    said.

    The sizes of levels mostly rise and fall like a bell. Well behind the largest one, they shrink
    by a ratio that itself shrinks. So the last ratio, kept, gives the most states there may be, and
    ratios that go on shrinking as they did about the fewest.
    """
    count = len(levels)
    top = max(range(count), key=levels.__getitem__, default=0)
    if count < _SHAPE or count - 1 - top < max(2, count // _GROUPS):
        return None
    a, b, c = _last(levels)
    if not a > b > c > 0 or c / b >= b / a:
        return None
    ratio, quicker = c / b, (c / b) / (b / a)
    least, left = 0.0, float(c)
    for _ in range(_LONGEST):
        ratio *= quicker
        left *= ratio
        least += left
        if left < 1:
            break
    return least, c * (c / b) / (1 - c / b)
