"""The state graph that liveness is decided on: what an engine hands over, as flat arrays.

Contract for an engine that builds a `StateGraph`
  1. The states are those the search keeps, numbered 0 to n-1 in any order; the order decides
     nothing. Explored without symmetry and without a view: both merge behaviors.
  2. The transitions of state s are ``targets[offsets[s]:offsets[s+1]]``, in any order. Transitions
     from s to itself may be left out: a step that changes nothing is a stuttering step, which is
     always allowed and never counts for fairness (TLA+'s <A>_v). Two actions that lead from s to t
     are two transitions.
  3. A step to a state that a constraint refuses, or that a step constraint refuses, is kept with
     target `CUT`: its action is enabled, though nothing follows. Then every lasso that is found is
     a behavior of the spec, whatever was cut.
  4. ``labels[e]`` indexes ``table``. A `Label` is the action, the ordinal of the step among the
     steps of that action in that state (lexicographic order of the choices, steps that change
     nothing included, disabled ones not), and the fair choices taken. An engine needs one label
     per (action, ordinal) and, where the spec has ``any_of(..., fair=...)``, per fair choices.
  5. ``fingerprints[s]`` is the state's fingerprint (the high word of one of 128 bits). With
     (fingerprint, action, ordinal) the lasso is chosen, so engines give the same one.
  6. ``initial[i]`` is the state of ``model.initial_states[i]``, `CUT` where a constraint refuses
     it.
  7. ``truth[key]`` holds one bit per state (`pack`): whether the predicate is true there. The keys
     and predicates are those of `predicates`; the engine evaluates them as it does invariants.
  8. ``expanded`` is None where every state was expanded, else one bool per state. A state that was
     not expanded has no transitions here, and no cycle is looked for in it.
  9. ``cut`` counts what each constraint refused; ``stopped`` says which bound ended the search.
 10. ``turns``, where it is known, says of each label whether its steps may be part of a cycle. Then
     ``table`` may have a label several times.
 11. ``rows``, where they are asked for, holds each state's value ids in ``layout``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from statewalk.checker.contract.search import Step
from statewalk.checker.contract.stops import StoppedBy
from statewalk.checker.engines.layout import Layout
from statewalk.checker.liveness.conditions import CUT, Label
from statewalk.checker.states.attempts import unrepeatable
from statewalk.dsl.model import Model
from statewalk.dsl.view import State

Bools = NDArray[np.bool_]
Ints = NDArray[np.int32]
Words = NDArray[np.uint64]
Positions = NDArray[np.int64]


@dataclass(frozen=True)
class StateGraph:
    """States and transitions of a search, with the truth of the predicates in each state. Steps
    that raise are none of them; ``raised`` says of one what it did.

    Shapes: n states, m transitions: offsets (n+1,) int64 · targets (m,) int32 · labels (m,) uint8,
            uint16 or uint32 · fingerprints (n,) uint64 · truth (ceil(n/8),) uint8 each ·
            expanded (n,) bool · rows (n, slots) unsigned · turns (labels,) bool
    """

    offsets: Positions
    targets: Ints
    labels: NDArray[Any]
    table: tuple[Label, ...]
    fingerprints: Words
    initial: tuple[int, ...]
    truth: Mapping[str, NDArray[np.uint8]] = field(default_factory=dict)
    expanded: Bools | None = None
    cut: Mapping[str, int] = field(default_factory=dict)
    stopped: StoppedBy | None = None
    raised: str = ""
    rows: NDArray[Any] | None = None
    layout: Layout | None = None
    turns: Bools | None = None

    @property
    def n(self) -> int:
        """States."""
        return len(self.offsets) - 1

    @property
    def m(self) -> int:
        """Transitions."""
        return len(self.targets)

    @property
    def complete(self) -> bool:
        """Return whether nothing was cut and nothing left unexpanded."""
        return self.stopped is None and not any(self.cut.values())

    def holds(self, key: str) -> Bools:
        """Return the truth of a predicate, one bool per state."""
        return np.unpackbits(self.truth[key], count=self.n).astype(np.bool_)

    def start(self) -> Ints:
        """Return the initial states that no constraint refused, each once."""
        kept = {s for s in self.initial if s != CUT}
        return np.array(sorted(kept), np.int32)

    def out(self, states: Ints) -> tuple[Ints, Positions]:
        """Return the transitions of some states: (source, position in ``targets``) of each,
        in order.
        """
        counts = self.offsets[states.astype(np.int64) + 1] - self.offsets[states]
        sources = np.repeat(states, counts)
        ends = np.cumsum(counts)
        shift = self.offsets[states] - (ends - counts)
        return sources, np.repeat(shift, counts) + np.arange(len(sources), dtype=np.int64)


def pack(truth: Iterable[bool] | Bools) -> NDArray[np.uint8]:
    """Return one bit per state."""
    given = truth if isinstance(truth, np.ndarray) else np.fromiter(truth, np.bool_)
    return np.packbits(given)


def stacked(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return rows of several widths below each other, slots that they lack absent."""
    width = max((part.shape[1] for part in parts), default=0)
    kind = np.result_type(*parts) if parts else np.uint16
    result = np.zeros((sum(map(len, parts)), width), kind)
    at = 0
    for part in parts:
        result[at : at + len(part), : part.shape[1]] = part
        at += len(part)
    return result


def label_type(count: int) -> Any:
    """Return the narrowest type for that many labels."""
    return np.uint8 if count <= 1 << 8 else np.uint16 if count <= 1 << 16 else np.uint32


def from_transitions(
    sources: NDArray[Any], targets: NDArray[Any], labels: NDArray[Any], states: int
) -> tuple[Positions, Ints, NDArray[Any]]:
    """(offsets, targets, labels) of transitions given in any order."""
    counts = np.bincount(sources, minlength=states)
    offsets = np.zeros(states + 1, np.int64)
    offsets[1:] = np.cumsum(counts)
    if len(sources) and (np.diff(sources) < 0).any():
        order = np.argsort(sources, kind="stable")
        targets, labels = targets[order], labels[order]
    top = int(labels.max()) + 1 if len(labels) else 1
    return offsets, targets.astype(np.int32), labels.astype(label_type(top))


def step_at(model: Model, graph: StateGraph, at: int, state: State) -> tuple[Step, State]:
    """Return the transition at a position of ``targets``, by name, and the state it leads to."""
    label = graph.table[int(graph.labels[at])]
    action = model.actions[label.action]
    outcome = next(islice(model.outcomes(action, state, []), label.ordinal, None), None)
    if outcome is None:
        raise unrepeatable("SW905", f"A step of {action.label} cannot be repeated.")
    return Step(label.action, outcome.choices), model.successor(state, outcome)
