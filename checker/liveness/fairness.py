"""Fairness conditions of a model, and where in a graph each is enabled.

Meaning (TLA+'s WF_v(A) and SF_v(A), with v the whole state and one condition per action instance):
a step *takes* A if A allows it and it changes the state; A is *enabled* in a state from which such
a step exists. Which action a report names for a step does not matter: a step from s to t takes
every A that can lead from s to t. Weak: if A is enabled from some state on for ever, it is taken
infinitely often. Strong: if A is enabled infinitely often, it is taken infinitely often.

A fair choice is a condition of its own: the action instance with that option at that place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import numpy as np

from statewalk.checker.liveness.conditions import Condition, conditions
from statewalk.checker.liveness.graph import Bools, StateGraph, Words
from statewalk.checker.liveness.kernels import enabling, run
from statewalk.dsl.model import Model

BITS = 64


@dataclass(frozen=True)
class FairGraph:
    """A graph with its fairness conditions as bits, 64 to a word.

    ``takes[w]`` (labels,) and ``enabled[w]`` (n,) hold word w per label and per state; ``weak[w]``
    and ``strong[w]`` are the conditions of either kind.
    """

    graph: StateGraph
    conditions: tuple[Condition, ...]
    takes: tuple[Words, ...]
    enabled: tuple[Words, ...]
    weak: tuple[np.uint64, ...]
    strong: tuple[np.uint64, ...]

    @property
    def words(self) -> int:
        """How many words the conditions fill."""
        return len(self.takes)


def with_fairness(model: Model, graph: StateGraph) -> FairGraph:
    """Find the conditions and where each is enabled."""
    found = conditions(model, graph.table)
    takes, enabled, weak, strong = [], [], [], []
    for first in range(0, len(found), BITS):
        part = found[first : first + BITS]
        mask = np.zeros(max(1, len(graph.table)), np.uint64)
        known: dict[tuple[object, ...], int] = {}
        for at, label in enumerate(graph.table):
            key = (label.action, label.fair)
            if key not in known:
                known[key] = sum(1 << bit for bit, c in enumerate(part) if c.takes(label))
            mask[at] = known[key]
        takes.append(mask)
        enabled.append(_enabled(graph, mask))
        bits = _by_fairness(part)
        weak.append(bits[0])
        strong.append(bits[1])
    return FairGraph(graph, found, tuple(takes), tuple(enabled), tuple(weak), tuple(strong))


def _by_fairness(part: tuple[Condition, ...]) -> tuple[np.uint64, np.uint64]:
    """The bits of the weak conditions, and of the strong ones; there are no others."""
    weak = strong = 0
    for at, condition in enumerate(part):
        match condition.fairness:
            case "weak":
                weak |= 1 << at
            case "strong":
                strong |= 1 << at
            case _:
                assert_never(condition.fairness)
    return np.uint64(weak), np.uint64(strong)


def _enabled(graph: StateGraph, mask: Words) -> Words:
    """Per state, the conditions that some step which changes the state takes."""
    result = np.zeros(graph.n, np.uint64)
    given = (graph.offsets, graph.targets, graph.labels, mask)
    run(enabling, graph.n + graph.m, given, (result,))
    return result


def may_stutter(fair: FairGraph) -> Bools:
    """The states in which no fairness condition is enabled."""
    result: Bools = np.ones(fair.graph.n, np.bool_)
    for enabled in fair.enabled:
        result &= enabled == 0
    return result
