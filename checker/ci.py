"""Results for machines that build software: JUnit XML, SARIF, and annotations of GitHub's
workflows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as Xml

if TYPE_CHECKING:
    from checker.evidence import Evidence, Violation
    from checker.result import Result
    from checker.trace import Trace
    from dsl.errors import Span

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = {
    "violated": "A property is violated.",
    "error": "The spec raised an exception.",
    "vacuous": "A property held because the case it speaks of never arose.",
    "never": "An action never happened.",
    "warning": "Something that may be a mistake.",
}


def to_junit(result: Result) -> str:
    """One test case per property. Unknown verdicts are skipped, vacuous ones say so."""
    suite = Xml.Element(
        "testsuite",
        name=result.spec,
        tests=str(len(result.properties)),
        failures=str(sum(p.verdict == "violated" for p in result.properties)),
        errors=str(int(result.verdict == "error")),
        time=f"{result.seconds:.3f}",
    )
    properties = Xml.SubElement(suite, "properties")
    for name, value in result.constants.items():
        Xml.SubElement(properties, "property", name=name, value=repr(value))
    if result.verdict == "error" and not result.properties:
        case = Xml.SubElement(suite, "testcase", name="load", classname=result.spec)
        Xml.SubElement(case, "error", message="; ".join(result.warnings) or "error")
    for prop in result.properties:
        case = Xml.SubElement(suite, "testcase", name=prop.name, classname=result.spec)
        if prop.verdict == "violated":
            steps = f" after {prop.length} steps" if prop.length is not None else ""
            failure = Xml.SubElement(
                case, "failure", message=f"{prop.name} is violated{steps}", type=prop.kind
            )
            trace = result.traces.get(prop.name)
            failure.text = _clean(str(trace)) if trace else ""
        elif prop.verdict == "unknown":
            Xml.SubElement(case, "skipped", message=f"{prop.name}: unknown ({result.verdict})")
        elif prop.vacuous:
            Xml.SubElement(case, "system-out").text = "held vacuously"
    Xml.indent(suite)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(suite, encoding="unicode") + "\n"
    )


def _clean(text: str) -> str:
    """Text without characters that XML cannot hold."""
    return "".join(c if c in "\n\t" or ord(c) >= 32 else "?" for c in text)


def to_sarif(result: Result) -> str:
    """One result per violated property, exception, vacuous property and action that never fired."""
    document = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "statewalk",
                        "informationUri": "https://pypi.org/project/statewalk/",
                        "rules": [
                            {"id": rule, "shortDescription": {"text": text}}
                            for rule, text in _RULES.items()
                        ],
                    }
                },
                "results": [dict(found) for found in _sarif_results(result)],
                "columnKind": "unicodeCodePoints",
            }
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _sarif_results(result: Result) -> Iterator[dict[str, Any]]:
    evidence = result.evidence
    if evidence is None:
        return
    for violation in evidence.violations:
        yield _finding(
            "violated", "error",
            f"{violation.property} is violated after {violation.trace.length} steps.",
            _span_of(violation), result.spec, violation.trace,
        )  # fmt: skip
    if evidence.failure is not None:
        span = evidence.failure.frames[-1] if evidence.failure.frames else None
        yield _finding(
            "error", "error", evidence.failure.title, span, result.spec, evidence.failure.trace
        )
    for prop in result.properties:
        if prop.vacuous:
            yield _finding("vacuous", "warning", f"{prop.name} held vacuously.", None, result.spec)
    for action in evidence.never:
        yield _finding(
            "never", "warning", f"{action.name} never happened.", action.span, result.spec
        )
    said = ("never fired: ", "vacuous: ")  # told above
    for warning in result.warnings[evidence.failure is not None :]:
        if not warning.startswith(said):
            yield _finding("warning", "warning", warning, None, result.spec)


def _span_of(violation: Violation) -> Span | None:
    explanation = violation.explanation
    if (
        explanation is not None
        and explanation.last is not None
        and explanation.last.span is not None
    ):
        return explanation.last.span
    return violation.span


def _finding(
    rule: str, level: str, text: str, span: Span | None, spec: str, trace: Trace | None = None
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": rule,
        "level": level,
        "message": {"text": text},
        "locations": [_location(span.file if span else spec, span.line if span else 1, span)],
    }
    if trace is not None and trace.steps:
        steps = [
            {
                "location": {
                    **_location(step.file or spec, step.line or 1),
                    "message": {"text": step.label},
                }
            }
            for step in trace.steps
        ]
        found["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    return found


def _location(file: str, line: int, span: Span | None = None) -> dict[str, Any]:
    region: dict[str, int] = {"startLine": max(1, line)}
    if span is not None and span.end_column:
        region |= {"startColumn": span.column, "endColumn": span.end_column}
    uri = file.replace("\\", "/").removeprefix("./")
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}


def to_github(result: Result) -> str:
    """Lines that a workflow of GitHub shows at the places they speak of."""
    evidence = result.evidence
    lines = list(_github_lines(result, evidence)) if evidence is not None else []
    return "".join(line + "\n" for line in lines)


def _github_lines(result: Result, evidence: Evidence) -> Iterator[str]:
    for violation in evidence.violations:
        steps = violation.trace.steps
        text = (
            f"violated after {len(steps)} steps: {steps[-1].label}"
            if steps
            else "violated initially"
        )
        yield _command("error", _span_of(violation), result.spec, violation.property, text)
    if evidence.failure is not None:
        span = evidence.failure.frames[-1] if evidence.failure.frames else None
        yield _command("error", span, result.spec, "exception", evidence.failure.title)
    for action in evidence.never:
        yield _command(
            "warning", action.span, result.spec, action.name, "this action never happened"
        )
    for warning in result.warnings:
        yield _command("warning", None, result.spec, "statewalk", warning)


def _command(kind: str, span: Span | None, spec: str, title: str, text: str) -> str:
    def escaped(value: str) -> str:
        return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    def in_property(value: str) -> str:
        return escaped(value).replace(":", "%3A").replace(",", "%2C")

    file, line = (span.file, span.line) if span else (spec, 1)
    return (
        f"::{kind} file={in_property(file)},line={line},title={in_property(title)}::{escaped(text)}"
    )
