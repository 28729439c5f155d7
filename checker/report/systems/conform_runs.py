"""What `statewalk conform` says of a folder of runs: how many conform, and what they showed."""

from __future__ import annotations

import shlex
import xml.etree.ElementTree as Xml
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from statewalk.checker.conform.coverage import Coverage, guards_in, names_in
from statewalk.checker.report.page import Page, number, plural
from statewalk.dsl.errors import printable

if TYPE_CHECKING:
    from statewalk.checker.conform.answer import Conformance
    from statewalk.checker.graph.shown import Shown
    from statewalk.dsl.model import Model

_SHOWN = 10
_DEPTHS = 40
_SAID = {"parts": "DOES NOT CONFORM", "violated": "VIOLATED", "undecided": "UNDECIDED",
         "mistake": "MISTAKE"}  # fmt: skip


def shown_by(answers: Sequence[Conformance]) -> Coverage:
    """What all runs showed."""
    coverage = Coverage()
    for answer in answers:
        coverage.add(answer.coverage)
    return coverage


def runs_page(
    model: Model, answers: Sequence[Conformance], again: str, width: int = 100,
    graph: Shown | None = None,
) -> Page:  # fmt: skip
    """The answer for people; ``again`` is the command that asks the same of other logs."""
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
        _share(page, graph)
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


def _share(page: Page, graph: Shown) -> None:
    """Which part of a state graph was shown."""
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
    """The answer for programs."""
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
    """A test case for each run."""
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
