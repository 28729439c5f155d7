"""What `statewalk replay` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from statewalk.checker.report.page import Page, plural
from statewalk.checker.report.trace import trace_page
from statewalk.checker.states.shortening import first_difference, fit

if TYPE_CHECKING:
    from statewalk.checker.behaviours.replay import Replay

_SHOWN = 10


def replay_page(replay: Replay, *, width: int = 100) -> Page:
    """The outcome of a replay: that it happened again, or where it parts and what differs there."""
    page = Page(width)
    trace = replay.trace
    if replay.changed:
        page.words(
            ("note  ", "warn"), f"changed since the trace was made: {', '.join(replay.changed)}"
        )
        page.blank()
    if replay.reproduced:
        page.join(trace_page(trace, width=width))
        page.blank()
        ends = _end(replay)
        page.words(
            ("REPRODUCED  ", "good"), f"{plural(trace.length, 'step')} of {replay.spec}{ends}"
        )
        return page
    where = f"at step {replay.step} of {trace.length}" if replay.step else "in the initial state"
    page.words(("DIVERGED  ", "bad"), f"{where}: {replay.why}")
    for change in replay.differences[:_SHOWN]:
        path = first_difference(change.before, change.after)
        before, after = fit(change.before, 60, path), fit(change.after, 60, path)
        text = {
            "~": f"{change.place} is {after}, in the trace {before}",
            "+": f"{change.place} has {after}, the trace has not",
            "-": f"{change.place} lacks {before}, which the trace has",
        }[change.mark]
        page.add("  ", (f"{change.mark} ", change.mark), text)
    if len(replay.differences) > _SHOWN:
        page.add(f"    and {plural(len(replay.differences) - _SHOWN, 'more difference')}")
    if not replay.changed:
        page.words(
            "  ",
            "The spec's text is the one the trace was made from, so either the file of the trace "
            "was changed, or the spec is not deterministic.",
        )
    return page


def _end(replay: Replay) -> str:
    trace = replay.trace
    if trace.error_type:
        return f"; {trace.error_type} is raised again"
    if trace.of_kind.witness:
        return f"; {trace.property} is reached again"
    if replay.still:
        return f"; {trace.property} is violated again"
    return f", a trace of {trace.property}"
