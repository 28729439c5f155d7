"""A trace as text: one line per step (actor · action · choices), what it changed below or beside
it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from textwrap import wrap
from typing import TYPE_CHECKING

from statewalk.checker.contract.search import DEADLOCK
from statewalk.checker.report.page import Page, Segment, plural
from statewalk.checker.states.content import Content, show_field
from statewalk.checker.states.diff import Change
from statewalk.checker.states.shortening import first_difference, fit, fit_in_lines, place, text_of
from statewalk.checker.traces.trace import label_parts, runs
from statewalk.dsl.model import CONTINUED
from statewalk.dsl.values.stored import ABSENT

if TYPE_CHECKING:
    from statewalk.checker.behaviours.replay import Replay
    from statewalk.checker.traces.trace import Trace


_WIDE = 120  # from this width on, changes stand beside the step
_BESIDE = 56  # the widest step that has changes beside it
_INDENT = 7


def trace_page(trace: Trace, *, width: int = 100, full: bool = False, first: bool = False) -> Page:
    """Return the steps of a trace; ``full`` shows each state whole. With ``first`` it begins in any
    state, which is shown whole.
    """
    page = Page(width)
    constants = " ".join(f"{n}={fit(v, 30)}" for n, v in trace.constants.items())
    start = f"init ({trace.initial + 1})" if trace.initial else "a state" if first else "init"
    page.flow(
        [_number(trace, 0), (start, "action"), "  "],
        [(c, "dim") for c in constants.split()],
        between=" ",
    )
    if full or first or not trace.steps:
        _state(page, trace, 0)
    labels = [label_parts(trace, step) for step in trace.steps]
    lengths = [sum(len(text) for text, _ in label) for label in labels]
    beside = width >= _WIDE and not full
    column = min(_BESIDE, max(lengths, default=0)) + _INDENT + 3
    for at, (step, changes) in enumerate(trace):
        head = [_number(trace, at + 1), *labels[at]]
        room = width - (column if beside else _INDENT + 2)
        lines = [line for change in changes for line in _change(change, room)]
        if not step.completed:
            said = f"{trace.error_type}: {trace.error}".rstrip(": ").replace("\n", " ⏎ ")
            lines = [[("! ", "bad"), (said, "bad")]]
        elif not lines:
            # where a run waits in a loop is not shown
            shown = " that is shown" if step.action.endswith(CONTINUED) else ""
            lines = [[(f"(changes nothing{shown})", "dim")]]
        if beside and lengths[at] + _INDENT + 3 <= column:
            page.add(*head, " " * (column - _INDENT - lengths[at]), *lines[0])
            rest, indent = lines[1:], column
        else:
            defined = f"   {place(step.file, step.line)}" if full and step.file else ""
            page.flow(head[:1], _broken([*head[1:], (defined, "dim")], width), between="")
            rest, indent = lines, column if beside else _INDENT + 2
        for line in rest:
            page.add(" " * indent, *line)
        if full and step.completed:
            _state(page, trace, at + 1)
    if trace.loop is not None:
        again = "stuttering" if trace.loop == trace.length else f"back to {trace.loop}"
        page.add(" " * 5, ("└─ ", "head"), (again, "head"))
    return page


def add_abstract(page: Page, trace: Trace) -> None:
    """For a refinement: the same way as the other spec sees it, and what that allows."""
    if (abstract := trace.abstract) is None:
        return
    page.blank()
    said = "which does not allow the last step" if trace.length else "which begins otherwise"
    if abstract.breaks:
        said = f"whose {abstract.breaks} it violates"
    page.add(f"  seen as {abstract.name}, {said}:")
    for number, found in abstract.seen:
        page.flow([(f"    {number:>3}  ", "dim")], list(map(str, found)), between="; ")
    if not abstract.seen and abstract.breaks:
        page.add("    (nothing changes)")
    if abstract.breaks:
        return
    if trace.length:
        page.add(f"  {abstract.name} allows there:")
    for text in abstract.allowed or ("nothing",):
        page.add(f"    {text}")


def props_page(trace: Trace, *, width: int = 100) -> Page:
    """Return where along a trace each property is true, and where false."""
    page = Page(width)
    if not trace.truths:
        page.add("  the trace says nothing of properties; make it again with statewalk check")
        return page
    page.add("  properties along the trace, by the number of the state")
    labels = {name: _label(name, trace) for name in trace.truths}
    column = min(max(map(len, labels.values())), 40)
    for name, truth in trace.truths.items():
        found = runs(truth)
        parts: list[Segment | str] = []
        for value, word in ((False, "false"), (True, "true")):
            if found[value]:
                parts.append(f"{word} at {', '.join(found[value])}")
        if None in truth[1:]:
            parts.append("raises elsewhere")
        page.flow([f"    {labels[name]:<{column}}  "], parts or ["no step to judge"])
    return page


def _label(name: str, trace: Trace) -> str:
    """Return what is true or false: of ``leads_to`` the conclusion; that there is no deadlock."""
    if name == DEADLOCK:
        return f"no {name}"
    return f"{name} (conclusion)" if f"{name} (premise)" in trace.truths else name


def _number(trace: Trace, at: int) -> Segment:
    """``!`` marks the last state of a counterexample."""
    last = at == trace.length and not trace.of_kind.witness
    return (f"{'!' if last else ' '}{at:>4}  ", "bad" if last else "dim")


def _broken(label: list[Segment], width: int) -> list[Segment]:
    """Return a label in pieces that can be broken into lines, where it is too long for one."""
    if sum(len(text) for text, _ in label) + _INDENT <= width:
        return label
    pieces = [(re.split(r"(?<=[ ,])(?=\S)", text), style) for text, style in label]
    return [(word, style) for words, style in pieces for word in words]


def _change(change: Change, room: int) -> list[list[Segment]]:
    """Return a change: mark, place, values; in more than one line where it has to be."""
    head: list[Segment] = [(f"{change.mark} ", change.mark), (change.place, ""), ("  ", "")]
    left = max(room - 4 - len(change.place), 24)
    if change.mark == "~":
        return _from_to(head, change, left, room)
    value = change.after if change.mark == "+" else change.before
    text = fit_in_lines(value, left, 3 * room - 20 - len(change.place))
    if len(text) <= left:
        return [[*head, (text, "")]]
    first, *rest = wrap(
        "\0" * min(len(change.place) + 4, room - 20) + text,
        room,
        subsequent_indent=" " * 6,
        break_long_words=False,
        break_on_hyphens=False,
    )
    lines: list[list[Segment]] = [[*head, (first.lstrip("\0"), "")]]
    return lines + [[(line, "")] for line in rest]


def _from_to(head: list[Segment], change: Change, left: int, room: int) -> list[list[Segment]]:
    """Return two values of a place, both with what changed: on one line, or below each other."""
    path = first_difference(change.before, change.after)
    before, after = text_of(change.before), text_of(change.after)
    if len(before) + len(after) + 3 <= left:
        return [[*head, (f"{before} → {after}", "")]]
    return [
        [*head, (fit(change.before, left, path), "")],
        [("    → ", "dim"), (fit(change.after, room - 6, path), "")],
    ]


def _state(page: Page, trace: Trace, at: int) -> None:
    """Every field of a state; and what it is in the spec that is refined."""
    _fields(page, trace.contents[at], trace.names)
    if trace.abstract is not None:
        page.add((" " * (_INDENT + 2), ""), (f"as {trace.abstract.name}", "dim"))
        _fields(page, trace.abstract.contents[at], {}, _INDENT + 4)


def _fields(
    page: Page, content: Content, short: Mapping[str, str], indent: int = _INDENT + 2
) -> None:
    names = {path: show_field(path, short) for path in content}
    column = min(max(map(len, names.values()), default=0), 40)
    for path, name in names.items():
        if content[path] is ABSENT:
            continue
        head = f"{' ' * indent}{name:<{column}}  "
        page.add((head, "dim"), fit(content[path], max(page.width - len(head), 60)))


_SHOWN = 10


def replay_page(replay: Replay, *, width: int = 100) -> Page:
    """Return the outcome of a replay: that it happened again, or where it parts and what
    differs there.
    """
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
    if trace.of_kind.witness and replay.still:
        return f"; {trace.property} is reached again"
    if replay.still:
        return f"; {trace.property} is violated again"
    return f", a trace of {trace.property}"
