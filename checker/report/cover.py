"""The report of `statewalk cover`: which goals scenarios meet, and which nothing meets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from statewalk.checker.report.page import Page, number, plural

if TYPE_CHECKING:
    from statewalk.checker.scenarios.make import Made
    from statewalk.checker.scenarios.reached import Goal, Reached


def cover_page(made: Made, width: int = 100) -> Page:
    """Return the answer for people."""
    page, reached = Page(width), made.reached
    missed, goals = reached.missed(), reached.goals()
    if made.stopped and not made.every:
        missed = [goal for goal in goals if goal not in made.met]
    said = [_share(kind, goals, missed) for kind in ("action", "witness") if _of(kind, goals)]
    if made.every:
        said = said if not made.stopped else []
        said.append(f"{number(made.taken)} of {plural(made.steps, 'step')}")
    said.append(f"{plural(made.count, 'scenario')} of {plural(made.events, 'event')}")
    head = ("NOT COVERED", "bad") if missed or made.stopped else ("COVERED", "good")
    page.add(head, "  " + " · ".join(said))
    page.blank()
    for length, goals_of in made.first:
        page.flow([f"  {plural(length, 'event'):>9}   "], goals_of)
    if made.count > len(made.first):
        page.add(f"  and {number(made.count - len(made.first))} more")
    for name in (name for _, name in reached.missed()):
        page.words(("  not met     ", "warn"), f"{name}: {_why(reached)}")
    page.add(f"  looked at   {plural(len(reached.parents), 'state')}, {how_far(reached)}")
    if made.stopped:
        page.words(("  ended       ", "warn"), f"before all were made: {made.stopped}{_rest(made)}")
    if reached.raised:
        page.add((f"  left out    {plural(reached.raised, 'step')} that raise: statewalk check",
                  "warn"))  # fmt: skip
    return page


def _rest(made: Made) -> str:
    """Return what all would have been, at least: later scenarios take fewer steps that are new."""
    if not made.every or not made.taken:
        return ""
    times = made.steps / made.taken
    size = made.files.bytes * times / 1e6
    bytes_too = f", {number(round(size))} MB" if size >= 1 else ""
    return f". All would be {number(round(made.count * times))} scenarios{bytes_too} or more"


def _of(kind: str, goals: Sequence[Goal]) -> int:
    return sum(of == kind for of, _ in goals)


def _share(kind: str, goals: Sequence[Goal], missed: Sequence[Goal]) -> str:
    total = _of(kind, goals)
    several = {"action": "actions", "witness": "witnesses"}[kind]
    return f"{number(total - _of(kind, missed))} of {number(total)} {several}"


def how_far(reached: Reached) -> str:
    """Return what was looked at of all states."""
    if reached.stopped:
        return f"and no further: {reached.stopped}"
    if not reached.whole:
        return "as far as was needed"
    return "which are all within the constraints" if reached.cut else "which are all"


def _why(reached: Reached) -> str:
    if reached.stopped:
        return f"not in the {plural(len(reached.parents), 'state')} looked at"
    return (
        "no behavior within the constraints meets it" if reached.cut else ("no behavior meets it")
    )


def as_json(made: Made) -> dict[str, Any]:
    """Return the answer for programs."""
    reached = made.reached
    return {
        "spec": reached.model.path,
        "met": sorted(name for goal, name in reached.first),
        "missed": [name for _, name in reached.missed()],
        "states": len(reached.parents),
        "steps": {"taken": made.taken, "all": made.steps} if made.every else None,
        "stopped": reached.stopped or made.stopped or None,
        "cut": reached.cut,
        "scenarios": [scenario.as_json() for scenario in made.scenarios],
    }
