"""A step of a trace on one line, as reports show it and a steps file may name it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from statewalk.checker.states.content import choice_text
from statewalk.checker.states.shortening import fit, fit_in_lines

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace, TraceStep

_LABEL, _ONLY = 240, 60  # characters of a choice, and of one that had no other option
Part = tuple[str, str]
"""A text, and what it is: "actor", "action", or anything else ("")."""


def label_of(trace: Trace, step: TraceStep) -> str:
    """A step on one line."""
    return "".join(text for text, _ in label_parts(trace, step))


def label_parts(trace: Trace, step: TraceStep) -> list[Part]:
    """The parts of a step's line."""
    parts: list[Part] = []
    actor = "" if step.actor is None else repr(step.actor)
    if actor := trace.names.get(actor.partition("#")[0], actor):
        parts += [(actor, "actor"), (" · ", "dim")]
    arguments = ", ".join(f"{n}={_chosen(v)}" for n, v in step.arguments)
    parts.append((step.action, "action"))
    if arguments:
        parts.append((f"({arguments})", ""))
    chosen = [choice_text(c.name, _chosen(c.value)) for c in step.choices]
    chosen += [choice_text(c.name, fit(c.value, _ONLY)) for c in step.only]
    if chosen:
        parts += [(" · ", "dim"), (", ".join(chosen), "")]
    return parts


def _chosen(value: Any) -> str:
    """What tells a step from others: broken into lines later rather than cut."""
    return fit_in_lines(value, _ONLY, _LABEL)
