"""Exit codes: a contract with scripts; docs/checking.md explains them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.result import Result

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
    strict = evidence is not None and evidence.options.strict and result.warnings
    done = NOT_MET if strict else HOLDS
    if evidence is not None and evidence.expectation is not None:
        return {True: done, False: NOT_MET, None: INCONCLUSIVE}[result.as_expected]
    return {"violated": VIOLATED, "bounded": INCONCLUSIVE, "holds": done}[result.verdict]


def of_sweep(codes: list[int]) -> int:
    """The exit code of several checks: that of the worst."""
    for code in (INTERNAL, MISTAKE, VIOLATED, NOT_MET, INCONCLUSIVE):
        if code in codes:
            return code
    return HOLDS
