"""A comparison as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from statewalk.checker.compare.telling import CHANGED, stopped_by
from statewalk.checker.traces.labels import label_of

if TYPE_CHECKING:
    from statewalk.checker.compare.compare import Comparison, Only, Refinement, Versus
    from statewalk.checker.compare.crossing import Crossing
    from statewalk.checker.traces.trace import Trace

SCHEMA = 1


def to_dict(comparison: Comparison) -> dict[str, Any]:
    """The object that ``--json`` prints: results as `check` has them, steps by their labels."""
    from statewalk.checker.compare.compare import changed

    base = comparison.base.run
    names = dict.fromkeys(p.name for side in comparison.sides for p in side.run.properties)
    return {
        "schema": SCHEMA,
        "whole": comparison.whole,
        "sides": [{"name": s.name, "result": s.run.to_dict()} for s in comparison.sides],
        "changed": {
            side.name: {n: word for n in names if (word := CHANGED[changed(base, side.run, n)])}
            for side in comparison.sides[1:]
        },
        "versus": [_versus(versus) for versus in comparison.others],
    }


def _versus(versus: Versus) -> dict[str, Any]:
    return {
        "name": versus.other.name,
        "fields": [f"{owner}#{index}.{name}" for owner, index, name in versus.fields],
        "counterexamples_of_base": [_crossing(c) for c in versus.crossed],
        "counterexamples": [_crossing(c) for c in versus.crossed_back],
        "refines_base": _refinement(versus.forth),
        "refined_by_base": _refinement(versus.back),
        "states_alone": _only(versus.gained),
        "states_of_base_alone": _only(versus.lost),
        "bounds": list(versus.bounds),
    }


def _crossing(crossing: Crossing) -> dict[str, Any]:
    stopped = crossing.step is not None
    return {
        "property": crossing.trace.property,
        "steps": steps(crossing.trace),
        "possible": not stopped,
        "stopped_at": crossing.step,
        "because": (crossing.why or stopped_by(crossing.guard)) if stopped else None,
        "false_at_end": list(crossing.broken),
    }


def _refinement(found: Refinement) -> dict[str, Any]:
    refusal = found.refusal
    return {
        "verdict": "violated" if refusal else "holds" if found.whole else "unknown",
        "sure": found.whole if refusal is None else refusal.sure,
        "steps": steps(refusal.trace) if refusal else None,
        "possible_instead": [steps(t)[0] for t in refusal.allowed] if refusal else None,
    }


def _only(only: Only) -> dict[str, Any]:
    return {"count": only.sights, "nearest": [steps(trace) for trace in only.nearest]}


def steps(trace: Trace) -> list[str]:
    """The steps of a trace by their labels."""
    return [label_of(trace, step) for step in trace.steps]
