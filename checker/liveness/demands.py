"""Demands on cycles besides fairness: assumptions, and what violates a property of steps.

Each is one of four, and all are met by what fair components are made of:

- P infinitely often: a weakly fair condition that is enabled where P is false, and never taken;
- P from some state on: cycles lie in states where P is true;
- steps A infinitely often: a weakly fair condition that is enabled everywhere, and taken by A;
- only steps A from some state on: other steps lead nowhere, as where a constraint cuts.

Steps are those that change the state. A cycle without steps has none: it meets the fourth, and not
the third. Stems are not concerned.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from statewalk.checker.contract.search import Step
from statewalk.checker.liveness.conditions import CUT
from statewalk.checker.liveness.explore import PredicateRaisedError
from statewalk.checker.liveness.fair_cycles import BITS, FairGraph
from statewalk.checker.liveness.graph import Bools, StateGraph, label_type, step_at
from statewalk.dsl.model import Model, Property
from statewalk.dsl.state.plain_view import PlainView


@dataclass(frozen=True)
class Demand:
    """A demand on cycles. ``states`` (n,) are where P is true, ``steps`` (m,) where A is; one of
    them is None. ``always``: from some state on, else infinitely often. ``prop``: the assumption.
    """

    states: Bools | None = None
    steps: Bools | None = None
    always: bool = False
    prop: Property | None = None


@dataclass(frozen=True)
class Demanded:
    """The part of a graph in which cycles meet demands: ``allowed`` states, and ``fair`` cycles."""

    fair: FairGraph
    allowed: Bools


def assumed(model: Model, graph: StateGraph) -> tuple[Demand, ...]:
    """Return the demands of the model's assumptions."""
    return tuple(_of(model, graph, prop) for prop in model.assumptions)


def _of(model: Model, graph: StateGraph, prop: Property) -> Demand:
    always = prop.kind in ("eventually_always", "eventually_always_on_step")
    if prop.of_kind.of_steps:
        return Demand(None, steps_where(model, graph, prop), always, prop)
    return Demand(graph.holds(prop.name), None, always, prop)


def violating(model: Model, graph: StateGraph, prop: Property) -> Demand:
    """Return the demand of a cycle that violates a property of steps."""
    true = steps_where(model, graph, prop)
    return Demand(steps=~true, always=prop.kind == "always_eventually_on_step")


def steps_where(model: Model, graph: StateGraph, prop: Property) -> Bools:
    """Return in which transitions a predicate of steps is true, (m,); False where one is cut.

    Raises:  PredicateRaisedError
    """
    found: Bools = np.zeros(graph.m, np.bool_)
    rows, layout = graph.rows, graph.layout
    assert rows is not None
    assert layout is not None
    for source in range(graph.n):
        first, end = graph.offsets[source : source + 2].tolist()
        before = PlainView(layout.state(rows[source].tolist())) if first < end else None
        known: dict[int, bool] = {}
        for at, target in enumerate(graph.targets[first:end].tolist(), first):
            if target in (CUT, source):
                continue
            if target not in known:
                after = PlainView(layout.state(rows[target].tolist()))
                try:
                    known[target] = bool(model.holds(prop.whole, after, before))
                except Exception as error:
                    raise PredicateRaisedError(error, *_way(model, graph, source, at)) from error
            found[at] = known[target]
    return found


def _way(model: Model, graph: StateGraph, source: int, last: int) -> tuple[int, tuple[Step, ...]]:
    """Return the initial state, and the steps of a shortest way to a transition and by it."""
    into: dict[int, tuple[int, int]] = dict.fromkeys(graph.start().tolist(), (-1, -1))
    queue = deque(into)
    while source not in into:
        at = queue.popleft()
        for edge in range(*graph.offsets[at : at + 2].tolist()):
            target = int(graph.targets[edge])
            if target not in into and target != CUT:
                into[target] = at, edge
                queue.append(target)
    edges = [last]
    while into[source][1] >= 0:
        source, edge = into[source]
        edges.append(edge)
    initial = graph.initial.index(source)
    state, steps = model.initial_states[initial], []
    for edge in reversed(edges):
        step, state = step_at(model, graph, edge, state)
        steps.append(step)
    return initial, tuple(steps)


def demanded(fair: FairGraph, demands: Sequence[Demand]) -> Demanded:
    """Return the part of a graph in which cycles meet demands."""
    graph = fair.graph
    allowed: Bools = np.ones(graph.n, np.bool_)
    cut: Bools = np.zeros(graph.m, np.bool_)
    often: list[tuple[Bools, Bools]] = []  # where each is enabled, which steps take it
    for demand in demands:
        if demand.states is not None and demand.always:
            allowed &= demand.states
        elif demand.states is not None:
            often.append((~demand.states, np.zeros(graph.m, np.bool_)))
        elif demand.steps is not None and demand.always:
            cut |= ~demand.steps
        elif demand.steps is not None:
            often.append((np.ones(graph.n, np.bool_), demand.steps))
    if cut.any():
        targets = np.where(cut, np.int32(CUT), graph.targets).astype(np.int32)
        fair = replace(fair, graph=replace(graph, targets=targets))
    for first in range(0, len(often), BITS):
        fair = with_word(fair, often[first : first + BITS])
    return Demanded(fair, allowed)


def with_word(fair: FairGraph, often: Sequence[tuple[Bools, Bools]]) -> FairGraph:
    """Return the graph with a word of conditions more; labels are told apart by what they take."""
    graph, width = fair.graph, len(fair.graph.table)
    enabled = np.zeros(graph.n, np.uint64)
    taken = np.zeros(graph.m, np.uint64)
    for bit, (where, steps) in enumerate(often):
        enabled |= where.astype(np.uint64) << np.uint64(bit)
        taken |= steps.astype(np.uint64) << np.uint64(bit)
    groups, group = np.unique(taken, return_inverse=True)
    count = max(1, len(groups))
    labels = graph.labels.astype(np.int64) + group.reshape(-1) * width
    own = np.repeat(groups if len(groups) else np.zeros(1, np.uint64), max(1, width))
    turns = None if graph.turns is None else np.tile(graph.turns, count)
    table = graph.table * count
    changed = replace(graph, labels=labels.astype(label_type(len(table))), table=table, turns=turns)
    takes = tuple(np.tile(word, count) for word in fair.takes)
    weak = np.uint64((1 << len(often)) - 1)
    return replace(
        fair, graph=changed, takes=(*takes, own), enabled=(*fair.enabled, enabled),
        weak=(*fair.weak, weak), strong=(*fair.strong, np.uint64(0)),
    )  # fmt: skip
