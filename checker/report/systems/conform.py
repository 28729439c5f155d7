"""What `statewalk conform` says: that a log conforms, or where it parts from the spec and why."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from statewalk.checker.conform.followed import MANY
from statewalk.checker.conform.parting import Candidate, parting_of
from statewalk.checker.report.page import Page, number, plural
from statewalk.checker.states.shortening import cut

if TYPE_CHECKING:
    from statewalk.checker.conform.followed import Followed

_FEW = 8  # fields: a state that has no more is shown whole,
_FIELDS = 16  # and of another so many


def conform_page(followed: Followed | str, width: int = 100, *, full: bool = False) -> Page:
    """The answer for people; of a log that was not read, why. ``full``: states are shown whole."""
    page = Page(width)
    if isinstance(followed, str):
        page.add(("UNDECIDED", "warn"), f"  {followed}")
        return page
    log, verdict = plural(followed.order.length, "event"), verdict_of(followed)
    if verdict == "violated":
        _violated(page, followed)
    if followed.conforms:
        page.add(("CONFORMS", "good"), f"  {log} of a behaviour of {followed.model.path}")
    elif followed.undecided:
        at = f"after {plural(followed.accepted, 'event')} of {number(followed.order.length)}"
        page.add(("UNDECIDED", "warn"), f"  {at}: {followed.undecided}")
    else:
        _parted(page, followed, full)
    if verdict == "parts":
        _violated(page, followed)
    page.blank()
    _figures(page, followed)
    if followed.undecided:
        _advice(page, followed)
    return page


def _violated(page: Page, followed: Followed) -> None:
    """The properties that every behaviour of the accepted events violates."""
    for name, after in followed.broken.items():
        page.add((f"VIOLATED {name}", "bad"), f"  after {plural(after, 'event')}, whichever "
                 "behaviour it was")  # fmt: skip
    if followed.spoiled and not followed.broken:
        names, after = " or ".join(followed.spoiled), max(followed.spoiled.values())
        page.add((f"VIOLATED {names}", "bad"), f"  after {plural(after, 'event')}: one of them, "
                 "whichever behaviour it was")  # fmt: skip


def _advice(page: Page, followed: Followed) -> None:
    """What to do about a log that is not decided."""
    if not followed.limits.deep and not followed.tried:
        page.add("  try         --depth-first, which looks for one behaviour before all others")
    elif not followed.conforms:
        page.add("  looked for  one behaviour, depth first: it was not found in as many states")
    if followed.hidden:
        names = sorted({action.name for action in followed.hidden})
        page.words(
            "  or else     ",
            f"less that is hidden: each time {cut(', '.join(names), 60)} may have happened or not, "
            "all that can be true doubles. Log it, or say --watch FIELD or --max-hidden N; a step "
            "that changes nothing anybody looks at is better left out of the spec "
            "(docs/how-to/conform.md, What is not logged)",
        )


def _parted(page: Page, followed: Followed, full: bool) -> None:
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
    states = len(followed.levels[-1].bits)
    for at, candidate in enumerate(parting.candidates, 1):
        page.blank()
        which = f"state {at} of {number(states)}" if states > 1 else "the state"
        page.add((f"  {which} that the spec can be in before it", "head"))
        _candidate(page, candidate, full)
    if parting.more:
        page.blank()
        page.add(f"  and {plural(parting.more, 'more state')}")


def _candidate(page: Page, candidate: Candidate, full: bool) -> None:
    for refused in candidate.refused:
        page.words(("    refused   ", "bad"), f"{refused.action}: {refused.why}")
    for allowed in candidate.allowed:
        page.words(("    accepted  ", "good"), json.dumps(allowed.event, ensure_ascii=False))
    if not candidate.allowed:
        page.add("    no step is possible")
    content = candidate.content
    shown = list(content.items()) if full or len(content) <= _FEW else candidate.telling()[:_FIELDS]
    for name, value in shown:
        page.words(f"    {name} = ", value)
    if len(shown) < len(content):
        page.add(f"    and {plural(len(content) - len(shown), 'other field')} (--full)")


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
    if followed.endless:
        others = "endlessly many" if followed.limits.hidden is None else "more than are counted"
    if followed.undecided:
        page.add("  behaviours  not known; the rest of the log was not followed")
    elif followed.first:
        why = ""
        if followed.instead:
            why = f": of all, {number(followed.instead)} states at a time were possible"
        page.add(f"  behaviours  this; no others were looked for{why}")
    else:
        several = f"this and {others} other{'' if others == '1' else 's'}"
        page.add(f"  behaviours  {several if ways > 1 or followed.endless else 'only this'}")
    if not followed.first:
        page.add(f"  states      {number(followed.widest)} at a time at most")
    if followed.hidden:
        taken = sum(event is None for _, event in steps)
        page.add(f"  hidden      {plural(taken, 'step')}")
    if len(followed.order.events) > 1:
        page.add(f"  order       by {followed.order.by}")


def verdict_of(followed: Followed | str) -> str:
    """Return conforms, violated, parts or undecided: a log that is no behaviour of the spec parts,
    whatever its first events violate.
    """
    if isinstance(followed, str):
        return "undecided"
    if not followed.conforms and not followed.undecided:
        return "parts"
    if followed.spoiled:
        return "violated"
    return "undecided" if followed.undecided else "conforms"


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
        "violated_one_of": {} if followed.broken else dict(followed.spoiled),
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
