"""Results for machines that build software: JUnit XML, SARIF, and annotations of GitHub's
workflows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote
from xml.etree import ElementTree as Xml

from statewalk.checker.machine.installed import source
from statewalk.checker.report.trace import trace_page
from statewalk.checker.verdict import exits
from statewalk.checker.verdict.judge import TO_HOLD
from statewalk.checker.verdict.run import held_vacuously
from statewalk.dsl.errors import Span, printable

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace
    from statewalk.checker.verdict.evidence import Violation
    from statewalk.checker.verdict.run import PropertyResult, Result, Run

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_TITLED = re.compile(r"(.*?,title=)([^:]*?)(?: \[([^:]*)\])?(::.*)")
_RULES = {
    "violated": "A property is violated.",
    "error": "The spec raised an exception, or could not be loaded.",
    "expectation": "A configuration did not give what it expects.",
    "vacuous": "A property held because the case it speaks of never arose.",
    "never": "An action never happened.",
    "warning": "Something that may be a mistake.",
}


def to_junit(*runs: Run) -> str:
    """Return one test case per property, one suite per check. Unknown verdicts are skipped.

    What a configuration expects, and warnings that count, are cases of their own.
    """
    suites = [_suite(run) for run in runs]
    root = suites[0]
    if len(suites) > 1:
        root = Xml.Element("testsuites")
        root.extend(suites)
    Xml.indent(root)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        + printable(Xml.tostring(root, encoding="unicode"))
        + "\n"
    )


def _suite(run: Run) -> Xml.Element:
    evidence = run.evidence
    config = evidence.options.config
    suite = Xml.Element("testsuite", name=f"{run.spec} [{config}]" if config else run.spec)
    properties = Xml.SubElement(suite, "properties")
    for name, value in run.constants.items():
        Xml.SubElement(properties, "property", name=name, value=repr(value))

    def case(name: str) -> Xml.Element:
        return Xml.SubElement(suite, "testcase", name=name, classname=run.spec)

    if run.verdict == "error":
        message = evidence.error.text if evidence.error else "error"
        Xml.SubElement(case(_error_of(run)), "error", message=message)
    for prop in run.properties:
        if prop.kind != "error":
            _junit_property(case(prop.name), run, prop)
    if evidence.expectation is not None and run.verdict != "error":
        made = case("expectation")
        if unmet := _unmet(run):
            Xml.SubElement(made, "failure", message=unmet)
        elif run.as_expected is False:
            Xml.SubElement(made, "system-out").text = "; ".join(evidence.unexpected)
        elif run.as_expected is None:
            Xml.SubElement(made, "skipped", message="expectation: cannot be told")
    if refused := exits.refused_warnings(run):
        failure = Xml.SubElement(case("warnings"), "failure", message="warnings, with --strict")
        failure.text = "\n".join(refused)
    for word, kinds in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
        suite.set(word, str(sum(1 for _ in suite.iter(kinds))))
    suite.set("skipped", str(sum(1 for _ in suite.iter("skipped"))))
    suite.set("time", f"{run.seconds:.3f}")
    return suite


def _error_of(run: Run) -> str:
    return next((p.name for p in run.properties if p.kind == "error"), "load")


def _junit_property(case: Xml.Element, run: Run, prop: PropertyResult) -> None:
    said = _violated(prop)
    if prop.name in exits.faults(run):
        failure = Xml.SubElement(case, "failure", message=said, type=prop.kind)
        trace = run.traces.get(prop.name)
        failure.text = trace_page(trace).plain() if trace else ""
    elif prop.verdict == "violated":
        known = ", as expected" if run.as_expected is not None else ""
        Xml.SubElement(case, "system-out").text = said + known
    elif prop.verdict == "unknown":
        Xml.SubElement(case, "skipped", message=f"{prop.name}: unknown ({run.verdict})")
    elif prop.vacuous:
        Xml.SubElement(case, "system-out").text = "held vacuously"


def _violated(prop: PropertyResult) -> str:
    steps = f" after {prop.length} steps" if prop.length is not None else ""
    return f"{prop.name} is violated{steps}"


def to_sarif(*runs: Run) -> str:
    """Return what `findings` has, as SARIF 2.1.0."""
    return sarif_text([sarif_result(f, run.spec) for run in runs for f in findings(run)])


def sarif_text(results: list[dict[str, Any]]) -> str:
    """Return a document of SARIF 2.1.0 with these results."""
    document = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "statewalk",
                        **({"informationUri": uri} if (uri := source().page) else {}),
                        "rules": [
                            {"id": rule, "shortDescription": {"text": text}}
                            for rule, text in _RULES.items()
                        ],
                    }
                },
                "results": results,
                "columnKind": "unicodeCodePoints",
            }
        ],
    }
    return printable(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


@dataclass(frozen=True)
class Found:
    """Something to say of a place. ``level``: error where it counts against the run."""

    rule: str
    level: Literal["error", "warning", "note"]
    name: str
    text: str
    span: Span | None = None
    trace: Trace | None = None


def findings(run: Run) -> Iterator[Found]:
    """Yield what is wrong, what is as expected although it looks wrong, and warnings."""
    evidence = run.evidence
    faults = exits.faults(run)
    known = {v.property: v for v in evidence.violations}
    for prop in run.properties:
        if prop.verdict == "violated" and prop.kind != "error":
            violation = known.get(prop.name)
            level: Literal["error", "note"] = "error" if prop.name in faults else "note"
            expected = ", as expected" if level == "note" and run.as_expected else ""
            yield Found(
                "violated", level, prop.name, f"{_violated(prop)}{expected}.",
                _span_of(violation) if violation else None, violation.trace if violation else None,
            )  # fmt: skip
    failure, error = evidence.failure, evidence.error
    if failure is not None:
        span = failure.frames[-1] if failure.frames else None
        yield Found("error", "error", "exception", failure.title, span, failure.trace)
    elif run.verdict == "error":
        text = error.text if error else "The check could not begin."
        yield Found("error", "error", "error", text, error.span if error else None)
    if unmet := _unmet(run):
        yield Found("expectation", "error", evidence.options.config or "expectation", unmet)
    strict: Literal["error", "warning"] = "error" if exits.refused_warnings(run) else "warning"
    for name in held_vacuously(run.properties):
        yield Found("vacuous", strict, name, f"{name} held vacuously.")
    for action in evidence.never:
        # a bounded search warns of none
        level_ = strict if run.exhaustive else "warning"
        text = f"{action.name} never happened."
        yield Found("never", level_, action.name, text, action.span)
    for notice in evidence.warnings:
        if notice.kind not in ("error", "never", "vacuous"):  # told above
            yield Found("warning", strict, "statewalk", notice.text, notice.span)


def _unmet(run: Run) -> str:
    """Return what a configuration expects and did not get, beyond the violations that are told
    anyway.
    """
    if run.as_expected is not False:
        return ""
    expected = run.evidence.unexpected
    told = exits.faults(run) or run.evidence.failure is not None
    return "; ".join(expected[1:] if told and expected[0].startswith(TO_HOLD) else expected)


def _span_of(violation: Violation) -> Span | None:
    explanation = violation.explanation
    if (
        explanation is not None
        and explanation.last is not None
        and explanation.last.span is not None
    ):
        return explanation.last.span
    return violation.span


def sarif_result(found: Found, spec: str) -> dict[str, Any]:
    """Return what was found of a spec, as a result of SARIF."""
    span, trace = found.span, found.trace
    made: dict[str, Any] = {
        "ruleId": found.rule,
        "level": found.level,
        "message": {"text": found.text},
        "locations": [_location(span.file if span else spec, span.line if span else 1, span)],
    }
    if trace is not None:
        steps = [
            {
                "location": {
                    **_location(step.file or spec, step.line or 1),
                    "message": {"text": step.label},
                }
            }
            for step in trace.steps
        ]
        start = f"init ({trace.initial + 1})" if trace.initial else "init"
        first = {"location": {**_location(spec, 1), "message": {"text": start}}}
        steps = steps or [first]
        made["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    return made


def _location(file: str, line: int, span: Span | None = None) -> dict[str, Any]:
    region: dict[str, int] = {"startLine": max(1, line)}
    if span is not None and span.end_column:
        region |= {"startColumn": span.column, "endColumn": span.end_column}
    uri = quote(file.replace("\\", "/").removeprefix("./"), errors="surrogateescape")
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}


def to_github(*runs: Run) -> str:
    """Lines that a workflow of GitHub shows at the places they speak of."""
    lines = (
        github_line(f, run.spec, run.evidence.options.config) for run in runs for f in findings(run)
    )
    return "".join(f"{line}\n" for line in together(lines, [run.result for run in runs]))


def github_line(found: Found, spec: str, config: str | None = None) -> str:
    """Return what was found of a spec, as an annotation; of a configuration, with its name."""
    kind = {"note": "notice"}.get(found.level, found.level)
    title = found.name if config is None else f"{found.name} [{config}]"
    return _command(kind, found.span, spec, title, _github_text(found))


def together(
    lines: Iterable[str], results: Sequence[Result], *, all_there: bool = True
) -> list[str]:
    """Annotations of a spec: what is the same in several configurations is said once, of all of
    them. No warning is said of an action that happens in one of the ``results``, or may in one that
    is not there.
    """
    fired = {action.name for result in results for action in result.actions if action.fired}
    found: dict[tuple[str, str, str], list[str]] = {}
    for line in lines:
        told = _TITLED.fullmatch(line)
        if told is None:
            found.setdefault((line, "", ""), [])
            continue
        head, name, config, text = told.groups()
        never = head.startswith("::warning") and text == f"::{name} never happened."
        if never and (name in fired or not all_there):
            continue
        found.setdefault((head, name, text), []).extend([config] if config else [])
    return [
        head + name + (f" [{'%2C '.join(configs)}]" if configs else "") + text
        for (head, name, text), configs in found.items()
    ]


def _github_text(found: Found) -> str:
    if found.rule != "violated" or found.trace is None or not found.trace.steps:
        return found.text
    return f"{found.text.rstrip('.')}: {found.trace.steps[-1].label}"


def _command(kind: str, span: Span | None, spec: str, title: str, text: str) -> str:
    def escaped(value: str) -> str:
        return printable(value).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    def in_property(value: str) -> str:
        return escaped(value).replace(":", "%3A").replace(",", "%2C")

    file, line = (span.file, span.line) if span else (spec, 1)
    return (
        f"::{kind} file={in_property(file)},line={line},title={in_property(title)}::{escaped(text)}"
    )
