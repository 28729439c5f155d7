"""The comparison of two engines' results."""

from __future__ import annotations

from typing import Any

from statewalk.checker.contract.search import Exploration, Finding


def told(exploration: Exploration) -> dict[str, Any]:
    """All that the contract fixes of an exploration."""
    return {
        "counts": exploration.counts,
        "levels": exploration.levels,
        "findings": tuple(map(told_finding, exploration.findings)),
        "witnesses": tuple(map(told_finding, exploration.witnesses)),
        "fired": _some(exploration.fired),
        "fresh": _some(exploration.fresh),
        "cut": _some(exploration.cut),
        "complete": exploration.complete,
        "stopped": exploration.stopped,
        "queue": exploration.queue,
    }


def told_finding(finding: Finding) -> tuple[object, ...]:
    error = finding.error
    return (
        finding.property,
        finding.kind,
        finding.initial,
        finding.steps,
        finding.failing,
        None if error is None else (type(error), str(error)),
    )


def _some(counts: Any) -> dict[Any, int]:
    return {key: count for key, count in counts.items() if count}
