"""From a judged search to a `Result`: traces built, failures explained, evidence gathered."""

from __future__ import annotations

from typing import Any

from dsl.errors import StatewalkError
from dsl.model import Model
from dsl.values import freeze

from checker import judge
from checker.engine import NO_ERROR
from checker.engines import EngineEntry
from checker.evidence import Evidence, Violation
from checker.explain import explain, failure_of
from checker.result import Counts, PropertyResult, Result
from checker.trace import Trace, build
from checker.trace_values import plain


def conclude(checked: judge.Checked, entry: EngineEntry, seconds: float) -> Result:
    """The result of a search."""
    model, found = checked.model, checked.exploration
    results = judge.properties(checked)
    run = judge.verdict(checked, results)
    traces = {name: build(model, finding) for name, finding in checked.findings.items()}
    evidence = _evidence(checked, entry, results, traces)
    expect = evidence.expectation
    differs = judge.unexpected(checked, expect, run, results) if expect else None
    result = Result(
        spec=model.path,
        constants={n: constant_json(v) for n, v in model.constants.items()},
        engine=found.engine,
        verdict=run,
        exhaustive=checked.exhaustive,
        as_expected=None if differs is None else not differs,
        counts=Counts(
            initial=found.counts.initial,
            distinct=found.counts.distinct,
            generated=found.counts.generated,
            depth=found.counts.depth,
        ),
        seconds=round(seconds, 6),
        properties=results,
        actions=judge.actions(checked),
        warnings=_warnings(checked, evidence, results),
    )
    result._evidence = evidence
    result._traces = traces
    return result


def _evidence(
    checked: judge.Checked,
    entry: EngineEntry,
    results: tuple[PropertyResult, ...],
    traces: dict[str, Trace],
) -> Evidence:
    model, found = checked.model, checked.exploration
    n = found.counts.distinct
    by_name = {p.name: p for p in model.properties}
    violations = []
    for result in results:
        if result.verdict == "violated" and result.name in traces and result.name != NO_ERROR:
            prop = by_name.get(result.name)
            violations.append(
                Violation(
                    result.name,
                    result.kind,
                    traces[result.name],
                    explain(model, checked.findings[result.name]),
                    prop.doc if prop else "",
                    prop.span if prop else None,
                )
            )
    error = checked.findings.get(NO_ERROR)
    return Evidence(
        options=checked.options,
        stopped=found.stopped,
        bounds=judge.bounds(checked),
        levels=found.levels,
        queue=found.queue,
        violations=tuple(violations),
        failure=failure_of(model, error, traces[NO_ERROR]) if error else None,
        witnesses=tuple((f.property, f.length) for f in found.witnesses),
        unreached=tuple(r.name for r in results if r.kind == "exists" and r.verdict == "violated"),
        unchecked=tuple((r.name, checked.unchecked[r.name]) for r in results if r.name in checked.unchecked),
        cut={name: count for name, count in found.cut.items() if count},
        hidden=tuple(f"{f.owner}.{f.name}" for f in model.fields.values() if f.auxiliary)
        if checked.options.view
        else (),
        collision=None if entry.compares_states else min(1.0, n * n / 2.0**65),
        fairness=_fairness(model),
        expectation=judge.expectation(model, checked.options.config),
        sources=model.sources,
        statistics=found.statistics,
    )


def _fairness(model: Model) -> dict[str, tuple[str, ...]]:
    names = judge.action_names(model)
    kinds: dict[str, tuple[str, ...]] = {}
    for kind in ("weak", "strong"):
        fair = dict.fromkeys(names[a.index] for a in model.actions if a.fairness == kind)
        if fair:
            kinds[kind] = tuple(fair)
    return kinds


def _warnings(
    checked: judge.Checked, evidence: Evidence, results: tuple[PropertyResult, ...]
) -> tuple[str, ...]:
    found = [f"{name}: {why}" for name, why in evidence.unchecked]
    return tuple(found)


def constant_json(value: Any) -> Any:
    """A constant as the result shows it."""
    try:
        return plain(freeze(value))
    except (StatewalkError, TypeError):
        return repr(value)
