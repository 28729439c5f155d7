"""Exit codes: a contract with scripts; docs/checking.md explains them.

What counts against a run is decided here, for the exit code and for every report to machines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from statewalk.checker.verdict.result import Result

HOLDS = 0
VIOLATED = 1
MISTAKE = 2
INCONCLUSIVE = 3
NOT_MET = 4
DIVERGED = 5
INTERNAL = 70


def exit_code(result: Result) -> int:
    """The exit code of a check."""
    evidence = result.evidence
    if result.verdict == "error":
        return MISTAKE
    done = NOT_MET if refused_warnings(result) else HOLDS
    if evidence is not None and evidence.expectation is not None:
        return {True: done, False: NOT_MET, None: INCONCLUSIVE}[result.as_expected]
    if faults(result):
        return VIOLATED
    return INCONCLUSIVE if result.verdict == "bounded" else done


def faults(result: Result) -> frozenset[str]:
    """The violated properties that count against a run: those that it was not expected to find."""
    violated = frozenset(p.name for p in result.properties if p.verdict == "violated")
    expect = result.evidence.expectation if result.evidence is not None else None
    if expect is None:
        return violated
    if result.as_expected is not False:
        return frozenset()
    if expect.verdict == "violated" and not expect.properties:
        return frozenset()
    return violated - {name for name in violated if expect.names(name)}


def refused_warnings(result: Result) -> tuple[str, ...]:
    """The warnings that ``--strict`` does not let pass, where everything else is well."""
    evidence = result.evidence
    if evidence is None or not evidence.options.strict or result.verdict == "error":
        return ()
    expected = evidence.expectation is not None
    well = result.as_expected if expected else result.verdict == "holds"
    return result.warnings if well else ()


def of_sweep(codes: list[int]) -> int:
    """The exit code of several checks: that of the worst."""
    for code in (INTERNAL, MISTAKE, VIOLATED, NOT_MET, INCONCLUSIVE):
        if code in codes:
            return code
    return HOLDS
