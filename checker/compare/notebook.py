"""A comparison as a notebook shows it: what changed first, then both traces beside each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from statewalk.checker.compare.telling import report_of, rows_of
from statewalk.checker.states.diff import alike_state
from statewalk.checker.traces.exports.pictures import pre_of
from statewalk.checker.traces.trace import Trace, label_of
from statewalk.dsl.errors import printable

if TYPE_CHECKING:
    from statewalk.checker.compare.compare import Comparison, Side
    from statewalk.checker.compare.crossing import Crossing

_COLOURS = (
    (re.compile(r"\bbroken$"), "#b9302a"),
    (re.compile(r"\b(fixed|now possible)$"), "#17784a"),
    (re.compile(r"\b(no longer possible|new|gone)$"), "#8a5a00"),
)
_LEFT = "text-align: left; vertical-align: top"
_MOST, _STEPS = 4, 60  # pairs of traces, and steps of each


def html_of(comparison: Comparison) -> str:
    """Return a comparison as HTML without scripts."""
    head = _row(["", *(side.name for side in comparison.sides)], "th")
    rows = rows_of(comparison)
    moved = [row for row in rows if any(_colour(cell) for cell in row[1:])]
    alike = [row for row in rows if row not in moved]
    parts = [f"<table>{head}{''.join(_row(row, 'td') for row in moved)}</table>"] if moved else []
    parts += [*_pairs(comparison)][:_MOST]
    table = f"<table>{head}{''.join(_row(row, 'td') for row in alike)}</table>"
    parts.append(_folded(f"{len(alike)} rows without a change", table))
    parts.append(_folded("The whole report", pre_of(report_of(comparison))))
    return "".join(parts)


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def _row(cells: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(_cell(cell.replace('`', ''), tag) for cell in cells)}</tr>"


def _cell(text: str, tag: str = "td") -> str:
    colour = _colour(text)
    style = f"{_LEFT}; color: {colour}; font-weight: 600" if colour else _LEFT
    return f'<{tag} style="{style}">{escape(printable(text))}</{tag}>'


def _colour(text: str) -> str:
    return next((colour for words, colour in _COLOURS if words.search(text)), "")


def _pairs(comparison: Comparison) -> Iterator[str]:
    """Yield the counterexamples of one side, each beside the same steps on the other."""
    for both in comparison.others:
        base, other = comparison.base, both.other
        for crossings, owner, second in (
            (both.crossed, base, other),
            (both.crossed_back, other, base),
        ):
            for one in crossings:
                yield _pair(one, owner, second)


def _pair(one: Crossing, owner: Side, second: Side) -> str:
    first = first_difference(one.trace, one.followed)
    title = f"{one.trace.property} is violated with {owner.name}"
    lines = [_row(["", owner.name, second.name], "th")]
    for at in range(1, min(max(one.trace.length, one.followed.length), _STEPS) + 1):
        cells = [_step(trace, at, changes=at == first) for trace in (one.trace, one.followed)]
        mark = f"<b>{at}</b> first difference" if at == first else str(at)
        lines.append(f'<tr><td style="{_LEFT}">{mark}</td>{"".join(cells)}</tr>')
    return f"<p><b>{escape(printable(title))}</b></p><table>{''.join(lines)}</table>"


def _step(trace: Trace, at: int, *, changes: bool) -> str:
    if at > trace.length:
        return f'<td style="{_LEFT}">(not enabled)</td>'
    told = escape(printable(label_of(trace, trace.steps[at - 1])))
    if changes:
        listed = "<br>".join(escape(printable(str(c))) for c in trace.diffs[at - 1])
        told = f"<b>{told}</b><br><code>{listed}</code>"
    return f'<td style="{_LEFT}">{told}</td>'


def first_difference(one: Trace, two: Trace) -> int:
    """Return the first state in which two traces differ, or that only one of them has."""
    for at, (a, b) in enumerate(zip(one.contents, two.contents, strict=False)):
        if not alike_state(a, b):
            return at
    return min(len(one.contents), len(two.contents))
