"""Liveness under fairness, exactly: a state graph in, a verdict with a lasso out.

`explore` and `collect` build the graph (plainly, natively), `problems` says what a violation looks
like in it, `fair_cycles` and `lasso` find one, and `in_a_check` is the way in for a check.
"""

from statewalk.checker.liveness.check import check_liveness, refuse_constraints
from statewalk.checker.liveness.graph import Label, StateGraph, predicates
from statewalk.checker.liveness.result import (
    LIVENESS_KINDS,
    Lasso,
    LivenessOptions,
    LivenessResult,
    NotTaken,
)

__all__ = [
    "LIVENESS_KINDS",
    "Label",
    "Lasso",
    "LivenessOptions",
    "LivenessResult",
    "NotTaken",
    "StateGraph",
    "check_liveness",
    "predicates",
    "refuse_constraints",
]
