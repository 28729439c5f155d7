"""A comparison as JSON: results as `check` has them, traces as they are saved, and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from statewalk.checker.compare.telling import CHANGED, stopped_by
from statewalk.checker.traces.file import to_dict as saved
from statewalk.checker.traces.trace import label_of

if TYPE_CHECKING:
    from statewalk.checker.compare.compare import Comparison, Only, Refinement, Side, Versus
    from statewalk.checker.compare.crossing import Crossing
    from statewalk.checker.states.diff import Change
    from statewalk.checker.traces.trace import Trace

SCHEMA = 1


def to_dict(comparison: Comparison, again: str = "") -> dict[str, Any]:
    """Return the object that ``--json`` prints; ``again`` is the command that repeats the
    comparison.
    """
    from statewalk.checker.compare.compare import changed

    base = comparison.base.run
    names = dict.fromkeys(p.name for side in comparison.sides for p in side.run.properties)
    return {
        "schema": SCHEMA,
        "command": again,
        "whole": comparison.whole,
        "sides": [_side(side) for side in comparison.sides],
        "changed": {
            side.name: {n: word for n in names if (word := CHANGED[changed(base, side.run, n)])}
            for side in comparison.sides[1:]
        },
        "versus": [_versus(versus) for versus in comparison.others],
        "left": list(comparison.left),
        "known": {name: list(said) for name, said in comparison.known.items()},
    }


def _side(side: Side) -> dict[str, Any]:
    traces = {name: _trace(trace) for name, trace in side.run.traces.items()}
    return {"name": side.name, "result": side.run.to_dict(), "traces": traces}


def _versus(versus: Versus) -> dict[str, Any]:
    return {
        "name": versus.other.name,
        "fields": [f"{owner}#{index}.{name}" for owner, index, name in versus.fields],
        "not_compared": list(versus.apart),
        "counterexamples_of_base": [_crossing(c) for c in versus.crossed],
        "counterexamples": [_crossing(c) for c in versus.crossed_back],
        "refines_base": _refinement(versus.forth),
        "refined_by_base": _refinement(versus.back),
        "states_alone": _only(versus.gained),
        "states_of_base_alone": _only(versus.lost),
        "bounds": list(versus.bounds),
    }


def _crossing(crossing: Crossing) -> dict[str, Any]:
    stopped, guard = crossing.step is not None, crossing.guard
    return {
        "property": crossing.trace.property,
        "trace": _trace(crossing.trace),
        "beside": _trace(crossing.followed),
        "differs": crossing.differs and _differs(*crossing.differs),
        "otherwise": [{"step": step, "choices": text} for step, text in crossing.otherwise],
        "goes_on": list(crossing.goes_on),
        "ends": [str(change) for change in crossing.ends],
        "possible": None if stopped and crossing.most else not stopped,
        "only_ways": crossing.most or None,
        "stopped_at": crossing.step,
        "because": (crossing.why or stopped_by(guard)) if stopped else None,
        "guard": guard and {"file": guard.file, "line": guard.line, "text": guard.text},
        "false_at_end": list(crossing.broken),
    }


def _differs(step: int, changes: tuple[Change, ...]) -> dict[str, Any]:
    return {"step": step, "changes": [str(change) for change in changes]}


def _refinement(found: Refinement) -> dict[str, Any]:
    refusal = found.refusal
    return {
        "verdict": "violated" if refusal else "holds" if found.whole else "unknown",
        "sure": found.whole if refusal is None else refusal.sure,
        "pairs": found.pairs,
        "trace": _trace(refusal.trace) if refusal else None,
        "beside": _trace(refusal.beside) if refusal and refusal.beside else None,
        "possible_instead": [_trace(t) for t in refusal.allowed] if refusal else [],
    }


def _only(only: Only) -> dict[str, Any]:
    return {"count": only.sights, "nearest": [_trace(trace) for trace in only.nearest]}


def _trace(trace: Trace) -> dict[str, Any]:
    """Return a trace as it is saved, and beside it for each step its words and what it changed."""
    return {
        **saved(trace),
        "labels": [label_of(trace, step) for step in trace.steps],
        "changes": [[str(change) for change in changes] for changes in trace.diffs],
    }
