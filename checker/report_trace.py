"""A trace as text: one line per step (actor · action · choices), what it changed below or beside
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.content import show_field
from checker.diff import Change
from checker.report_page import Page, Segment, place, shorten, show
from checker.showing import text_of
from checker.truths import runs
from dsl.values import ABSENT

if TYPE_CHECKING:
    from checker.trace import Trace, TraceStep

_WIDE = 120  # from this width on, changes stand beside the step
_BESIDE = 56  # the widest step that has changes beside it
_INDENT = 7


def trace_page(trace: Trace, *, width: int = 100, full: bool = False) -> Page:
    """The steps of a trace; ``full`` shows each state whole after it."""
    page = Page(width)
    constants = " ".join(f"{n}={show(v, 30)}" for n, v in trace.constants.items())
    start = f"init ({trace.initial + 1})" if trace.initial else "init"
    page.flow(
        [_number(trace, 0), (start, "action"), "  "],
        [(c, "dim") for c in constants.split()],
        between=" ",
    )
    if full or not trace.steps:
        _state(page, trace, 0)
    labels = [_label(trace, step) for step in trace.steps]
    lengths = [sum(len(text) for text, _ in label) for label in labels]
    beside = width >= _WIDE and not full
    column = min(_BESIDE, max(lengths, default=0)) + _INDENT + 3
    for at, (step, changes) in enumerate(trace):
        head = [_number(trace, at + 1), *labels[at]]
        lines = [_change(c, width - (column if beside else _INDENT + 2)) for c in changes]
        if not step.completed:
            lines = [[("! ", "bad"), (f"{trace.error_type}: {trace.error}".rstrip(": "), "bad")]]
        elif not lines:
            lines = [[("(changes nothing)", "dim")]]
        if beside and lengths[at] + _INDENT + 3 <= column:
            page.add(*head, " " * (column - _INDENT - lengths[at]), *lines[0])
            rest, indent = lines[1:], column
        else:
            defined = f"   {place(step.file, step.line)}" if full and step.file else ""
            page.add(*head, (defined, "dim"))
            rest, indent = lines, column if beside else _INDENT + 2
        for line in rest:
            page.add(" " * indent, *line)
        if full and step.completed:
            _state(page, trace, at + 1)
    if trace.loop is not None:
        again = (
            "nothing happens any more" if trace.loop == trace.length else f"back to {trace.loop}"
        )
        page.add(" " * 5, ("└─ ", "head"), (again, "head"))
    return page


def props_page(trace: Trace, *, width: int = 100) -> Page:
    """Where along a trace each property is true, and where false."""
    page = Page(width)
    if not trace.truths:
        page.add("  the trace says nothing of properties; make it again with statewalk check")
        return page
    page.add("  properties along the trace, by the number of the state")
    column = min(max(map(len, trace.truths)), 40)
    for name, truth in trace.truths.items():
        found = runs(truth)
        parts: list[Segment | str] = []
        for value, word in ((False, "false"), (True, "true")):
            if found[value]:
                parts.append(f"{word} at {', '.join(found[value])}")
        if None in truth[1:]:
            parts.append("raises elsewhere")
        page.flow([f"    {name:<{column}}  "], parts or ["no step to judge"])
    return page


def _number(trace: Trace, at: int) -> Segment:
    """``!`` marks the last state of a counterexample."""
    last = at == trace.length and trace.kind != "exists"
    return (f"{'!' if last else ' '}{at:>4}  ", "bad" if last else "dim")


def label_of(trace: Trace, step: TraceStep) -> str:
    """A step as the page of a trace shows it."""
    return "".join(text for text, _ in _label(trace, step))


def _label(trace: Trace, step: TraceStep) -> list[Segment]:
    parts: list[Segment] = []
    actor = "" if step.actor is None else repr(step.actor)
    if actor := trace.names.get(actor.partition("#")[0], actor):
        parts += [(actor, "actor"), (" · ", "dim")]
    arguments = ", ".join(f"{n}={show(v, 40)}" for n, v in step.arguments)
    parts.append((step.action, "action"))
    if arguments:
        parts.append((f"({arguments})", ""))
    if step.choices:
        chosen = ", ".join(
            f"{c.name}={show(c.value)}" if c.name else show(c.value) for c in step.choices
        )
        parts += [(" · ", "dim"), (chosen, "")]
    return parts


def _change(change: Change, room: int) -> list[Segment]:
    """A change on one line: mark, place, values."""
    room = max(room - 2 - len(change.place), 24)
    if change.mark == "~":
        before, after = text_of(change.before), text_of(change.after)
        half = room // 2 - 2  # what one side does not need is the other's
        left = max(half, room - 3 - len(after))
        right = max(half, room - 3 - len(before))
        values = f"{shorten(before, left)} → {shorten(after, right)}"
    else:
        value = change.after if change.mark == "+" else change.before
        values = show(value, room - 2)
    return [(f"{change.mark} ", change.mark), (change.place, ""), ("  ", ""), (values, "")]


def _state(page: Page, trace: Trace, at: int) -> None:
    """Every field of a state."""
    content = trace.contents[at]
    names = {path: show_field(path, trace.names) for path in content}
    column = min(max(map(len, names.values()), default=0), 40)
    for path, name in names.items():
        if content[path] is ABSENT:
            continue
        head = f"{' ' * (_INDENT + 2)}{name:<{column}}  "
        page.add((head, "dim"), shorten(text_of(content[path]), max(page.width - len(head), 60)))
