"""Exit codes: a contract with scripts; docs/reference/verdicts.md explains them.

What counts against a run is decided here, for the exit code and for every report to machines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from statewalk.checker.verdict.run import Run

HOLDS = 0
VIOLATED = 1
MISTAKE = 2
INCONCLUSIVE = 3
NOT_MET = 4
DIVERGED = 5
INTERNAL = 70


def exit_code(run: Run) -> int:
    """Return the exit code of a check."""
    if run.verdict == "error":
        return MISTAKE
    done = NOT_MET if refused_warnings(run) else HOLDS
    if run.evidence.expectation is not None:
        return {True: done, False: NOT_MET, None: INCONCLUSIVE}[run.as_expected]
    if faults(run):
        return VIOLATED
    return INCONCLUSIVE if run.verdict == "bounded" else done


def faults(run: Run) -> frozenset[str]:
    """Return the violated properties that count against a run: those that it was not expected
    to find.
    """
    violated = frozenset(p.name for p in run.properties if p.verdict == "violated")
    expect = run.evidence.expectation
    if expect is None:
        return violated
    if run.as_expected is not False:
        return frozenset()
    if expect.verdict == "violated" and not expect.properties:
        return frozenset()
    return violated - {name for name in violated if expect.names(name)}


def refused_warnings(run: Run) -> tuple[str, ...]:
    """Return the warnings that ``--strict`` does not let pass, where everything else is well."""
    if not run.evidence.options.strict or run.verdict == "error":
        return ()
    expected = run.evidence.expectation is not None
    well = run.as_expected if expected else run.verdict == "holds"
    return run.warnings if well else ()


def of_sweep(codes: list[int]) -> int:
    """Return the exit code of several checks: that of the worst."""
    for code in (INTERNAL, MISTAKE, VIOLATED, NOT_MET, INCONCLUSIVE):
        if code in codes:
            return code
    return HOLDS
