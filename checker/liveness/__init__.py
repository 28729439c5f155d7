"""Liveness under fairness, exactly: a state graph in, a verdict with a lasso out."""

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
