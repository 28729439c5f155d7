"""The report of `statewalk conform`: a log conforms, or parts from the spec at a point."""

from __future__ import annotations

import json
import shlex
import xml.etree.ElementTree as Xml
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from statewalk.checker.conform.coverage import Coverage, guards_in, names_in
from statewalk.checker.conform.followed import MANY
from statewalk.checker.conform.parting import Candidate, parting_of
from statewalk.checker.report.page import Page, number, plural
from statewalk.checker.states.shortening import cut
from statewalk.dsl.errors import printable

if TYPE_CHECKING:
    from statewalk.checker.conform.answer import Conformance
    from statewalk.checker.conform.followed import Followed
    from statewalk.checker.graph.dataset import Shown
    from statewalk.dsl.model import Model


_FEW = 8  # fields: a state that has no more is shown whole,
_FIELDS = 16  # and of another so many


def conform_page(followed: Followed | str, width: int = 100, *, full: bool = False) -> Page:
    """Return the answer for people; of a log that was not read, why.

    ``full``: states are shown whole.
    """
    page = Page(width)
    if isinstance(followed, str):
        page.add(("UNDECIDED", "warn"), f"  {followed}")
        return page
    log, verdict = plural(followed.order.length, "event"), verdict_of(followed)
    if verdict == "violated":
        _violated(page, followed)
    if followed.conforms:
        page.add(("CONFORMS", "good"), f"  {log} of a behavior of {followed.model.path}")
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
    """The properties that every behavior of the accepted events violates."""
    for name, after in followed.broken.items():
        page.add((f"VIOLATED {name}", "bad"), f"  after {plural(after, 'event')}, whichever "
                 "behavior it was")  # fmt: skip
    if followed.spoiled and not followed.broken:
        names, after = " or ".join(followed.spoiled), max(followed.spoiled.values())
        page.add((f"VIOLATED {names}", "bad"), f"  after {plural(after, 'event')}: one of them, "
                 "whichever behavior it was")  # fmt: skip


def _advice(page: Page, followed: Followed) -> None:
    """Show the remedies for an undecided log."""
    if not followed.limits.deep and not followed.tried:
        page.add("  try         --depth-first, which looks for one behavior before all others")
    elif not followed.conforms:
        page.add("  looked for  one behavior, depth first: it was not found in as many states")
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
    ways = followed.behaviors
    others = "more than 10^18" if ways >= MANY else number(ways - 1)
    if followed.endless:
        others = "endlessly many" if followed.limits.hidden is None else "more than are counted"
    if followed.undecided:
        page.add("  behaviors   not known; the rest of the log was not followed")
    elif followed.first:
        why = ""
        if followed.instead:
            why = f": of all, {number(followed.instead)} states at a time were possible"
        page.add(f"  behaviors   this; no others were looked for{why}")
    else:
        several = f"this and {others} other{'' if others == '1' else 's'}"
        page.add(f"  behaviors   {several if ways > 1 or followed.endless else 'only this'}")
    if not followed.first:
        page.add(f"  states      {number(followed.widest)} at a time at most")
    if followed.hidden:
        taken = sum(event is None for _, event in steps)
        page.add(f"  hidden      {plural(taken, 'step')}")
    if len(followed.order.events) > 1:
        page.add(f"  order       by {followed.order.by}")


def verdict_of(followed: Followed | str) -> str:
    """Return conforms, violated, parts or undecided: a log that is no behavior of the spec parts,
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
    """Return the answer for programs."""
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
        if followed.undecided or followed.first or followed.endless or followed.behaviors >= MANY
        else followed.behaviors,
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


_SHOWN = 10
_DEPTHS = 40
_SAID = {"parts": "DOES NOT CONFORM", "violated": "VIOLATED", "undecided": "UNDECIDED",
         "mistake": "MISTAKE"}  # fmt: skip


def shown_by(answers: Sequence[Conformance]) -> Coverage:
    """Return what all runs showed."""
    coverage = Coverage()
    for answer in answers:
        coverage.add(answer.coverage)
    return coverage


def runs_page(
    model: Model, answers: Sequence[Conformance], again: str, width: int = 100,
    graph: Shown | None = None,
) -> Page:  # fmt: skip
    """Return the answer for people; ``again`` is the command that asks the same of other logs."""
    page = Page(width)
    several = Counter(answer.verdict for answer in answers)
    good, events = several["conforms"], sum(answer.events for answer in answers)
    verdict = ("CONFORMS", "good") if good == len(answers) else ("DOES NOT CONFORM", "bad")
    if not several["parts"] + several["violated"]:
        verdict = ("UNDECIDED", "warn") if several["undecided"] else verdict
        verdict = ("MISTAKE", "bad") if several["mistake"] else verdict
    said = f"{number(good)} of {plural(len(answers), 'run')} conform"
    page.add(verdict, f"  {said} to {model.path} · {plural(events, 'event')}")
    others = [answer for answer in answers if not answer.conforms]
    for answer in others[:_SHOWN]:
        if answer.verdict == "mistake":
            page.words(f"  {_SAID['mistake']:<16}  ", answer.report.partition("\n")[0])
            continue
        page.add(f"  {_SAID[answer.verdict]:<16}  {', '.join(answer.logs[:3])}, after "
                 f"{number(answer.accepted)} of {plural(answer.events, 'event')}")  # fmt: skip
    if len(others) > _SHOWN:
        page.add(f"  and {number(len(others) - _SHOWN)} more")
    if others:
        first = min(others, key=lambda answer: answer.verdict == "mistake")
        page.add(f"  look        {again} {shlex.join(first.logs)}")
    page.blank()
    _coverage(page, model, shown_by(answers))
    if graph is not None:
        _of_graph(page, graph)
    return page


def _coverage(page: Page, model: Model, shown: Coverage) -> None:
    actions, witnesses = names_in(model)
    page.flow(
        ["  actions     "], [f"{name} {number(n)}" for name, n in sorted(shown.fired.items())]
    )
    guards = [f"{place} {number(n)}" for place, n in sorted(shown.guards.items())]
    page.flow(["  guards      "], guards or ["none stopped anything"])
    met = [f"{w} in {number(shown.met[w])}" for w in witnesses if shown.met[w]]
    if met:
        page.flow(["  witnesses   "], met)
    never = [name for name in actions if not shown.fired[name]]
    never += [name for name in witnesses if not shown.met[name]]
    never += [f"guard {one}" for one in guards_in(model) if not shown.guards[one]]
    if never:
        page.flow([("  never shown ", "warn")], never)
    page.add(f"  states      {number(len(shown.states))} different")


def _of_graph(page: Page, graph: Shown) -> None:
    """Show the part of a state graph that the logs showed."""
    share = f"{100 * graph.shown / max(1, graph.states):.1f} %"
    whole = "" if graph.complete else ", which is not whole"
    page.add(f"  graph       {number(graph.shown)} of {plural(graph.states, 'state')} shown, "
             f"{share}{whole}")  # fmt: skip
    levels = enumerate(graph.levels)
    missing = [f"{number(a)} of {number(b)} at {depth}" for depth, (a, b) in levels if a < b]
    rest, more = len(graph.levels) - len(missing), len(missing) - _DEPTHS
    missing[_DEPTHS:] = [f"not all at {number(more)} more"] if more > 0 else []
    missing += [f"all at {plural(rest, 'other')}"] if missing and rest else []
    page.flow(["  by depth    "], missing or ["all"])
    if graph.outside:
        page.add(f"  beyond it   {plural(graph.outside, 'state')}")


def runs_json(
    model: Model, answers: Sequence[Conformance], graph: Shown | None = None
) -> dict[str, Any]:
    """Return the answer for programs."""
    shown = shown_by(answers)
    actions, witnesses = names_in(model)
    return {
        "spec": model.path,
        "runs": [{"logs": list(answer.logs), **answer.json} for answer in answers],
        "actions": {name: shown.fired[name] for name in actions},
        "guards": dict.fromkeys(guards_in(model), 0) | dict(sorted(shown.guards.items())),
        "witnesses": {name: shown.met[name] for name in witnesses},
        "states": len(shown.states),
        **({"graph": graph.as_json()} if graph is not None else {}),
    }


def to_junit(model: Model, answers: Sequence[Conformance]) -> str:
    """Return a test case for each run."""
    suite = Xml.Element("testsuite", name=model.path, tests=str(len(answers)))
    for answer in answers:
        name = ", ".join(answer.logs)
        case = Xml.SubElement(suite, "testcase", classname=model.path, name=name)
        if answer.verdict == "undecided":
            Xml.SubElement(case, "skipped", message=answer.report.splitlines()[0])
        elif answer.verdict == "mistake":
            found = Xml.SubElement(case, "error", message=answer.report.splitlines()[0])
            found.text = answer.report
        elif not answer.conforms:
            lines = answer.report.splitlines()
            found = Xml.SubElement(case, "failure", message=lines[0])
            found.text = answer.report
    failures = sum(answer.verdict in ("parts", "violated") for answer in answers)
    suite.set("failures", str(failures))
    suite.set("errors", str(sum(answer.verdict == "mistake" for answer in answers)))
    Xml.indent(suite)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return head + printable(Xml.tostring(suite, encoding="unicode")) + "\n"
