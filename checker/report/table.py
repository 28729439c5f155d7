"""The table of a sweep: one line per set of constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from statewalk.checker.report.page import Page, Segment, number, seconds

if TYPE_CHECKING:
    from statewalk.checker.verdict.result import Result

_STYLE = {"holds": "good", "violated": "bad", "bounded": "warn", "error": "bad"}
_LEFT = ("config", "verdict", "violated")


def table(rows: Sequence[tuple[Mapping[str, Any], Result]], *, width: int = 100) -> Page:
    """The results of a sweep; the columns of constants are those that were swept."""
    page = Page(width)
    names = list(rows[0][0]) if rows else []
    told = any(r.evidence is not None and r.evidence.expectation is not None for _, r in rows)
    expected = ["expected"] if told else []
    heads = [*names, "verdict", *expected, "distinct", "generated", "depth", "time", "violated"]
    cells = [_cells(constants, result, told) for constants, result in rows]
    widths = [max(len(head), *(len(row[i]) for row in cells)) for i, head in enumerate(heads)]
    page.add((_line(heads, heads, widths), "head"))
    for (_, result), row in zip(rows, cells, strict=True):
        segments: list[Segment] = []
        for head, text, size in zip(heads, row, widths, strict=True):
            padded = f"{text:<{size}}" if head in _LEFT else f"{text:>{size}}"
            segments += [(padded, _STYLE[result.verdict] if head == "verdict" else ""), ("  ", "")]
        page.add(*segments)
    for _, result in rows:
        if result.verdict == "error" and result.warnings:
            page.blank()
            page.lines += [[(line, "")] for line in result.warnings[0].splitlines()]
        if result.as_expected is False and result.evidence is not None:
            page.blank()
            where = f"{result.evidence.options.config}: "
            page.words((where, "bad"), "; ".join(result.evidence.unexpected))
    return page


def _cells(constants: Mapping[str, Any], result: Result, told: bool) -> list[str]:
    counts = result.counts
    broken = [f"{p.name} at {p.length}" if p.length is not None else p.name
              for p in result.properties if p.verdict == "violated"]  # fmt: skip
    return [
        *(str(v) for v in constants.values()),
        result.verdict,
        *([_expected(result)] if told else []),
        number(counts.distinct),
        number(counts.generated),
        str(counts.depth),
        seconds(result.seconds),
        ", ".join(broken),
    ]


def _expected(result: Result) -> str:
    if result.evidence is None or result.evidence.expectation is None:
        return ""
    return {True: "yes", False: "NO", None: "unknown"}[result.as_expected]


def _line(heads: Sequence[str], row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(
        f"{text:<{size}}" if head in _LEFT else f"{text:>{size}}"
        for head, text, size in zip(heads, row, widths, strict=True)
    )
