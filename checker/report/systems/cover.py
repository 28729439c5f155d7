"""What `statewalk cover` says: which goals scenarios meet, and which nothing meets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from statewalk.checker.report.page import Page, number, plural

if TYPE_CHECKING:
    from statewalk.checker.scenarios.reached import Goal, Reached
    from statewalk.checker.scenarios.scenario import Scenario

_SHOWN = 20


def cover_page(reached: Reached, scenarios: Sequence[Scenario], width: int = 100) -> Page:
    """The answer for people."""
    page = Page(width)
    missed, goals = reached.missed(), reached.goals()
    events = sum(len(scenario.events) for scenario in scenarios)
    said = [_share(kind, goals, missed) for kind in ("action", "witness") if _of(kind, goals)] + [
        f"{plural(len(scenarios), 'scenario')} of {plural(events, 'event')}"
    ]
    head = ("NOT COVERED", "bad") if missed else ("COVERED", "good")
    page.add(head, "  " + " · ".join(said))
    page.blank()
    for scenario in scenarios[:_SHOWN]:
        length = plural(len(scenario.events), "event")
        page.flow([f"  {length:>9}   "], scenario.goals or [scenario.name])
    if len(scenarios) > _SHOWN:
        page.add(f"  and {number(len(scenarios) - _SHOWN)} more")
    for name in (name for _, name in missed):
        page.words(("  not met     ", "warn"), f"{name}: {_why(reached)}")
    page.add(f"  looked at   {plural(len(reached.parents), 'state')}, {how_far(reached)}")
    if reached.raised:
        page.add((f"  left out    {plural(reached.raised, 'step')} that raise: statewalk check",
                  "warn"))  # fmt: skip
    return page


def _of(kind: str, goals: Sequence[Goal]) -> int:
    return sum(of == kind for of, _ in goals)


def _share(kind: str, goals: Sequence[Goal], missed: Sequence[Goal]) -> str:
    total = _of(kind, goals)
    several = {"action": "actions", "witness": "witnesses"}[kind]
    return f"{number(total - _of(kind, missed))} of {number(total)} {several}"


def how_far(reached: Reached) -> str:
    """What was looked at of all states."""
    if reached.stopped:
        return f"and no further: {reached.stopped}"
    if not reached.whole:
        return "as far as was needed"
    return "which are all within the constraints" if reached.cut else "which are all"


def _why(reached: Reached) -> str:
    if reached.stopped:
        return f"not in the {plural(len(reached.parents), 'state')} looked at"
    return (
        "no behaviour within the constraints meets it" if reached.cut else ("no behaviour meets it")
    )


def as_json(reached: Reached, scenarios: Sequence[Scenario]) -> dict[str, Any]:
    """The answer for programs."""
    return {
        "spec": reached.model.path,
        "met": sorted(name for goal, name in reached.first),
        "missed": [name for _, name in reached.missed()],
        "states": len(reached.parents),
        "stopped": reached.stopped or None,
        "cut": reached.cut,
        "scenarios": [scenario.as_json() for scenario in scenarios],
    }
