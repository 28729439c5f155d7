"""The table of a sweep: one line per set of constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from statewalk.checker.report.page import Page, Segment, number, seconds
from statewalk.dsl.errors import one_line

if TYPE_CHECKING:
    from statewalk.checker.verdict.run import Run

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
