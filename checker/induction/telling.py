"""The report of `statewalk prove`: the verdict, a counterexample as a trace, the figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from statewalk.checker.report.check import failure_page, why_page
from statewalk.checker.report.page import Page, Segment, number, plural, seconds
from statewalk.checker.report.trace import trace_page
from statewalk.checker.states.content import content_of, short_names, show_field
from statewalk.checker.states.json import plain
from statewalk.checker.states.shortening import fit
from statewalk.checker.verdict.conclude import violation_of
from statewalk.checker.verdict.evidence import failure_of

if TYPE_CHECKING:
    from statewalk.checker.induction.prove import Proof
    from statewalk.dsl.view import State

SCHEMA = 1
_WHOLE = 1e15
_VALUE = 60


def page_of(proof: Proof, width: int = 100) -> Page:
    """Return the report."""
    page = Page(width)
    names = " and ".join(proof.names)
    if proof.finding is not None:
        _counterexample(page, proof)
    elif proof.verdict == "inductive":
        steps = f", in {plural(proof.k, 'step')}" if proof.k > 1 else ""
        page.flow([("INDUCTIVE", "good"), "  "], [(names, "head"), f"all states{steps}"])
    elif proof.verdict == "bounded":
        said = f"bounded by {', '.join(proof.bounds)}"
        page.flow([("NO COUNTEREXAMPLE", "warn"), "  "], [(names, "head"), said])
    elif proof.verdict == "sampled":
        said = "a sample of the states, which proves nothing"
        page.flow([("NO COUNTEREXAMPLE MET", "warn"), "  "], [(names, "head"), said])
    else:
        page.flow([("UNDECIDED", "warn"), "  "], [(names, "head"), "ended before all was seen"])
    _figures(page, proof)
    return page


def _counterexample(page: Page, proof: Proof) -> None:
    assert proof.finding is not None
    assert proof.trace is not None
    finding = proof.finding
    names = " and ".join(proof.names)
    page.flow([("NOT INDUCTIVE", "bad"), "  "], [(names, "head"), _breaks(proof)])
    if finding.error is not None:
        failure = failure_of(proof.model, finding, proof.trace)
        page.words("  ", failure.title, "head")
        page.join(failure_page(failure, width=page.width))
        page.blank()
        page.join(trace_page(proof.trace, width=page.width, first=not proof.base))
    elif proof.outside:
        page.words("  ", f"{proof.outside}, which --domain leaves out")
        page.blank()
        page.join(trace_page(proof.trace, width=page.width, first=not proof.base))
    else:
        page.join(why_page(violation_of(proof.model, finding, proof.trace), width=page.width))
        page.blank()
        page.join(trace_page(proof.trace, width=page.width, first=not proof.base))
    if not proof.base:
        page.blank()
        page.words(
            "  ",
            "The first state satisfies the invariant, and need not be reachable. If it is not, "
            "strengthen the invariant so that it excludes the state; if it is, the step is a bug.",
        )
    page.blank()


def _breaks(proof: Proof) -> str:
    """Return which conjunct breaks, and when."""
    assert proof.finding is not None
    finding = proof.finding
    if proof.base:
        after = f"after {plural(finding.length, 'step')}" if finding.length else "in it"
        return f"{finding.property} is false {after}, from an initial state"
    if finding.error is not None:
        return f"step {proof.k} raises an exception"
    if proof.outside:
        return "a step leaves the domains"
    return f"{finding.property} breaks in {plural(proof.k, 'step')}"


def _figures(page: Page, proof: Proof) -> None:
    looked = [
        f"{_large(proof.candidates)} states in the domains",
        f"{number(proof.states)} satisfy it",
        plural(proof.steps, "step"),
        f"{number(proof.evaluated)} evaluations",
        seconds(proof.seconds),
    ]
    if proof.verdict != "inductive":
        looked[1] = f"{number(proof.states)} that satisfy it looked at"
    _row(page, "states", looked)
    if proof.verdict == "sampled":
        _row(page, "sample", [f"seed {proof.seed}", "not uniform"])
    if not proof.finding:
        _row(page, "implies", list(proof.implied) if proof.verdict != "sampled" else [])
        for name, state in proof.weaker.items():
            _row(page, "not implied", [(name, "warn"), *_state_of(proof, state)])
    if proof.verdict != "bounded":
        _row(page, "bounded", [(f"by {name}", "warn") for name in proof.bounds])
    _row(page, "actions", [f"{n} {number(count)}" for n, count in sorted(proof.fired.items())])
    never = sorted({action.name for action in proof.model.actions} - set(proof.fired))
    if proof.verdict in ("inductive", "bounded"):
        _row(page, "never", [(name, "warn") for name in never])
    constants = [f"{n}={fit(v, 40)}" for n, v in proof.model.constants.items()]
    _row(page, "constants", constants)


def _state_of(proof: Proof, state: State) -> list[str]:
    """Return a state in one line."""
    names = short_names(proof.model)
    content = content_of(proof.model, state)
    told = [f"{show_field(p, names)}={fit(v, _VALUE)}" for p, v in content.items()]
    return ["false in " + " ".join(told[:6]) + (" …" if len(told) > 6 else "")]


def _large(count: int) -> str:
    return number(count) if count < _WHOLE else f"{count:.2e}"


def _row(page: Page, name: str, items: Sequence[Segment | str]) -> None:
    if items:
        page.flow([(f"  {name:<12}", "dim")], items)


def to_dict(proof: Proof) -> dict[str, Any]:
    """Return the object that ``--json`` prints."""
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "spec": proof.model.path,
        "constants": {name: plain(value) for name, value in proof.model.constants.items()},
        "invariants": list(proof.names),
        "verdict": proof.verdict,
        "steps": proof.k,
        "domain_states": str(proof.candidates) if proof.candidates > 1 << 53 else proof.candidates,
        "states": proof.states,
        "transitions": proof.steps,
        "seed": proof.seed if proof.verdict == "sampled" else None,
        "bounds": list(proof.bounds),
        "implied": list(proof.implied) if proof.verdict in ("inductive", "bounded") else [],
        "not_implied": sorted(proof.weaker),
        "seconds": round(proof.seconds, 3),
        "counterexample": None,
    }
    if proof.trace is not None and proof.finding is not None:
        names = short_names(proof.model)
        contents = [
            {show_field(path, names): plain(value) for path, value in content.items()}
            for content in proof.trace.contents
        ]
        found["counterexample"] = {
            "property": proof.finding.property,
            "initial": proof.base,
            "leaves": proof.outside,
            "error": proof.trace.error,
            "states": contents,
            "steps": [step.label for step in proof.trace.steps],
        }
    return found
