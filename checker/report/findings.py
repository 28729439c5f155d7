"""What a report says of each finding: what is false, with its values, and how it comes about."""

from __future__ import annotations

from itertools import combinations
from shlex import quote
from typing import TYPE_CHECKING

from statewalk.checker.report.page import Page, plural
from statewalk.checker.report.trace import add_abstract, props_page, trace_page
from statewalk.checker.states.diff import between
from statewalk.checker.states.shortening import Steps, cut, first_difference, fit
from statewalk.checker.states.showing import place, text_of
from statewalk.checker.verdict.evidence import Failure, Guard, Violation
from statewalk.dsl.values.stored import freeze

if TYPE_CHECKING:
    from statewalk.checker.verdict.explain import Explanation, Values
    from statewalk.checker.verdict.result import Result
    from statewalk.dsl.model import Dialect

_MAX_GUARDS = 8
_MAX_NOT_TAKEN = 8
_STOPPING: dict[Dialect, str] = {
    "python": "If stopping here is right, say so with a @terminal predicate; if anywhere is, with "
    "deadlock(False).",
    "fizz": "If stopping is right, say deadlock_detection: false in the options.",
}


def show_violation(
    page: Page,
    result: Result,
    violation: Violation,
    *,
    props: bool = False,
    shortest: bool = True,
) -> None:
    """A violated property: what is false, the trace, and the commands that continue from it.

    ``props`` adds what every property says along the trace; ``shortest`` says that there is no
    shorter one.
    """
    trace = violation.trace
    way = f"after {plural(trace.length, 'step')}" if trace.length else "in an initial state"
    if trace.loop is None:
        way += ", the shortest way" if trace.length and shortest else ""
    elif trace.loop < trace.length:
        again = plural(trace.length - trace.loop, "step")
        way = f"{plural(trace.loop, 'step')}, then {again} for ever"
    else:
        way += ", where nothing happens any more"
    page.flow(
        [("VIOLATED", "bad"), "  "],
        [(violation.property, "head"), f"({violation.of_kind.word})", way],
        between="  ",
    )
    _false(page, violation)
    page.blank()
    page.join(trace_page(trace, width=page.width))
    _not_taken(page, violation)
    add_abstract(page, violation.trace)
    if props:
        page.blank()
        page.join(props_page(trace, width=page.width))
    page.blank()
    _files(page, result, violation.property)


def why_page(violation: Violation, *, width: int = 100) -> Page:
    """What is false of a violated property and why, without the trace."""
    page = Page(width)
    _false(page, violation)
    _not_taken(page, violation)
    add_abstract(page, violation.trace)
    return page


def _false(page: Page, violation: Violation) -> None:
    """What the property says, and what of it is false."""
    if violation.doc:
        page.words("  ", violation.doc.split("\n\n")[0], "dim")
    if violation.explanation is not None:
        _explanation(page, violation.explanation)
    elif violation.span is not None:
        page.add(f"  {place(violation.span.file, violation.span.line)}")
    _blocked(page, violation)
    if violation.kind == "deadlock":
        page.words("  ", _STOPPING[violation.dialect], "dim")


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
    groups: dict[tuple[str, int, str] | None, list[tuple[str, Guard | None]]] = {}
    for label, guard in violation.blocked:
        key = (guard.file, guard.line, guard.why or guard.shown) if guard else None
        groups.setdefault(key, []).append((label, guard))
    for alike in list(groups.values())[:_MAX_GUARDS]:
        label, guard = alike[0]
        page.add(f"    {label}{f' and {len(alike) - 1} more' if len(alike) > 1 else ''}")
        text = guard.said if guard else "it raises an exception"
        where = [(f" {place(guard.file, guard.line)}", "dim")] if guard and guard.file else []
        page.flow(["        "], [(text, "head"), *where], between="  ")
        if guard and guard.shown:
            page.flow(["          "], guard.shown.split(" · "))
    if len(groups) > _MAX_GUARDS:
        page.add(f"    and {plural(len(groups) - _MAX_GUARDS, 'more guard')}")


def _explanation(page: Page, explanation: Explanation) -> None:
    for layer in explanation.layers:
        indent = "  " * (layer.depth + 1)
        said = "is true" if layer.truth else "is false"
        where = [(f" {place(layer.span.file, layer.span.line)}", "dim")] if layer.span else []
        text = show_text(layer.text, page.width - len(indent) - len(said) - 2)
        page.flow([indent], [(text, "head"), said, *where], between="  ")
        _values(page, f"{indent}    ", (*layer.bindings, *layer.values))


def _values(page: Page, indent: str, named: Values) -> None:
    """The values in a false expression; two of a kind that are long, by where they differ."""
    room = max(2 * (page.width - len(indent)) - 8, 60)
    long = [(n, v) for n, v in named if len(text_of(v)) > page.width - len(indent) - len(n) - 3]
    paths: dict[str, Steps] = {}
    said = ""
    for (one, a), (other, b) in combinations(long, 2):
        path = first_difference(a, b)
        if path and one not in paths and other not in paths:
            paths |= {one: path, other: path}
            change = next(between("", freeze(a), freeze(b)), None)
            said = said or (str(change) if change is not None else "")
    items = [f"{n} = {fit(v, max(room - len(n), 40), paths.get(n, ()))}" for n, v in named]
    if items:
        page.flow([indent], items)
    if said:
        page.flow([indent], ["they differ:", cut(said, room)], between="  ")


def show_text(text: str, limit: int) -> str:
    """A piece of the spec's text on one line, elided at the end."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: max(20, limit - 1)] + "…"


def show_failure(page: Page, result: Result, failure: Failure) -> None:
    """An exception of the spec: what it says, where, and the trace that leads there."""
    page.words(("ERROR     ", "bad"), failure.title, "head")
    page.join(failure_page(failure, width=page.width))
    page.blank()
    page.join(trace_page(failure.trace, width=page.width))
    page.blank()
    _files(page, result, failure.trace.property)


def failure_page(failure: Failure, *, width: int = 100) -> Page:
    """Where an exception of the spec was raised, and what there is to say of it."""
    page = Page(width)
    if failure.where:
        page.add(f"  {failure.where}")
    for span in failure.frames:
        page.add(f"  {place(span.file, span.line)}")
        for line in span.excerpt()[:1]:
            page.add(("  " + line, "dim"))
    for text in (failure.why, failure.help):
        if text:
            page.words("  ", text)
    return page


def _files(page: Page, result: Result, name: str) -> None:
    """The commands that continue from a trace."""
    file = next((p.trace for p in result.properties if p.name == name), None)
    if file is None:
        return
    page.add(("  replay   ", "dim"), f"statewalk replay {quote(file)}")
    page.add(("  look     ", "dim"), f"statewalk show {quote(file)} --full")
