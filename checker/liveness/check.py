"""Decides liveness properties on a state graph, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from statewalk.checker.contract.search import Step
from statewalk.checker.liveness.fair_cycles import fair_components
from statewalk.checker.liveness.fairness import FairGraph, with_fairness
from statewalk.checker.liveness.graph import Bools, StateGraph
from statewalk.checker.liveness.lasso import LassoPath, find_lasso
from statewalk.checker.liveness.problems import UNREACHED, problems, stems
from statewalk.checker.liveness.result import Lasso, LivenessResult, NotTaken
from statewalk.checker.states.attempts import unrepeatable
from statewalk.dsl.model import Model, Property
from statewalk.dsl.view import State


def check_liveness(
    model: Model, graph: StateGraph, properties: Sequence[Property]
) -> list[LivenessResult]:
    """What the graph says of each liveness property; a lasso is real also where it was cut."""
    fair = with_fairness(model, graph)
    return [_decide(model, fair, prop) for prop in properties if prop.of_kind.liveness]


def _decide(model: Model, fair: FairGraph, prop: Property) -> LivenessResult:
    """The result for one property."""
    path, possible = shortest_lasso(fair, prop)
    return LivenessResult(
        prop.name,
        prop.kind,
        None if path is None else _lasso(model, fair, path),
        vacuous=not possible,
        unsound=path is None and not fair.graph.complete,
        unfair=possible and not fair.conditions,
    )


def shortest_lasso(fair: FairGraph, prop: Property) -> tuple[LassoPath | None, bool]:
    """The shortest lasso that violates a property; whether anything could begin to violate it."""
    graph = fair.graph
    shortest: LassoPath | None = None
    possible = False
    for problem in problems(prop, graph):
        reach = None if problem.begins_anywhere else stems(graph, problem)
        allowed: Bools = np.ones(graph.n, np.bool_) if reach is None else reach.second != UNREACHED
        if problem.cycle is not None:
            allowed &= problem.cycle
        if not (allowed if problem.visit is None else allowed & problem.visit).any():
            continue
        possible = True
        found = fair_components(fair, allowed, problem.visit)
        if not found.inside.any():
            continue
        lasso = find_lasso(fair, problem, reach or stems(graph, problem), found)
        if lasso and (shortest is None or lasso.length < shortest.length):
            shortest = lasso
    return shortest, possible


def _lasso(model: Model, fair: FairGraph, path: LassoPath) -> Lasso:
    """The lasso by initial state and steps, as the model counts them."""
    graph = fair.graph
    initial = graph.initial.index(path.start)
    state: State = model.initial_states[initial]
    steps = []
    for edge in (*path.stem, *path.cycle):
        step, state = step_at(model, graph, edge.at, state)
        steps.append(step)
    cut = len(path.stem)
    return Lasso(initial, tuple(steps[:cut]), tuple(steps[cut:]), _not_taken(model, fair, path))


def step_at(model: Model, graph: StateGraph, at: int, state: State) -> tuple[Step, State]:
    """The transition at a position of ``targets``, by name, and the state it leads to."""
    label = graph.table[int(graph.labels[at])]
    action = model.actions[label.action]
    outcome = next(islice(model.outcomes(action, state, []), label.ordinal, None), None)
    if outcome is None:
        raise unrepeatable("SW905", f"A step of {action.label} cannot be repeated.")
    return Step(label.action, outcome.choices), model.successor(state, outcome)


def _not_taken(model: Model, fair: FairGraph, path: LassoPath) -> tuple[NotTaken, ...]:
    """What is enabled somewhere on the cycle and never taken: fair conditions first."""
    graph = fair.graph
    end = int(graph.targets[path.stem[-1].at]) if path.stem else path.start
    states = [end, *(int(graph.targets[e.at]) for e in path.cycle[:-1])]
    ends = {(e.source, int(graph.targets[e.at])) for e in path.cycle}
    enabled: list[set[int]] = []
    taken: set[int] = set()
    for number in states:
        _, at = graph.out(np.array([number], np.int32))
        moves = [(int(graph.labels[a]), int(graph.targets[a])) for a in at]
        enabled.append({label for label, to in moves if to != number})
        taken |= {label for label, to in moves if (number, to) in ends}
    result = []
    for c in fair.conditions:
        where = _where(enabled, {i for i, label in enumerate(graph.table) if c.takes(label)}, taken)
        if where:
            result.append(NotTaken(c.action, c.label, c.fairness, where))
    for action in model.actions:
        if action.fairness == "none":
            labels = {i for i, label in enumerate(graph.table) if label.action == action.index}
            if where := _where(enabled, labels, taken):
                result.append(NotTaken(action.index, action.label, "none", where))
    return tuple(result)


def _where(enabled: list[set[int]], labels: set[int], taken: set[int]) -> tuple[int, ...]:
    if labels & taken:
        return ()
    return tuple(i for i, found in enumerate(enabled) if found & labels)
