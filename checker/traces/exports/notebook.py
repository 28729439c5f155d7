"""A trace as a notebook shows it: what is false, the steps, and the sequence diagram."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from statewalk.checker.machine.turns import in_turn
from statewalk.checker.traces.exports.drawn import drawn, states_of
from statewalk.checker.traces.exports.lanes import drawing
from statewalk.checker.traces.exports.pictures import sized, svg_of
from statewalk.checker.traces.trace import label_parts
from statewalk.dsl.errors import printable

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace


_STEPS = 200  # steps
_TAGS = {"action": "<b>{}</b>", "actor": "<i>{}</i>"}


def html_of(trace: Trace) -> str:
    """Return the steps of a trace with what they changed, and the sequence diagram."""
    rows = [_table_row("0", "<b>init</b>", [])]
    for number, (step, changes) in enumerate(trace, 1):
        if number > _STEPS:
            rows.append(_table_row("", f"… and {trace.length - _STEPS} more", []))
            break
        label = "".join(
            _TAGS.get(kind, "{}").format(_safe(text)) for text, kind in label_parts(trace, step)
        )
        rows.append(_table_row(str(number), label, [_safe(str(change)) for change in changes]))
    error = f"<p>{_safe(trace.error)}</p>" if trace.error else ""
    loop = f"<p>back to {trace.loop}, for ever</p>" if trace.loop is not None else ""
    head = f"<p><b>{_safe(trace.property)}</b> · {trace.length} steps of {_safe(trace.spec)}</p>"
    drawn = sized(svg_of(drawing(trace))) if 0 < trace.length <= _STEPS else ""
    reason = trace.reason.said if trace.reason is not None else ""
    head += f"<p><code>{_safe(reason)}</code></p>" if reason else ""
    steps = f"<table>{''.join(rows)}</table>"
    if drawn:
        steps = f"<details><summary>What each step changed</summary>{steps}</details>"
    pictures = pictures_at(trace, trace.length)
    return f"{head}{drawn}{pictures}{error}{loop}{steps}"


@in_turn
def pictures_at(trace: Trace, at: int) -> str:
    """Return the pictures that the spec declares, of a state of a trace whose model is known."""
    if trace.model is None or not trace.model.pictures:
        return ""
    states = states_of(trace.model, trace)
    if at >= len(states):
        return ""
    made = [drawn(trace.model, one, states[at]) for one in trace.model.pictures]
    return "".join(
        f"<p>{_safe(one['error'])}</p>" if "error" in one else sized(svg_of(one)) for one in made
    )


def _table_row(number: str, label: str, changes: list[str]) -> str:
    told = "<br>".join(f"<code>{change}</code>" for change in changes)
    left = ' style="text-align: left; vertical-align: top"'  # notebooks align cells themselves
    cells = "".join(f"<td{left}>{cell}</td>" for cell in (number, label, told))
    return f"<tr>{cells}</tr>"


def _safe(text: str) -> str:
    return escape(printable(text))
