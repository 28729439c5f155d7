"""The report of a comparison: on a page for people, or as Markdown for a proposal.

What is told is told once, in `_told`, to one of the `sheets`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from statewalk.checker.compare.sheets import Markdown, OnPage, Sheet, plain
from statewalk.checker.report.page import Page, number, plural
from statewalk.checker.states.diff import changes
from statewalk.checker.states.shortening import first_difference, fit, place
from statewalk.checker.traces.trace import label_of
from statewalk.checker.verdict.evidence import Guard

if TYPE_CHECKING:
    from statewalk.checker.compare.compare import (
        Changed,
        Comparison,
        Only,
        Refinement,
        Refusal,
        Side,
        Versus,
    )
    from statewalk.checker.compare.crossing import Crossing
    from statewalk.checker.states.diff import Change
    from statewalk.checker.traces.trace import Trace
    from statewalk.checker.verdict.run import PropertyResult

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
_NEAREST = 3  # states of one side only
_WIDTH = 40  # of a value


def page_of(comparison: Comparison, again: str, *, width: int = 100) -> Page:
    """Return the report for a terminal; ``again`` is the command that repeats it."""
    page = Page(width)
    page.flow([("COMPARED", "head"), "  "], [side.name for side in comparison.sides])
    _told(comparison, again, OnPage(page, _differing(comparison)))
    return page


def markdown_of(comparison: Comparison, again: str) -> str:
    """Return the report as Markdown."""
    sheet = Markdown(_differing(comparison))
    names = ", ".join(side.name for side in comparison.sides[1:])
    sheet.lines += [f"### {plain(names)} beside {plain(comparison.base.name)}", ""]
    _told(comparison, again, sheet)
    return "\n".join(sheet.lines).rstrip() + "\n"


def report_of(comparison: Comparison) -> str:
    """Return all that is said of a comparison, without the table."""
    page = Page(100)
    _said(comparison, OnPage(page, _differing(comparison)))
    return page.plain()


def _differing(comparison: Comparison) -> frozenset[str]:
    """Return the constants that are not the same on all sides."""
    given = [side.run.constants for side in comparison.sides]
    names = set().union(*given)
    return frozenset(n for n in names if len({repr(c.get(n)) for c in given}) > 1)


def _told(comparison: Comparison, again: str, sheet: Sheet) -> None:
    sides = comparison.sides
    sheet.table(["", *(side.name for side in sides)], rows_of(comparison))
    _said(comparison, sheet)
    if again:
        sheet.head("Command")
        sheet.say(f"`{again}`")


def _said(comparison: Comparison, sheet: Sheet) -> None:
    """All but the table."""
    if comparison.left:
        sheet.head("Not compared")
    for sentence in comparison.left:
        sheet.say(sentence)
    for versus in comparison.others:
        base, other = comparison.base, versus.other
        if len(comparison.others) > 1:
            sheet.head(f"{other.name} beside {base.name}")
        _crossings(sheet, versus.crossed, base, other)
        told = {c.trace.property for c in versus.crossed}
        back = [c for c in versus.crossed_back if c.trace.property not in told]
        _crossings(sheet, back, other, base)
        for bound in versus.bounds:
            sheet.say(f"Incomplete: {bound}.")
        if versus.fields:
            _refinements(sheet, versus, base)
        _only(sheet, versus.gained, other, base, whole=not versus.bounds)
        _only(sheet, versus.lost, base, other, whole=not versus.bounds)
        _cost(sheet, base, other)
        if found := comparison.known.get(other.name):
            sheet.head("Configurations")
            for sentence in found:
                sheet.say(sentence)


# -- verdicts --------------------------------------------------------------------------------


def rows_of(comparison: Comparison) -> list[list[str]]:
    """Return the table of a comparison: verdicts and sizes, a column for each side."""
    return [*_verdicts(comparison), *_sizes(comparison.sides)]


def _verdicts(comparison: Comparison) -> Iterator[list[str]]:
    """Yield a row for each property: its verdict on each side."""
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
    """Return the verdict on a property in words; empty where there is no such property."""
    if found is None:
        return ""
    at = f" at {found.length}" if found.length is not None else ""
    if found.verdict == "unknown":
        return "not decided"
    if found.of_kind.witness:
        return f"reached{at}" if found.verdict == "holds" else "not reached"
    vacuous = " (vacuously)" if found.vacuous else ""
    return f"violated{at}" if found.verdict == "violated" else f"holds{vacuous}"


def _sizes(sides: Sequence[Side]) -> Iterator[list[str]]:
    for name in ("distinct", "generated", "depth"):
        yield [name, *(number(getattr(side.run.counts, name)) for side in sides)]
    yield ["search", *("exhaustive" if side.run.exhaustive else "bounded" for side in sides)]


# -- counterexamples -------------------------------------------------------------------------


def _crossings(sheet: Sheet, crossings: Sequence[Crossing], owner: Side, other: Side) -> None:
    """The counterexamples of one; properties that the same steps refute are told together."""
    alike: dict[tuple[object, ...], list[Crossing]] = {}
    for crossing in crossings:
        trace = crossing.trace
        key = (*_begins(trace), trace.loop, crossing.step, crossing.broken)
        alike.setdefault(key, []).append(crossing)
    for group in alike.values():
        _crossing(sheet, group[0], [c.trace.property for c in group], owner, other)


def _crossing(
    sheet: Sheet, crossing: Crossing, names: Sequence[str], owner: Side, other: Side
) -> None:
    """A counterexample of one to some properties, and what comes of it on the other."""
    trace = crossing.trace
    are = "is" if len(names) == 1 else "are"
    sheet.head(f"{', '.join(names)} {are} violated with {owner.name}")
    sheet.trace(trace)
    for sentence in outcome_of(crossing, other, names):
        sheet.say(sentence)


def outcome_of(crossing: Crossing, other: Side, names: Sequence[str] = ()) -> Iterator[str]:
    """Yield what comes of a counterexample on the other side, in sentences; of all that it is one
    to.
    """
    trace = crossing.trace
    if crossing.differs is not None:
        number, found = crossing.differs
        when = f"From step {number} on" if number else "From the initial state on"
        yield f"{when}, {other.name} is in a different state: {_there(found)}."
    for step, text in crossing.otherwise[:1]:
        yield f"{other.name} takes step {step} with other choices: {text}."
    if crossing.step is None:
        broken = crossing.broken
        verb = "is" if len(broken) == 1 else "are"
        kind = "invariant" if trace.of_kind.liveness else "property"
        false = f"{', '.join(broken)} {verb} violated" if broken else f"no {kind} is violated"
        known = broken or (crossing.differs and crossing.differs[0] == trace.length)
        yield f"All steps of the trace are enabled with {other.name} too."
        of = f" of the {crossing.most} paths followed" if crossing.most and not broken else ""
        yield f"At the end{of}, {false}."
        if crossing.ends and not known:
            yield f"The last state differs: {_there(crossing.ends)}."
        if crossing.goes_on:
            yield f"{other.name} then continues with {', '.join(crossing.goes_on)}."
    else:
        why = crossing.why or stopped_by(crossing.guard)
        if crossing.broken:
            yield f"With {other.name} step {crossing.step} violates {crossing.broken[0]}: {why}."
        elif crossing.most:
            yield (
                f"Step {crossing.step} may be disabled with {other.name}. Only {crossing.most} "
                "paths to this step were followed; on one of them it is disabled: "
                f"{why}."
            )
        else:
            yield f"With {other.name} step {crossing.step} is disabled: {why}."
    for prop in other.run.properties:
        named = prop.name in (names or (trace.property,))
        if named and prop.verdict == "violated" and not crossing.broken:
            said = f"{prop.name} is {verdict_of(prop)} by another trace"
            yield f"With {other.name} {said}."


def in_little(found: Sequence[Change]) -> str:
    """Return changes in one sentence, the first of them."""
    shown = "; ".join(map(_short, found[:_FEW]))
    return shown if len(found) <= _FEW else f"{shown}; and {len(found) - _FEW} more"


def _there(found: Sequence[Change]) -> str:
    """Return in what the other side's state differs, in one sentence."""
    shown = "; ".join(map(_apart, found[:_FEW]))
    return shown if len(found) <= _FEW else f"{shown}; and {len(found) - _FEW} more"


def _apart(change: Change) -> str:
    if change.element or change.shifting:
        value = fit(change.after if change.mark == "+" else change.before, _WIDTH)
        whole = re.sub(r"\[\d+]$", "", change.place) if change.shifting else change.place
        verb = "also has" if change.mark == "+" else "lacks"
        return f"{whole} {verb} the value {value}"
    if change.mark == "+":
        return f"{change.place} is {fit(change.after, _WIDTH)}, not absent"
    if change.mark == "-":
        return f"{change.place} is absent, not {fit(change.before, _WIDTH)}"
    path = first_difference(change.before, change.after)
    here, there = (fit(v, _WIDTH, path) for v in (change.before, change.after))
    return f"{change.place} is {there}, not {here}"


def stopped_by(guard: Guard | None) -> str:
    """Return a guard with its values, in words."""
    if guard is None:
        return "the reason is unknown"
    values = f", with {guard.shown}" if guard.shown else ""
    where = f" ({place(guard.file, guard.line)})" if guard.file else ""
    stops = f" {guard.fails}" if guard.file and not guard.idle else ""
    return f"{guard.said}{stops}{values}{where}"


# -- behaviors and states -------------------------------------------------------------------


def _refinements(sheet: Sheet, versus: Versus, base: Side) -> None:
    other = versus.other
    shown = list(dict.fromkeys(f"{owner}.{name}" for owner, _, name in versus.fields))
    if len(shown) > _MOST:
        roles = dict.fromkeys(str(owner) for owner, _, _ in versus.fields)
        shown = [f"{len(shown)} fields of {', '.join(roles)}"]
    sheet.head("Behaviors")
    fields = ", ".join(shown)
    sheet.say(f"Fields compared: {fields}. Steps that change none of them are stuttering.")
    if versus.apart:
        more = " …" if len(versus.apart) > _MOST else ""
        sheet.say(f"Not compared, as only one has them: {', '.join(versus.apart[:_MOST])}{more}.")
    _refinement(sheet, versus.forth, other, base)
    _refinement(sheet, versus.back, base, other, after=versus.forth)


def _refinement(
    sheet: Sheet, found: Refinement, mine: Side, other: Side, after: Refinement | None = None
) -> None:
    """Tell the steps that only one side has; the steps are not shown again where they are
    those of ``after``.
    """
    refusal = found.refusal
    if refusal is None:
        every = "Every behavior" if found.whole else "As far as was searched, every behavior"
        sheet.say(f"{every} of {mine.name} is one of {other.name}.")
        return
    trace = refusal.trace
    if not trace.length:
        sheet.say(f"{mine.name} has an initial state that {other.name} {has_not(refusal)}.")
        sheet.trace(trace)
        return
    known = after.refusal.trace if after is not None and after.refusal is not None else None
    again = known is not None and _begins(known)[:-1] == _begins(trace)[:-1]
    length, last = trace.length, label_of(trace, trace.steps[-1])
    sheet.say(
        f"{mine.name} has a behavior that {other.name} {has_not(refusal)}: "
        f"{f'the same up to step {length - 1}, then' if again else f'no match for step {length},'} "
        f"{last}.{f' Its changes: {in_little(trace.diffs[-1])}.' if again else ''}"
    )
    if again:
        return
    sheet.trace(trace)
    rows = [[label_of(t, t.steps[0]), _instead(trace, t)] for t in refusal.allowed[:_MOST]]
    if not rows:
        none = "has no step" if refusal.sure else "was not seen to have a step"
        sheet.say(f"{other.name} {none} here that changes a compared field.")
        return
    sheet.say(f"Steps of {other.name} at this point:")
    sheet.items(rows)


def has_not(refusal: Refusal) -> str:
    """Return the verb of a model that has a step not, as far as is known."""
    return "does not have" if refusal.sure else "was not seen to have"


def _only(sheet: Sheet, only: Only, mine: Side, other: Side, *, whole: bool) -> None:
    if not only.sights:
        return
    sheet.head(f"States of {mine.name} only")
    nearest = only.nearest[:_NEAREST]
    first = "The first" if len(nearest) == 1 else f"The first {len(nearest)}"
    differ = "differs" if only.sights == 1 else "differ"
    sheet.say(
        f"{plural(only.sights, 'state')} of {mine.name} {differ} from every state "
        f"{'' if whole else 'searched '}of {other.name} in the fields compared"
        f"{f'. {first}:' if len(nearest) < only.sights else ':'}"
    )
    rows = []
    for trace in nearest:
        last = label_of(trace, trace.steps[-1]) if trace.steps else ""
        rows.append([f"after step {trace.length}, {last}" if last else "initial", _news(trace)])
    sheet.items(rows)


def _news(trace: Trace) -> str:
    """Return what the last step changed."""
    return in_little(trace.diffs[-1]) if trace.diffs else ""


def _instead(trace: Trace, other: Trace) -> str:
    """Return what a step makes; where it is that at the end of a trace, in what the outcome
    differs.
    """
    if other.steps[0].label != trace.steps[-1].label:
        return _news(other)
    common = [path for path in trace.last if path in other.last]
    own, its = ({path: t.last[path] for path in common} for t in (trace, other))
    return f"the same, except {_there([*changes(own, its, trace.names)])}"


def _short(change: Change) -> str:
    """Return a change with the parts of its values that matter."""
    if change.mark != "~":
        value = change.after if change.mark == "+" else change.before
        return f"{change.mark} {change.place} {fit(value, _WIDTH)}"
    path = first_difference(change.before, change.after)
    before, after = (fit(v, _WIDTH, path) for v in (change.before, change.after))
    return f"{change.place} {before} → {after}"


def _begins(trace: Trace) -> list[object]:
    """Return where a trace begins, and its steps."""
    return [trace.initial, *(step.label for step in trace.steps)]


# -- cost ------------------------------------------------------------------------------------


def _cost(sheet: Sheet, side: Side, other: Side) -> None:
    """Actions that fire on one side only or less often, and steps to witnesses."""
    base, base_name = side.run, side.name
    before, after = _fired(side, other), _fired(other, side)
    told = []
    for name, mine, its in ((base_name, before, after), (other.name, after, before)):
        alone = [action for action in mine if mine[action] and not its[action]]
        told += [f"Fired only with {name}: {', '.join(alone)}."] if alone else []
    lengths = {p.name: p.length for p in base.properties if p.of_kind.witness}
    for found in other.run.properties:
        if found.of_kind.witness and None not in (found.length, lengths.get(found.name)):
            if found.length != lengths[found.name]:
                told.append(f"Steps to {found.name}: {lengths[found.name]} → {found.length}.")
    fired = [f"{n} {number(before[n])} → {number(after[n])}"
             for n in before if n in after and before[n] != after[n]]  # fmt: skip
    if told or fired:
        sheet.head("Actions")
    if told and not (base.exhaustive and other.run.exhaustive):
        sheet.say("As far as was searched:")
    for sentence in told:
        sheet.say(sentence)
    if fired:
        sheet.say("Transitions: " + ", ".join(fired) + ".")


def _fired(side: Side, other: Side) -> Counter[str]:
    """Return how often the actions of a side fired, by names that tell them from the other's."""
    own, apart = side.model.action_names(), side.model.action_names(other.model)
    names = {own[at]: apart[at] for at in own}
    return Counter({names[a.name]: a.fired for a in side.run.actions})
