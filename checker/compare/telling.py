"""The report of a comparison: on a page for people, or as Markdown for a proposal.

What is told is told once, in `_told`, to a `Sheet`: lines of a `Page`, or Markdown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from statewalk.checker.report.page import Page, number, plural
from statewalk.checker.report.trace import trace_page
from statewalk.checker.states.diff import changes
from statewalk.checker.states.shortening import first_difference, fit
from statewalk.checker.states.showing import place
from statewalk.checker.traces.labels import label_of
from statewalk.checker.verdict.evidence import Guard
from statewalk.dsl.model import WITNESS_KINDS

if TYPE_CHECKING:
    from statewalk.checker.compare.compare import (
        Changed,
        Comparison,
        Only,
        Refinement,
        Side,
        Versus,
    )
    from statewalk.checker.compare.crossing import Crossing
    from statewalk.checker.states.diff import Change
    from statewalk.checker.traces.trace import Trace
    from statewalk.checker.verdict.result import PropertyResult
    from statewalk.checker.verdict.run import Run

CHANGED: dict[Changed, str] = {
    "": "",
    "fixed": "fixed",
    "broken": "broken",
    "new": "new",
    "gone": "gone",
    "possible": "now possible",
    "impossible": "no longer possible",
}
_MOST = 12  # names in a line
_FEW = 4  # changes
_WIDTH = 40  # of a value


class Sheet(Protocol):
    """What a report is written to."""

    def head(self, text: str) -> None: ...
    def say(self, text: str) -> None: ...
    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None: ...
    def items(self, rows: Sequence[Sequence[str]]) -> None: ...
    def trace(self, trace: Trace) -> None: ...


@dataclass
class OnPage:
    """A sheet that is a page."""

    page: Page

    def head(self, text: str) -> None:
        """A title."""
        self.page.blank()
        self.page.add((text, "head"))

    def say(self, text: str) -> None:
        """A sentence."""
        self.page.words("  ", text)

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Rows below their heads."""
        self.page.blank()
        indented = [["", *row] for row in rows]
        self.page.table(["", *heads], indented, [True] * (len(heads) + 1))

    def items(self, rows: Sequence[Sequence[str]]) -> None:
        """A list of titles with what belongs to each below it."""
        for title, text in rows:
            self.page.words("    ", title, "action")
            self.page.words("      ", text)

    def trace(self, trace: Trace) -> None:
        """The steps of a trace."""
        self.page.blank()
        self.page.join(trace_page(trace, width=self.page.width))
        self.page.blank()


@dataclass
class Markdown:
    """A sheet that is Markdown."""

    lines: list[str] = field(default_factory=list)

    def head(self, text: str) -> None:
        """A title."""
        self.lines += [f"#### {_plain(text)}", ""]

    def say(self, text: str) -> None:
        """A paragraph."""
        self.lines += [_plain(text), ""]

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Rows below their heads."""
        for row in (heads, ["---"] * len(heads), *rows):
            self.lines.append("| " + " | ".join(_plain(c).replace("|", "\\|") for c in row) + " |")
        self.lines.append("")

    def items(self, rows: Sequence[Sequence[str]]) -> None:
        """A list."""
        self.lines += [f"- {_plain(title)}: {_plain(text)}" for title, text in rows] + [""]

    def trace(self, trace: Trace) -> None:
        """The steps of a trace, as they are printed."""
        self.lines += ["```", trace_page(trace, width=100).plain(), "```", ""]


def _plain(text: str) -> str:
    """A text that Markdown takes as it is, but for what is code already. Values of a spec in it are
    no HTML, no link, no picture, and call nobody.
    """
    parts = re.split(r"(`[^`]+`)", text)  # code at odd places
    parts[::2] = [_SPECIAL.sub(lambda found: _TAKEN[found[0]], p) for p in parts[::2]]
    return "".join(parts)


_TAKEN = {c: "\\" + c for c in "\\`*_[]~!"} | {"<": "&lt;", "&": "&amp;", "@": "@&#8203;"}
_SPECIAL = re.compile(f"[{re.escape(''.join(_TAKEN))}]")


def page_of(comparison: Comparison, again: str, *, width: int = 100) -> Page:
    """The report for a terminal; ``again`` is the command that repeats it."""
    page = Page(width)
    page.flow([("COMPARED", "head"), "  "], [side.name for side in comparison.sides])
    _told(comparison, again, OnPage(page))
    return page


def markdown_of(comparison: Comparison, again: str) -> str:
    """The report as Markdown."""
    sheet = Markdown()
    names = ", ".join(side.name for side in comparison.sides[1:])
    sheet.lines += [f"### {_plain(names)} beside {_plain(comparison.base.name)}", ""]
    _told(comparison, again, sheet)
    return "\n".join(sheet.lines).rstrip() + "\n"


def _told(comparison: Comparison, again: str, sheet: Sheet) -> None:
    sides = comparison.sides
    sheet.table(["", *(side.name for side in sides)], rows_of(comparison))
    for versus in comparison.others:
        base, other = comparison.base, versus.other
        if len(comparison.others) > 1:
            sheet.head(f"{other.name} beside {base.name}")
        for crossing in versus.crossed:
            _crossing(sheet, crossing, base, other)
        for crossing in versus.crossed_back:
            if crossing.trace.property not in {c.trace.property for c in versus.crossed}:
                _crossing(sheet, crossing, other, base)
        _refinements(sheet, versus, base)
        _only(sheet, versus.gained, other, base)
        _only(sheet, versus.lost, base, other)
        _cost(sheet, base.run, other)
        for bound in versus.bounds:
            sheet.say(f"Not whole: {bound}.")
    sheet.head("Again")
    sheet.say(f"`{again}`")


# -- verdicts --------------------------------------------------------------------------------


def rows_of(comparison: Comparison) -> list[list[str]]:
    """The table of a comparison: verdicts and sizes, a column for each side."""
    return [*_verdicts(comparison), *_sizes(comparison.sides)]


def _verdicts(comparison: Comparison) -> Iterator[list[str]]:
    """A row for each property: its verdict on each side."""
    from statewalk.checker.compare.compare import changed

    runs = [side.run for side in comparison.sides]
    for name in dict.fromkeys(p.name for run in runs for p in run.properties):
        row = [f"`{name}`"]
        for run in runs:
            found = next((p for p in run.properties if p.name == name), None)
            word = CHANGED[changed(runs[0], run, name)] if run is not runs[0] else ""
            row.append(f"{verdict_of(found)}{' · ' if word and found else ''}{word}")
        yield row


def verdict_of(found: PropertyResult | None) -> str:
    """The verdict on a property in words; empty where there is no such property."""
    if found is None:
        return ""
    at = f" at {found.length}" if found.length is not None else ""
    if found.verdict == "unknown":
        return "not decided"
    if found.kind in WITNESS_KINDS:
        return f"reached{at}" if found.verdict == "holds" else "not reached"
    vacuous = " (vacuously)" if found.vacuous else ""
    return f"violated{at}" if found.verdict == "violated" else f"holds{vacuous}"


def _sizes(sides: Sequence[Side]) -> Iterator[list[str]]:
    for name in ("distinct", "generated", "depth"):
        yield [name, *(number(getattr(side.run.counts, name)) for side in sides)]
    yield ["search", *("exhaustive" if side.run.exhaustive else "bounded" for side in sides)]


# -- counterexamples -------------------------------------------------------------------------


def _crossing(sheet: Sheet, crossing: Crossing, owner: Side, other: Side) -> None:
    """A counterexample of one, and what comes of it on the other."""
    trace = crossing.trace
    sheet.head(f"{trace.property} is violated with {owner.name}")
    sheet.trace(trace)
    for sentence in outcome_of(crossing, other):
        sheet.say(sentence)


def outcome_of(crossing: Crossing, other: Side) -> Iterator[str]:
    """What comes of a counterexample on the other side, in sentences."""
    if crossing.differs is not None:
        number, found = crossing.differs
        when = f"From step {number} on" if number else "From the beginning"
        yield f"{when} the state is another with {other.name}: {in_little(found)}."
    for step, text in crossing.otherwise[:1]:
        yield f"Step {step} is taken otherwise there: {text}."
    if crossing.step is None:
        broken = crossing.broken
        verb = "is" if len(broken) == 1 else "are"
        false = f"{', '.join(broken)} {verb} false" if broken else "no property is false"
        ends = "" if broken or not crossing.ends else f", but {in_little(crossing.ends)}"
        all_possible = f"All of its steps are possible with {other.name} too"
        yield f"{all_possible}; at the end {false} there{ends}."
    else:
        why = crossing.why or stopped_by(crossing.guard)
        yield f"With {other.name} step {crossing.step} is not possible: {why}."
    name = crossing.trace.property
    there = next((p for p in other.run.properties if p.name == name), None)
    if there is not None and there.verdict == "violated" and not crossing.broken:
        yield f"With {other.name} it is {verdict_of(there)} all the same, in another way."


def in_little(found: Sequence[Change]) -> str:
    """Changes in one sentence, the first of them."""
    shown = "; ".join(map(_short, found[:_FEW]))
    return shown if len(found) <= _FEW else f"{shown}; and {len(found) - _FEW} more"


def stopped_by(guard: Guard | None) -> str:
    """A guard with its values, in words."""
    if guard is None:
        return "nothing says why"
    values = f", with {guard.shown}" if guard.shown else ""
    where = f" ({place(guard.file, guard.line)})" if guard.file else ""
    return f"{guard.said}{' stops it' if guard.file else ''}{values}{where}"


# -- behaviours and states -------------------------------------------------------------------


def _refinements(sheet: Sheet, versus: Versus, base: Side) -> None:
    other = versus.other
    shown = list(dict.fromkeys(f"{owner}.{name}" for owner, _, name in versus.fields))
    more = f" and {len(shown) - _MOST} more" if len(shown) > _MOST else ""
    sheet.head("Behaviours")
    sheet.say(
        f"Seen through {', '.join(shown[:_MOST])}{more}; steps that change none of these are left "
        "out."
    )
    _refinement(sheet, versus.forth, other, base)
    _refinement(sheet, versus.back, base, other, after=versus.forth)


def _refinement(
    sheet: Sheet, found: Refinement, mine: Side, other: Side, after: Refinement | None = None
) -> None:
    """What one does that the other does not; the steps are not shown again where they are those of
    ``after``.
    """
    refusal = found.refusal
    if refusal is None:
        every = "Every behaviour" if found.whole else "So far as was looked, every behaviour"
        sheet.say(f"{every} of {mine.name} is one of {other.name}.")
        return
    trace = refusal.trace
    if not trace.length:
        sheet.say(f"{mine.name} begins in a state in which {other.name} does not.")
        sheet.trace(trace)
        return
    sure = "has not" if refusal.sure else "was not seen to have"
    known = after.refusal.trace if after is not None and after.refusal is not None else None
    if known is not None and _labels(known)[:-1] == _labels(trace)[:-1]:
        sheet.say(
            f"{mine.name} does what {other.name} {sure}: after the same "
            f"{plural(trace.length - 1, 'step')}, {label_of(trace, trace.steps[-1])}, which makes "
            f"{in_little(trace.diffs[-1])}."
        )
        return
    sheet.say(
        f"{mine.name} does what {other.name} {sure}: after {plural(trace.length - 1, 'step')}, "
        f"{label_of(trace, trace.steps[-1])}."
    )
    sheet.trace(trace)
    rows = [[label_of(t, t.steps[0]), _instead(trace, t)] for t in refusal.allowed[:_MOST]]
    if not rows:
        sheet.say(f"With {other.name} nothing is possible there.")
        return
    sheet.say(f"Possible with {other.name} there:")
    sheet.items(rows)


def _only(sheet: Sheet, only: Only, mine: Side, other: Side) -> None:
    if not only.sights:
        return
    sheet.head(f"States of {mine.name} alone")
    sheet.say(
        f"{plural(only.sights, 'state')} of {mine.name}, seen so, "
        f"{'is' if only.sights == 1 else 'are'} none of {other.name}. They begin with:"
    )
    rows = []
    for trace in only.nearest:
        last = label_of(trace, trace.steps[-1]) if trace.steps else "initial"
        rows.append([f"after {plural(trace.length, 'step')}, {last}", _news(trace)])
    sheet.items(rows)


def _news(trace: Trace) -> str:
    """What the last step changed."""
    return in_little(trace.diffs[-1]) if trace.diffs else ""


def _instead(trace: Trace, other: Trace) -> str:
    """What a step makes; where it is that at the end of a trace, in what the outcome differs."""
    if other.steps[0].label != trace.steps[-1].label:
        return _news(other)
    common = [path for path in trace.last if path in other.last]
    own, its = ({path: t.last[path] for path in common} for t in (trace, other))
    return f"the same but for {in_little([*changes(own, its, trace.names)])}"


def _short(change: Change) -> str:
    """A change with the parts of its values that matter."""
    if change.mark != "~":
        value = change.after if change.mark == "+" else change.before
        return f"{change.mark} {change.place} {fit(value, _WIDTH)}"
    path = first_difference(change.before, change.after)
    before, after = (fit(v, _WIDTH, path) for v in (change.before, change.after))
    return f"{change.place} {before} → {after}"


def _labels(trace: Trace) -> list[str]:
    return [step.label for step in trace.steps]


# -- cost ------------------------------------------------------------------------------------


def _cost(sheet: Sheet, base: Run, other: Side) -> None:
    """Actions that are new, gone or taken more or less often; the lengths of ways to witnesses."""
    before = Counter({a.name: a.fired for a in base.actions})
    after = Counter({a.name: a.fired for a in other.run.actions})
    told = [
        f"{name} {'happens' if after[name] else 'no longer happens'}"
        for name in dict.fromkeys([*before, *after])
        if (before[name] > 0) != (after[name] > 0)
    ]
    lengths = {p.name: p.length for p in base.properties if p.kind in WITNESS_KINDS}
    for found in other.run.properties:
        if found.kind in WITNESS_KINDS and None not in (found.length, lengths.get(found.name)):
            if found.length != lengths[found.name]:
                told.append(f"{found.name} takes {found.length} steps, not {lengths[found.name]}")
    fired = [f"{n} {number(before[n])} → {number(after[n])}"
             for n in before if n in after and before[n] != after[n]]  # fmt: skip
    if told or fired:
        sheet.head("Steps")
    if told:
        sheet.say("; ".join(told) + ".")
    if fired:
        sheet.say("Transitions: " + ", ".join(fired) + ".")
