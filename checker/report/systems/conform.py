"""What `statewalk conform` says: that a log conforms, or where it parts from the spec and why."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from statewalk.checker.conform.followed import MANY
from statewalk.checker.conform.parting import Candidate, parting_of
from statewalk.checker.report.page import Page, number, plural

if TYPE_CHECKING:
    from statewalk.checker.conform.followed import Followed

_FIELDS = 40  # of a state


def conform_page(followed: Followed | str, width: int = 100) -> Page:
    """The answer for people; of a log that was not read, why."""
    page = Page(width)
    if isinstance(followed, str):
        page.add(("UNDECIDED", "warn"), f"  {followed}")
        return page
    log = plural(followed.order.length, "event")
    if followed.conforms:
        page.add(("CONFORMS", "good"), f"  {log} of a behaviour of {followed.model.path}")
    elif followed.undecided:
        at = f"after {plural(followed.accepted, 'event')} of {number(followed.order.length)}"
        page.add(("UNDECIDED", "warn"), f"  {at}: {followed.undecided}")
    else:
        _parted(page, followed)
    for name, after in followed.broken.items():
        page.add((f"VIOLATED {name}", "bad"), f"  after {plural(after, 'event')}, whichever "
                 "behaviour it was")  # fmt: skip
    page.blank()
    _figures(page, followed)
    return page


def _parted(page: Page, followed: Followed) -> None:
    parting = parting_of(followed)
    first = parting.events[0]
    bound = ""
    if followed.bounded:
        bound = (
            f", with at most {plural(followed.limits.hidden or 0, 'hidden step')} between events"
        )
    page.add(("DOES NOT CONFORM", "bad"), f"  at {first.place}{bound}")
    page.blank()
    for event in parting.events:
        page.words("  event       ", event.shown)
    states = len(followed.levels[-1].clean)
    for at, candidate in enumerate(parting.candidates, 1):
        page.blank()
        which = f"state {at} of {number(states)}" if states > 1 else "the state"
        page.add((f"  {which} that the spec can be in before it", "head"))
        _candidate(page, candidate)
    if parting.more:
        page.blank()
        page.add(f"  and {plural(parting.more, 'more state')}")


def _candidate(page: Page, candidate: Candidate) -> None:
    for name, value in list(candidate.content.items())[:_FIELDS]:
        page.words(f"    {name} = ", value)
    for refused in candidate.refused:
        page.words(("    refused   ", "bad"), f"{refused.action}: {refused.why}")
    for allowed in candidate.allowed:
        page.words(("    accepted  ", "good"), json.dumps(allowed.event, ensure_ascii=False))
    if not candidate.allowed:
        page.add("    no step is possible")


def _figures(page: Page, followed: Followed) -> None:
    _, steps = followed.path()
    names = followed.model.action_names()
    fired = Counter(names[step.action] for step, _ in steps)
    page.flow(["  actions     "], [f"{name} {number(n)}" for name, n in sorted(fired.items())])
    never = sorted({*names.values()} - set(fired))
    if never:
        page.flow(["  not shown   "], never)
    ways = followed.behaviours
    others = "more than 10^18" if ways >= MANY else number(ways - 1)
    others = "endlessly many" if followed.endless else others
    if followed.undecided:
        page.add("  behaviours  not known; the rest of the log was not followed")
    elif followed.first:
        page.add("  behaviours  this; no others were looked for")
    else:
        several = f"this and {others} other{'' if others == '1' else 's'}"
        page.add(f"  behaviours  {several if ways > 1 or followed.endless else 'only this'}")
    page.add(f"  states      {number(followed.widest)} at a time at most")
    if followed.hidden:
        taken = sum(event is None for _, event in steps)
        page.add(f"  hidden      {plural(taken, 'step')}")
    if len(followed.order.events) > 1:
        page.add(f"  order       by {followed.order.by}")


def verdict_of(followed: Followed | str) -> str:
    """conforms, violated, parts or undecided."""
    if isinstance(followed, str):
        return "undecided"
    if followed.broken:
        return "violated"
    if followed.conforms:
        return "conforms"
    return "undecided" if followed.undecided else "parts"


def as_json(spec: str, followed: Followed | str) -> dict[str, Any]:
    """The answer for programs."""
    if isinstance(followed, str):
        return {"spec": spec, "verdict": "undecided", "undecided": followed}
    found: dict[str, Any] = {
        "spec": spec,
        "verdict": verdict_of(followed),
        "events": followed.order.length,
        "accepted": followed.accepted,
        "undecided": followed.undecided or None,
        "violated": dict(followed.broken),
        "states": followed.widest,
        "behaviours": None
        if followed.undecided or followed.first or followed.endless or followed.behaviours >= MANY
        else followed.behaviours,
    }
    if not followed.conforms and not followed.undecided:
        parting = parting_of(followed)
        found["events_refused"] = [
            {"at": e.place, "event": json.loads(e.shown)} for e in parting.events
        ]
        found["candidates"] = [
            {
                "state": c.content,
                "refused": [{"action": r.action, "why": r.why} for r in c.refused],
                "accepted": [a.event for a in c.allowed],
            }
            for c in parting.candidates
        ]
    return found
