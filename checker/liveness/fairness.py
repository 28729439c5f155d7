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
from itertools import pairwise

import numpy as np

from checker.liveness.graph import Bools, Label, Positions, StateGraph, Words
from dsl.model import Fairness, Model
from dsl.view import FairChoice

BITS = 64
CHUNK = 1 << 22  # transitions looked at together, to bound the memory of intermediate arrays


@dataclass(frozen=True)
class Condition:
    """One fairness condition: an action instance, or one option of a fair choice in it."""

    fairness: Fairness
    action: int
    label: str
    choice: FairChoice | None = None

    def takes(self, label: Label) -> bool:
        """Whether steps with a label take it."""
        return label.action == self.action and (self.choice is None or self.choice in label.fair)


def conditions(model: Model, table: tuple[Label, ...]) -> tuple[Condition, ...]:
    """The fairness conditions, actions first; only of actions that occur in the graph."""
    present = {label.action for label in table}
    found = [
        Condition(a.fairness, a.index, a.label)
        for a in model.actions
        if a.fairness != "none" and a.index in present
    ]
    chosen = sorted({(label.action, choice) for label in table for choice in label.fair})
    for action, choice in chosen:
        text = f"{model.actions[action].label} choosing {choice.shown}"
        level: Fairness = "strong" if choice.fairness == "strong" else "weak"
        found.append(Condition(level, action, text, choice))
    return tuple(found)


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

    def named(self, word: int, bits: int) -> list[Condition]:
        """The conditions of a word of bits."""
        part = self.conditions[word * BITS : (word + 1) * BITS]
        return [c for at, c in enumerate(part) if bits >> at & 1]


def with_fairness(model: Model, graph: StateGraph) -> FairGraph:
    """Find the conditions and where each is enabled."""
    found = conditions(model, graph.table)
    takes, enabled, weak, strong = [], [], [], []
    for first in range(0, len(found), BITS):
        part = found[first : first + BITS]
        mask = np.zeros(max(1, len(graph.table)), np.uint64)
        for at, label in enumerate(graph.table):
            mask[at] = sum(1 << bit for bit, c in enumerate(part) if c.takes(label))
        takes.append(mask)
        enabled.append(_enabled(graph, mask))
        weak.append(_bits(part, "weak"))
        strong.append(_bits(part, "strong"))
    return FairGraph(graph, found, tuple(takes), tuple(enabled), tuple(weak), tuple(strong))


def _bits(part: tuple[Condition, ...], level: Fairness) -> np.uint64:
    return np.uint64(sum(1 << at for at, c in enumerate(part) if c.fairness == level))


def _enabled(graph: StateGraph, mask: Words) -> Words:
    """Per state, the conditions that some step which changes the state takes."""
    result = np.zeros(graph.n, np.uint64)
    for first, last in row_chunks(graph.offsets):
        low, high = int(graph.offsets[first]), int(graph.offsets[last])
        counts = np.diff(graph.offsets[first : last + 1])
        sources = np.repeat(np.arange(first, last, dtype=np.int32), counts)
        bits = mask[graph.labels[low:high]]
        bits[graph.targets[low:high] == sources] = 0
        result[first:last] = or_rows(graph.offsets[first : last + 1] - low, bits)
    return result


def row_chunks(offsets: Positions) -> list[tuple[int, int]]:
    """Ranges of rows with about `CHUNK` entries each."""
    n = len(offsets) - 1
    cuts = np.searchsorted(offsets, np.arange(CHUNK, int(offsets[-1]), CHUNK))
    bounds = sorted({0, n, *cuts.tolist()})
    return list(pairwise(bounds))


def or_rows(offsets: Positions, bits: Words) -> Words:
    """The union of the bits of each row; empty rows have none."""
    result = np.zeros(len(offsets) - 1, np.uint64)
    filled: Bools = offsets[1:] > offsets[:-1]
    if filled.any():
        result[filled] = np.bitwise_or.reduceat(bits, offsets[:-1][filled])
    return result
