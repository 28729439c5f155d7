"""The report of a check: first what is wrong and how it comes about, then what the verdict rests
on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from checker.evidence import Evidence, Failure, NeverFired, Violation
from checker.report_page import Page, Segment, number, plural, seconds, show
from checker.report_terms import kind_word, summary
from checker.report_trace import trace_page
from checker.spec_text import line_of

if TYPE_CHECKING:
    from checker.explain import Explanation
    from checker.result import Result
    from dsl.errors import Span

_COLUMN = 14
_MAX_NOT_TAKEN = 8
_MAX_GUARDS = 8
_LEVELS = "▁▂▃▄▅▆▇█"


def report(result: Result, *, width: int = 100) -> Page:
    """The report of a result, for a width."""
    page = Page(width)
    evidence = result.evidence or Evidence()
    if evidence.failure is not None:
        _failure(page, result, evidence.failure)
    for violation in evidence.violations:
        page.blank()
        _violation(page, result, evidence, violation)
    page.blank()
    _headline(page, result, evidence)
    _evidence(page, result, evidence)
    return page


# -- what is wrong -------------------------------------------------------------------------


def _violation(page: Page, result: Result, evidence: Evidence, violation: Violation) -> None:
    trace = violation.trace
    way = f"after {plural(trace.length, 'step')}" if trace.length else "in an initial state"
    if trace.loop is None:
        way += ", the shortest way" if trace.length else ""
    elif trace.loop < trace.length:
        again = plural(trace.length - trace.loop, "step")
        way = f"{plural(trace.loop, 'step')}, then {again} for ever"
    else:
        way += ", where nothing happens any more"
    page.add(
        ("VIOLATED", "bad"),
        "  ",
        (violation.property, "head"),
        f"  ({kind_word(violation.kind)})  {way}",
    )
    if violation.doc:
        page.words("  ", violation.doc.split("\n\n")[0], "dim")
    if violation.explanation is not None:
        _explanation(page, violation.explanation)
    elif violation.span is not None:
        page.add(f"  {violation.span.file}:{violation.span.line}")
    _blocked(page, violation)
    page.blank()
    page.join(trace_page(trace, width=page.width))
    _not_taken(page, violation)
    page.blank()
    _files(page, result, violation.property)


def _not_taken(page: Page, violation: Violation) -> None:
    """For a lasso: what is enabled on the cycle and never taken."""
    if not violation.not_taken:
        return
    where = "there" if violation.trace.loop == violation.trace.length else "on the cycle"
    page.blank()
    page.add(f"  possible {where}, and never taken:")
    for text in violation.not_taken[:_MAX_NOT_TAKEN]:
        page.add(f"    {text}")
    if len(violation.not_taken) > _MAX_NOT_TAKEN:
        page.add(f"    and {len(violation.not_taken) - _MAX_NOT_TAKEN} more")


def _blocked(page: Page, violation: Violation) -> None:
    """For a deadlock: no action is possible, and what stops each; alike ones together."""
    if not violation.blocked:
        return
    page.add("  no action is possible in the last state:")
    groups: dict[Span | None, list[str]] = {}
    for label, span in violation.blocked:
        groups.setdefault(span, []).append(label)
    for span, labels in list(groups.items())[:_MAX_GUARDS]:
        more = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
        guard = f"`{line_of(span.file, span.line)}`" if span else "it raises an exception"
        where = f"   {span.file}:{span.line}" if span else ""
        page.add("    ", labels[0] + more, "  ", (guard, "head"), (where, "dim"))
    if len(groups) > _MAX_GUARDS:
        page.add(f"    and {plural(len(groups) - _MAX_GUARDS, 'more guard')}")


def _explanation(page: Page, explanation: Explanation) -> None:
    for depth, layer in enumerate(explanation.layers):
        indent = "  " * (depth + 1)
        said = "is true" if layer.truth else "is false"
        where = f"   {layer.span.file}:{layer.span.line}" if layer.span else ""
        text = show_text(layer.text, page.width - len(indent) - len(said) - 2)
        page.add(indent, (text, "head"), f"  {said}", (where, "dim"))
        items = [f"{n} = {show(v)}" for n, v in (*layer.bindings, *layer.values)]
        if items:
            page.flow([f"{indent}    "], items)


def show_text(text: str, limit: int) -> str:
    """A piece of the spec's text on one line, elided at the end."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: max(20, limit - 1)] + "…"


def _failure(page: Page, result: Result, failure: Failure) -> None:
    page.words(("ERROR     ", "bad"), failure.title, "head")
    if failure.where:
        page.add(f"  {failure.where}")
    for span in failure.frames:
        page.add(f"  {span.file}:{span.line}")
        for line in span.excerpt()[:1]:
            page.add(("  " + line, "dim"))
    for text in (failure.why, failure.help):
        if text:
            page.words("  ", text)
    page.blank()
    page.join(trace_page(failure.trace, width=page.width))
    page.blank()
    _files(page, result, failure.trace.property)


def _files(page: Page, result: Result, name: str) -> None:
    """The commands that continue from a trace."""
    file = next((p.trace for p in result.properties if p.name == name), None)
    if file is None:
        return
    page.add(("  replay   ", "dim"), f"statewalk replay {quoted(file)}")
    page.add(("  look     ", "dim"), f"statewalk show {quoted(file)} --full")


def quoted(file: str) -> str:
    """A file name as a shell wants it."""
    from shlex import quote

    return quote(file)


# -- the verdict ---------------------------------------------------------------------------


def _headline(page: Page, result: Result, evidence: Evidence) -> None:
    reached = len(evidence.witnesses)
    wanted = reached + len(evidence.unreached)
    wanted += sum(p.kind == "exists" and p.verdict == "unknown" for p in result.properties)
    checked = [
        p for p in result.properties if p.verdict != "unknown" or result.verdict == "bounded"
    ]
    words = summary(p.kind for p in checked if p.name not in dict(evidence.unchecked))
    witnesses = [f"{reached}/{wanted} witnesses"] if wanted else []
    if result.verdict == "holds":
        head: Segment = ("HOLDS", "good")
        items = [*words, *witnesses, "exhaustive"]
    elif result.verdict == "bounded":
        head = ("NO VIOLATION FOUND", "warn")
        items = [
            f"bounded by {', '.join(evidence.bounds) or 'what could be checked'}",
            *words,
            *witnesses,
        ]
    elif result.verdict == "violated":
        head = ("VIOLATED", "bad")
        items = [p.name for p in result.properties if p.verdict == "violated"]
    else:
        head = ("ERROR", "bad")
        items = ["the spec raised an exception, the search stopped there"]
    page.flow([head, "  "], [i if result.verdict != "violated" else (i, "head") for i in items])


def _evidence(page: Page, result: Result, evidence: Evidence) -> None:
    counts = result.counts
    sizes = [
        plural(counts.distinct, "distinct state"),
        f"{number(counts.generated)} generated",
        f"depth {counts.depth}",
        seconds(result.seconds),
    ]
    if counts.fizzbee_unique is not None:
        sizes.insert(1, f"{number(counts.fizzbee_unique)} unique as Fizzbee counts")
    if evidence.queue:
        sizes.append(f"{number(evidence.queue)} left to expand")
    if evidence.stopped == "violation":
        sizes.append("stopped at the violation (--keep-going searches on)")
    _row(page, "searched", [*sizes, *_sparkline(evidence)])
    _row(page, "unchecked", [(f"{name} ({why})", "warn") for name, why in evidence.unchecked])
    _actions(page, result, evidence)
    _witnesses(page, result, evidence)
    _row(
        page,
        "vacuous",
        [
            (f"{p.name} (nothing began to violate it)", "warn")
            for p in result.properties
            if p.vacuous
        ],
    )
    _row(page, "cut", [f"{name} refused {number(count)}" for name, count in evidence.cut.items()])
    _row(page, "view", [f"hides {name}" for name in evidence.hidden])
    _row(page, "symmetry", [f"equal instances of {name} merged" for name in evidence.symmetry])
    _row(
        page,
        "fairness",
        [f"{kind}: {', '.join(names)}" for kind, names in evidence.fairness.items()],
    )
    _row(
        page, "constants", [f"{n}={show(v, 40)}" for n, v in result.constants.items()], between=" "
    )
    _row(page, "engine", [result.engine, _collision(evidence)])
    _row(page, "expected", _expected(result, evidence))
    for name, text in _other_warnings(result, evidence):
        page.words((f"  {name:<{_COLUMN - 2}}", "warn"), text)
    if evidence.folder:
        _row(page, "run", [evidence.folder])


def _row(page: Page, name: str, items: Sequence[Segment | str], between: str = " · ") -> None:
    if items:
        page.flow([(f"  {name:<{_COLUMN - 2}}", "dim")], items, between=between)


def _sparkline(evidence: Evidence) -> list[str]:
    """The sizes of the levels as little bars; most when there are many levels."""
    if len(evidence.levels) < 4:
        return []
    levels, columns = evidence.levels, 16
    size = -(-len(levels) // columns)
    groups = [max(levels[i : i + size]) for i in range(0, len(levels), size)]
    most = max(groups)
    return ["levels " + "".join(_LEVELS[(g * 7 + most - 1) // most] for g in groups)]


def _actions(page: Page, result: Result, evidence: Evidence) -> None:
    if not result.actions:
        return
    fired = [f"{a.name} {number(a.fired)}" for a in result.actions if a.fired]
    _row(page, "actions", [f"{len(fired)} of {len(result.actions)} fired", *fired])
    for action in evidence.never:
        page.words((f"  {'never':<{_COLUMN - 2}}", "warn"), never_text(action))


def never_text(action: NeverFired) -> str:
    """Why an action never fired, as far as is known."""
    where = f" ({action.span.file}:{action.line})" if action.span and action.line else ""
    if not action.guard:
        return f"{action.name} never fired"
    scope = "every" if action.all_states else f"each of the first {number(action.states)}"
    noun = "state" if action.all_states else "states"
    return f"{action.name}: `{action.guard}`{where} stopped it in {scope} {noun}"


def _witnesses(page: Page, result: Result, evidence: Evidence) -> None:
    _row(page, "witnesses", [f"{name} at {length}" for name, length in evidence.witnesses])
    _row(
        page,
        "unreached",
        [(f"{name}: no state like this is reachable", "bad") for name in evidence.unreached],
    )
    known = {*evidence.unreached, *dict(evidence.witnesses)}
    unseen = [p.name for p in result.properties if p.kind == "exists" and p.name not in known]
    _row(page, "not reached", [(f"{name} (so far)", "warn") for name in unseen])


def _collision(evidence: Evidence) -> str:
    if evidence.collision is None:
        return "states compared whole, none can be missed"
    return f"P(a state was missed by a collision) < {max(evidence.collision, 1e-19):.0e}"


def _expected(result: Result, evidence: Evidence) -> list[Segment | str]:
    if evidence.expectation is None:
        return []
    if result.as_expected:
        return [("as expected", "good")]
    if result.as_expected is None:
        return [("cannot be told: not everything it names was checked", "warn")]
    return [(text, "bad") for text in evidence.unexpected]


def _other_warnings(result: Result, evidence: Evidence) -> list[tuple[str, str]]:
    """The warnings that no row of their own shows."""
    shown = {f"{n}: {why}" for n, why in evidence.unchecked}
    if evidence.failure is not None:
        shown.update(result.warnings[:1])
    return [
        ("warning", w)
        for w in result.warnings
        if w not in shown and not w.startswith(("never fired: ", "bounded: ", "vacuous: "))
    ]
