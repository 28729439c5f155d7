"""What is not as it was when the same was checked before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from statewalk.checker.report.page import Page, Segment, number, plural

if TYPE_CHECKING:
    from statewalk.checker.verdict.result import PropertyResult, Result

_COLUMN = 12
_STYLES = {"holds": "good", "violated": "bad", "bounded": "warn", "error": "bad"}
_COUNTS = (("distinct", ""), ("generated", ""), ("depth", "depth "), ("initial", "initial "))


def since_page(
    before: Mapping[str, Result], now: Mapping[str, Result], when: str, *, width: int = 100
) -> Page:
    """What is new in results since ``when``, by what each is of: empty where there is but one."""
    page = Page(width)
    page.add((f"since the check at {when}", "head"))
    for name in [*before, *(n for n in now if n not in before)]:
        if name not in now:
            _row(page, "gone", [name])
        elif name not in before:
            _row(page, "new", [name, (now[name].verdict, _STYLES[now[name].verdict])])
        else:
            rows = [*_rows(before[name], now[name])]
            if rows and name:
                page.add(f"  {name}")
            for head, items in rows:
                _row(page, head, items)
    if len(page.lines) == 1:
        page.lines[0].append(("  the same verdicts and counts", ""))
    return page


def _row(page: Page, name: str, items: Sequence[Segment | str]) -> None:
    page.flow([(f"  {name:<{_COLUMN - 2}}", "dim")], items)


def _rows(before: Result, now: Result) -> Iterator[tuple[str, Sequence[Segment | str]]]:
    if before.verdict != now.verdict:
        yield "verdict", [(f"{before.verdict} → {now.verdict}", _STYLES[now.verdict])]
    if now.verdict == "error":
        return
    if constants := [*_constants(before.constants, now.constants)]:
        yield "constants", constants
    if counts := [*_counts(before, now)]:
        yield "states", counts
    old, new = _properties(before), _properties(now)
    for name in (n for n in new if n in old):
        was, is_ = _said(old[name]), _said(new[name])
        if was != is_:
            yield "property", [f"{name}: {was} → {is_}"]
    for head, of, other in (("new", new, old), ("gone", old, new)):
        for name in (n for n in of if n not in other):
            yield head, [f"property {name}: {_said(of[name])}"]
    yield from _actions(before, now)


def _counts(before: Result, now: Result) -> Iterator[str]:
    for name, head in _COUNTS:
        old, new = getattr(before.counts, name), getattr(now.counts, name)
        if old != new:
            yield f"{head}{number(old)} → {number(new)}{'' if head else f' {name}'}"


def _constants(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in dict.fromkeys([*before, *now]):
        if name not in now:
            yield f"{name} is gone"
        elif name not in before:
            yield f"{name}={now[name]} is new"
        elif before[name] != now[name]:
            yield f"{name} {before[name]} → {now[name]}"


def _properties(result: Result) -> dict[str, PropertyResult]:
    return {p.name: p for p in result.properties}


def _said(found: PropertyResult) -> str:
    """The verdict on a property, with the length of what shows it."""
    text = str(found.verdict) + (" vacuously" if found.vacuous else "")
    if found.length is None:
        return text
    return f"{text} in {plural(found.length, 'step')}"


def _actions(before: Result, now: Result) -> Iterator[tuple[str, Sequence[Segment | str]]]:
    """Actions that came, went, or began or ceased to happen; not how often they do."""
    old, new = ({a.name: a.fired for a in result.actions} for result in (before, now))
    for head, of, other in (("new", new, old), ("gone", old, new)):
        if names := [name for name in of if name not in other]:
            yield head, [f"action {name}" for name in names]
    for name in (n for n in new if n in old):
        if bool(old[name]) != bool(new[name]):
            yield "action", [f"{name} {'fires now' if new[name] else 'does not fire any more'}"]
