"""The page of a comparison: the table of both sides, and ways of one beside those of the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from statewalk.checker.compare.telling import has_not, outcome_of, page_of, rows_of
from statewalk.checker.page.data import always_of, head, lines_of, of_path
from statewalk.checker.page.spec import RUNS, Around, code_of
from statewalk.checker.traces.labels import label_of

if TYPE_CHECKING:
    from statewalk.checker.compare.compare import Comparison, Refinement, Side, Versus
    from statewalk.checker.traces.trace import Trace

Drawings = Mapping[str, Around]
_WIDTH = 96  # letters of a line of the report
_MOST = 5  # steps that are told of in place of one


def of_comparison(comparison: Comparison, again: str) -> dict[str, Any]:
    """The page of a comparison; ``again`` is the command that repeats it."""
    base = comparison.base
    around = {
        side.name: Around(side.model, RUNS // len(comparison.sides)) for side in comparison.sides
    }
    ways = [way for versus in comparison.others for way in _ways(versus, base, around)]
    every = [p for side in comparison.sides for p in side.run.properties]
    return {
        **head(base.run.spec, base.run.constants.items()),
        "kinds": {p.kind: p.of_kind.word for p in every},
        "always": always_of(every),
        "compared": {
            "sides": [side.name for side in comparison.sides],
            "rows": [[cell.replace("`", "") for cell in row] for row in rows_of(comparison)],
            "whole": comparison.whole,
        },
        "report": lines_of(page_of(comparison, again, width=_WIDTH)),
        "code": code_of(
            (action.span.file, action.span.line)
            for side in comparison.sides
            for action in side.model.actions
            if action.span
        ),
        "traces": _named_apart(ways),
    }


def _named_apart(ways: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with titles that tell them apart: addresses and lists go by them."""
    titles = [way["title"] for way in ways]
    told = [
        f"{title}, beside {way['tried']}" if titles.count(title) > 1 else title
        for title, way in zip(titles, ways, strict=True)
    ]
    return [
        {
            **way,
            "title": f"{title} ({told[:at].count(title) + 1})" if told.count(title) > 1 else title,
        }
        for at, (title, way) in enumerate(zip(told, ways, strict=True))
    ]


def _ways(versus: Versus, base: Side, around: Drawings) -> Iterator[dict[str, Any]]:
    other = versus.other
    for crossings, owner, tried in (
        (versus.crossed, base, other),
        (versus.crossed_back, other, base),
    ):
        for one in crossings:
            title = f"{one.trace.property} is violated with {owner.name}"
            said = outcome_of(one, tried)
            yield _way(title, (owner, one.trace), (tried, one.followed), said, around)
    for found, owner, tried in ((versus.forth, other, base), (versus.back, base, other)):
        if found.refusal is not None:
            title = f"{owner.name} does what {tried.name} {has_not(found.refusal)}"
            beside = (tried, found.refusal.beside)
            said = _instead(found, tried)
            yield _way(title, (owner, found.refusal.trace), beside, said, around)


def _instead(found: Refinement, other: Side) -> Iterator[str]:
    refusal = found.refusal
    if refusal is None or not refusal.trace.length:
        return
    yield f"The last step is one that {other.name} {has_not(refusal)} there. Possible with it:"
    if not refusal.allowed:
        yield "  nothing" if refusal.sure else "  no step that was seen"
    for trace in refusal.allowed[:_MOST]:
        for step, changes in trace:
            yield f"  {label_of(trace, step)}"
            yield from (f"      {change}" for change in changes)


def _way(
    title: str,
    one: tuple[Side, Trace],
    two: tuple[Side, Trace | None],
    said: Iterable[str],
    around: Drawings,
) -> dict[str, Any]:
    (side, trace), (other, beside) = one, two
    return {
        **of_path(trace, around[side.name]),
        "title": title,
        "side": side.name,
        "tried": other.name,
        "why": [[[text, ""]] for text in said],
        "beside": beside
        and {
            **of_path(beside, around[other.name]),
            "side": other.name,
            "why": [],
        },
    }
