"""A trace as notebooks show it: a table and a diagram without scripts, or Markdown."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from statewalk.checker.traces.exports.lanes import drawing, svg_of
from statewalk.checker.traces.labels import label_parts
from statewalk.dsl.errors import printable

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace

_MOST = 200  # steps
_TAGS = {"action": "<b>{}</b>", "actor": "<i>{}</i>"}


def html_of(trace: Trace) -> str:
    """The steps of a trace with what they changed, and the sequence diagram."""
    rows = [_row("0", "<b>init</b>", [])]
    for number, (step, changes) in enumerate(trace, 1):
        if number > _MOST:
            rows.append(_row("", f"… and {trace.length - _MOST} more", []))
            break
        label = "".join(
            _TAGS.get(kind, "{}").format(_safe(text)) for text, kind in label_parts(trace, step)
        )
        rows.append(_row(str(number), label, [_safe(str(change)) for change in changes]))
    error = f"<p>{_safe(trace.error)}</p>" if trace.error else ""
    loop = f"<p>back to {trace.loop}, for ever</p>" if trace.loop is not None else ""
    head = f"<p><b>{_safe(trace.property)}</b> · {trace.length} steps of {_safe(trace.spec)}</p>"
    drawn = sized(svg_of(drawing(trace))) if 0 < trace.length <= _MOST else ""
    return f"{head}<table>{''.join(rows)}</table>{error}{loop}{drawn}"


def _row(number: str, label: str, changes: list[str]) -> str:
    told = "<br>".join(f"<code>{change}</code>" for change in changes)
    left = ' style="text-align: left; vertical-align: top"'  # notebooks align cells themselves
    cells = "".join(f"<td{left}>{cell}</td>" for cell in (number, label, told))
    return f"<tr>{cells}</tr>"


def _safe(text: str) -> str:
    return escape(printable(text))


def sized(svg: str) -> str:
    """A drawing in its own size; notebooks would make a wide one too small to be read."""
    kept = svg.replace("<svg ", '<svg style="max-width: none" ', 1)
    return f'<div style="overflow-x: auto">{kept}</div>'


def pre_of(text: str) -> str:
    """A report as it stands; some notebooks' style sheets have no fixed pitch for it."""
    return f'<pre style="font-family: var(--jp-code-font-family, monospace)">{_safe(text)}</pre>'


def fenced(text: str, kind: str = "text") -> str:
    """A text as a block of Markdown that nothing in it ends."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{text}\n{fence}\n"
