"""From a judged search to a `Run`: traces built, failures explained, evidence gathered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from statewalk.checker.contract.search import NO_ERROR, Finding
from statewalk.checker.contract.stops import stop_of
from statewalk.checker.engines.table import EngineEntry
from statewalk.checker.states.json import plain
from statewalk.checker.symmetry.group import Symmetry
from statewalk.checker.traces.trace import Trace, build, final_states
from statewalk.checker.verdict import judge
from statewalk.checker.verdict.evidence import (
    Evidence,
    Failure,
    NeverFired,
    Notice,
    Violation,
    describe,
    failed_assertion,
    failure_of,
)
from statewalk.checker.verdict.explain import explain
from statewalk.checker.verdict.fields import field_costs
from statewalk.checker.verdict.guards import blocked, never_fired
from statewalk.checker.verdict.reasons import reason_of
from statewalk.checker.verdict.run import Counts, PropertyResult, Result, Run, held_vacuously
from statewalk.dsl.declared import FAIRNESSES
from statewalk.dsl.errors import SpecError, StatewalkError, printable
from statewalk.dsl.model import Model
from statewalk.dsl.values.stored import freeze, typed

_FLOAT = 1024  # bits of an integer that is no float any more
_MANY = 10**8  # states; of more, 64 bits miss one with a probability worth a word


def conclude(
    checked: judge.Checked, entry: EngineEntry, seconds: float, shown: Callable[[Run], str]
) -> Run:
    """Return the run of a search that is over; ``shown`` gives its text."""
    model, found = checked.model, checked.exploration
    results = judge.properties(checked)
    verdict = judge.verdict(checked, results)
    traces = {
        name: replace(
            build(model, finding, checked.loops.get(name), told=not checked.brief),
            abstract=checked.abstract.get(name),
        )
        for name, finding in checked.findings.items()
    }
    evidence = _evidence(checked, entry, results, traces)
    traces |= {v.property: v.trace for v in evidence.violations}
    differs: tuple[str, ...] | None = None
    if evidence.expectation is not None:
        differs = judge.unexpected(checked, evidence.expectation, verdict, results)
        evidence = replace(evidence, unexpected=differs or ())
    notices = tuple(_notices(checked, evidence, results, met=differs == ()))
    result = Result(
        spec=model.path,
        constants={n: constant_json(v) for n, v in model.constants.items()},
        engine=found.engine,
        verdict=verdict,
        exhaustive=checked.exhaustive,
        as_expected=None if differs is None else not differs,
        counts=Counts(**vars(found.counts)),
        seconds=round(seconds, 6),
        properties=results,
        actions=judge.actions(checked),
        warnings=tuple(n.text for n in notices),
    )
    return Run(result, replace(evidence, warnings=notices), traces, shown, model)


def _evidence(
    checked: judge.Checked,
    entry: EngineEntry,
    results: tuple[PropertyResult, ...],
    traces: dict[str, Trace],
) -> Evidence:
    model, found, options = checked.model, checked.exploration, checked.options
    n = found.counts.distinct
    expect = judge.expectation(model, options.config)
    error = checked.findings.get(NO_ERROR)
    unreached = [r.name for r in results if r.of_kind.witness and r.verdict == "violated"]
    auxiliary = [f"{f.owner}.{f.name}" for f in model.fields.values() if f.auxiliary]
    return Evidence(
        options=options,
        stopped=found.stopped,
        bounds=judge.bounds(checked),
        levels=found.levels,
        queue=0 if found.complete else found.queue,
        violations=_violations(checked, results, traces),
        failure=_failure(checked, error, traces) if error else None,
        witnesses=tuple((f.property, f.length) for f in found.witnesses),
        unreached=tuple(unreached),
        unchecked=tuple(
            (r.name, checked.unchecked[r.name]) for r in results if r.name in checked.unchecked
        ),
        never=_never(checked),
        cut={name: count for name, count in found.cut.items() if count},
        hidden=tuple(auxiliary) if options.view else (),
        collision=None if entry.compares_states else min(1.0, n * n / 2.0 ** (options.bits + 1)),
        fairness=_fairness(checked),
        symmetry=(
            *(_symmetry(checked) if judge.uses_symmetry(model, options) else ()),
            *model.counted_by,
        ),
        fields=field_costs(model, found),
        expectation=expect if expect is None or judge.is_compared(checked, expect) else None,
        left_out=judge.left_out(checked, expect) if expect is not None else (),
        sources=model.origins,
        statistics=found.statistics,
        graph=checked.graph,
        compared=checked.compared,
        unfinished=checked.unfinished,
    )


def _failure(checked: judge.Checked, error: Finding, traces: dict[str, Trace]) -> Failure:
    trace = traces[NO_ERROR]
    if checked.brief:
        return describe(error.error, "", checked.model, trace)
    return failure_of(checked.model, error, trace)


def _never(checked: judge.Checked) -> tuple[NeverFired, ...]:
    """Return the actions that never fired, unless the search was cut short by what it found."""
    found = checked.exploration
    if found.stopped in ("violation", "error") or NO_ERROR in checked.findings:
        return ()
    if found.running is not None:  # looking for the guard might take as long again
        return ()
    fired = (index for index, count in found.fired.items() if count)
    return never_fired(checked.model, fired, found.counts.distinct, whole=found.complete)


def _violations(
    checked: judge.Checked, results: tuple[PropertyResult, ...], traces: dict[str, Trace]
) -> tuple[Violation, ...]:
    """Return the violated properties that have a trace, the shortest first."""
    violations = [
        violation_of(
            checked.model,
            checked.findings[result.name],
            traces[result.name],
            checked.not_taken.get(result.name, ()),
            brief=checked.brief,
        )
        for result in results
        if result.verdict == "violated" and result.name in traces and result.name != NO_ERROR
    ]
    return tuple(sorted(violations, key=lambda v: v.trace.length))


def violation_of(
    model: Model,
    finding: Finding,
    trace: Trace,
    not_taken: tuple[str, ...] = (),
    *,
    brief: bool = False,
) -> Violation:
    """Return a violated property with what is false, what blocks a deadlock, what a lasso
    leaves out.

    If ``brief``, without what is false and what blocks.
    """
    prop = next((p for p in model.properties if p.name == finding.property), None)
    doc, span = (prop.doc, prop.span) if prop else ("", None)
    found = Violation(
        finding.property, finding.kind, trace, None, doc, span, (), not_taken, model.dialect,
    )  # fmt: skip
    if brief:
        return found
    if trace.abstract is None and finding.kind == "assertion":
        found = replace(found, explanation=failed_assertion(model, finding))
    elif trace.abstract is None:
        if finding.kind == "deadlock":
            found = replace(found, blocked=blocked(model, final_states(model, finding)[0]))
        found = replace(found, explanation=explain(model, finding))
    return replace(found, trace=replace(trace, reason=reason_of(model, finding, found)))


def _symmetry(checked: judge.Checked) -> tuple[str, ...]:
    """Return who changes places, and what that spares."""
    symmetry = Symmetry.of(checked.model)
    said = symmetry.described()
    orbits = checked.exploration.counts.distinct
    states = checked.exploration.statistics.get("represented")
    if not orbits or not states:
        return said
    # sizes of orbits are counted in floats
    exact = symmetry.order.bit_length() < _FLOAT and int(float(symmetry.order)) == symmetry.order
    shown = f"{states:,}" if exact else f"about {states:.3g}"
    if checked.model.fresh_values or not symmetry.starts_evenly():
        return (*said, f"{orbits:,} orbits of at most {shown} states")
    return (*said, f"{orbits:,} orbits stand for {shown} states (factor {states / orbits:.3g})")


def _fairness(checked: judge.Checked) -> dict[str, tuple[str, ...]]:
    model = checked.model
    names = model.action_names()
    found: dict[str, tuple[str, ...]] = {}
    for fairness in FAIRNESSES:
        fair = dict.fromkeys(names[a.index] for a in model.actions if a.fairness == fairness)
        each = sorted(name for name, of in checked.fair_choices if of == fairness)
        if (fair or each) and fairness != "none":
            found[fairness] = (*fair, *(f"each choice of {name}" for name in each))
    if model.assumptions:
        found["assumed"] = tuple(f"{p.name} ({p.of_kind.word})" for p in model.assumptions)
    return found


def _notices(
    checked: judge.Checked,
    evidence: Evidence,
    results: tuple[PropertyResult, ...],
    *,
    met: bool,
) -> Iterator[Notice]:
    """Yield what a reader should know before trusting the verdict; with --strict each counts.
    Where an expectation is ``met``, what the violation left unchecked that it asks for is none.
    """
    if (failure := evidence.failure) is not None:
        span = failure.frames[-1] if failure.frames else None
        place = f"{span.file}:{span.line}" if span else ""
        parts = (failure.title, failure.where, place)
        yield Notice("error", "", " ".join(part for part in parts if part), span)
    for name, why in evidence.unchecked:
        if met and why == stop_of("violation").liveness:
            continue
        yield Notice("unchecked", name, f"{name}: {why}")
    for bound in evidence.bounds:
        yield Notice("bounded", "", f"bounded: {bound}")
    for action in evidence.never if checked.exhaustive else ():
        yield Notice("never", action.name, f"never fired: {action.name}", action.span)
    for name in held_vacuously(results):
        text = f"vacuous: {name} held, but the case it speaks of never arose"
        yield Notice("vacuous", name, text)
    if all(p.of_kind.searched for p in checked.model.properties):
        for assumed in checked.model.assumptions:
            text = f"vacuous: {assumed.name} is assumed of behaviors, and no property is about them"
            yield Notice("vacuous", assumed.name, text)
    looked = [r for r in results if r.name not in checked.unchecked]
    if evidence.failure is None and all(r.kind == "deadlock" for r in looked):
        yield Notice("nothing", "", f"no property was checked{', only deadlocks' * bool(looked)}")
    for warning in checked.model.warnings:
        yield Notice("spec", warning.code, _one_line(warning), warning.at)
    for text in checked.warnings:
        yield Notice("search", "", text)
    n = checked.exploration.counts.distinct
    if evidence.collision is not None and n > _MANY and evidence.options.fingerprint_bits is None:
        yield Notice(
            "search", "SW347",
            f"SW347 {n:,} states were told apart by 64 bits: that one was missed has a probability "
            f"below {evidence.collision:.0e}. --fingerprint-bits 128 makes it negligible; "
            "--fingerprint-bits 64 says that it will do.",
        )  # fmt: skip


def constant_json(value: Any) -> Any:
    """Return a constant as the result shows it."""
    try:
        return plain(freeze(value))
    except (StatewalkError, TypeError):
        return typed(value)


def _one_line(warning: SpecError) -> str:
    """Return a warning of the spec without its excerpt: ``SW503 spec.py:3:1: ...``"""
    place = f"{warning.at}: " if warning.at else ""
    lines = "\n".join((place + warning.message, warning.why, warning.help)).splitlines()
    words = (line.strip() for line in (warning.code, *lines))
    return printable(" ".join(filter(None, words)))
