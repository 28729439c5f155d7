"""Shorter ways to a violation that a walk met.

Steps are left out, half of them first and single ones last, as long as what is left can be taken
and violates the same property. Then no single step can be left out any more; there may be shorter
ways of other steps.

Source: Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", TSE 2002
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from statewalk.checker.behaviours.random_walk import RaisedError, Simulation, Walk

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Finding, Step
    from statewalk.dsl.model import Model


def shrunk(model: Model, finding: Finding) -> Finding:
    """Return a finding of the same property with as many steps or fewer."""
    if finding.kind == "error":
        return finding
    steps = list(finding.steps)
    if finding.failing is not None:
        steps.append(finding.failing)
    size = len(steps) // 2
    while size:
        at = 0
        while at < len(steps):
            shorter = _again(model, finding, [*steps[:at], *steps[at + size :]])
            if shorter is None:
                at += size
                continue
            finding = shorter
            steps = [*finding.steps, *([finding.failing] if finding.failing else [])]
        size = size // 2 if size > 1 or at == 0 else 0
    return finding


def _again(model: Model, finding: Finding, steps: list[Step]) -> Finding | None:
    """Return what steps violate of the same property; None where one is disabled or nothing is."""
    result = Simulation(0)
    walk = Walk(model, result, finding.initial, dict(model.initial_states[finding.initial]))
    try:
        return _violated(walk, finding, steps)
    except RaisedError:
        return None


def _violated(walk: Walk, finding: Finding, steps: list[Step]) -> Finding | None:
    result, going = walk.result, walk.look()
    for step in steps:
        if not going or result.findings:
            break
        move = next((m for m in walk.moves(step.action) if m.step == step), None)
        if move is None:
            return None
        going = walk.take(move)
    if going and not result.findings and finding.kind == "deadlock":
        walk.find_deadlock(walk.moves())
    return result.findings.get(finding.property)
