"""Decides liveness properties on a state graph, exactly."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from statewalk.checker.contract.search import Step
from statewalk.checker.liveness.fair_cycles import fair_components
from statewalk.checker.liveness.fairness import FairGraph, with_fairness
from statewalk.checker.liveness.graph import Bools, StateGraph
from statewalk.checker.liveness.lasso import Edge, LassoPath, find_lasso
from statewalk.checker.liveness.problems import UNREACHED, Problem, problems, stems
from statewalk.checker.liveness.result import (
    INCOMPLETE,
    LIVENESS_KINDS,
    UNDER_CONSTRAINT,
    VACUOUS,
    WITHOUT_FAIRNESS,
    Lasso,
    LivenessOptions,
    LivenessResult,
    NotTaken,
)
from statewalk.checker.states.attempts import unrepeatable
from statewalk.dsl.errors import RunError
from statewalk.dsl.model import Model, Property
from statewalk.dsl.view import State

WAY_OUT = "Check safety alone with --no-liveness, or take the risk with --allow-unsound."


def check_liveness(
    model: Model,
    graph: StateGraph,
    properties: Sequence[Property],
    options: LivenessOptions | None = None,
) -> list[LivenessResult]:
    """The verdict on each liveness property, with a lasso where it is violated.

    Raises: RunError[SW502] when the model has constraints, unless the options allow it.
    """
    options = options or LivenessOptions()
    wanted = [p for p in properties if p.kind in LIVENESS_KINDS]
    if wanted and not options.allow_unsound:
        refuse_constraints(model, wanted)
    if not graph.complete and not options.allow_unsound:
        return [_refused(prop, graph) for prop in wanted]
    started = time.monotonic()
    fair = with_fairness(model, graph)
    shared = {
        "states": graph.n,
        "transitions": graph.m,
        "bytes_per_state": round(graph.bytes_per_state, 2),
        "bytes_per_transition": graph.bytes_per_transition,
        "conditions": len(fair.conditions),
        "seconds_fairness": time.monotonic() - started,
    }
    return [_decide(model, fair, prop, shared) for prop in wanted]


def refuse_constraints(model: Model, wanted: Sequence[Property]) -> None:
    """Liveness does not go with constraints: say so before the search. Raises RunError[SW502]."""
    limits = [*model.constraints, *model.step_constraints]
    if not limits or not wanted:
        return
    raise RunError(
        UNDER_CONSTRAINT,
        f"'{wanted[0].name}' is a liveness property, and the constraint '{limits[0].name}' "
        "cuts the search.",
        at=limits[0].span,
        why="Nothing is known of what lies beyond a constraint: a property may seem to hold only\n"
        "because its counterexamples were cut off.",
        help=f"Bound the model inside its actions instead (require(...)). {WAY_OUT}",
    )


def _refused(prop: Property, graph: StateGraph) -> LivenessResult:
    """No verdict on a graph that is not whole."""
    by = (
        f"the search was ended by {graph.stopped}"
        if graph.stopped
        else "a constraint cut the search"
    )
    text = (
        f"'{prop.name}' was not checked: {by}, and endless behaviours can only be judged "
        f"on the whole state graph. {WAY_OUT}"
    )
    return LivenessResult(
        prop.name, prop.kind, "unknown", refused=text, warnings=((INCOMPLETE, text),)
    )


def _decide(
    model: Model, fair: FairGraph, prop: Property, shared: dict[str, Any]
) -> LivenessResult:
    """The result for one property."""
    started = time.monotonic()
    graph = fair.graph
    search = shortest_lasso(fair, prop)
    statistics = {**shared, "fair_components": search.components, "rounds": search.rounds}
    result = LivenessResult(
        prop.name,
        prop.kind,
        "holds",
        vacuous=not search.possible,
        unsound=not graph.complete,
        warnings=_warnings(fair, prop, search.possible),
        statistics=statistics,
    )
    if search.lasso is not None and search.problem is not None:
        lasso = _lasso(model, fair, search.lasso, search.problem)
        result = replace(result, verdict="violated", lasso=lasso, unsound=False)
    statistics["seconds"] = time.monotonic() - started
    return result


@dataclass
class LassoSearch:
    """What the search for a lasso found. ``possible``: something could begin to violate."""

    lasso: LassoPath | None = None
    problem: Problem | None = None
    possible: bool = False
    components: int = 0
    rounds: int = 0


def shortest_lasso(fair: FairGraph, prop: Property) -> LassoSearch:
    """The shortest lasso over the ways to violate a property."""
    graph = fair.graph
    search = LassoSearch()
    for problem in problems(prop, graph):
        reach = stems(graph, problem)
        allowed: Bools = reach.second != UNREACHED
        if problem.cycle is not None:
            allowed &= problem.cycle
        if not (allowed if problem.visit is None else allowed & problem.visit).any():
            continue
        search.possible = True
        found = fair_components(fair, allowed, problem.visit)
        search.components += found.count
        search.rounds += found.rounds
        lasso = find_lasso(fair, problem, reach, found)
        if lasso and (search.lasso is None or lasso.length < search.lasso.length):
            search.lasso, search.problem = lasso, problem
    return search


def _warnings(fair: FairGraph, prop: Property, possible: bool) -> tuple[tuple[str, str], ...]:
    if not possible:
        text = f"'{prop.name}' is vacuous: no reachable state begins to violate it, fair or not."
        return ((VACUOUS, text),)
    if not fair.conditions:
        text = (
            f"'{prop.name}' is a liveness property, but no action is fair: every behaviour may "
            "stop in any state. Say which actions must not wait for ever: "
            '@action(fair="weak").'
        )
        return ((WITHOUT_FAIRNESS, text),)
    return ()


def _lasso(model: Model, fair: FairGraph, path: LassoPath, problem: Problem) -> Lasso:
    """The lasso by initial state and steps, as the model counts them."""
    graph = fair.graph
    initial = graph.initial.index(path.start)
    state: State = model.initial_states[initial]
    steps = []
    for edge in (*path.stem, *path.cycle):
        step, state = _step(model, graph, edge, state)
        steps.append(step)
    cut = len(path.stem)
    cycle = tuple(steps[cut:])
    not_taken = _not_taken(model, fair, path)
    pending = _pending(graph, path, problem)
    return Lasso(initial, tuple(steps[:cut]), cycle, not_taken, pending)


def _step(model: Model, graph: StateGraph, edge: Edge, state: State) -> tuple[Step, State]:
    label = graph.table[int(graph.labels[edge.at])]
    action = model.actions[label.action]
    outcome = next(islice(model.outcomes(action, state, raising=False), label.ordinal, None), None)
    if outcome is None:
        raise unrepeatable("SW905", f"A step of {action.label} on a cycle cannot be repeated.")
    return Step(label.action, outcome.choices), model.successor(state, outcome)


def _pending(graph: StateGraph, path: LassoPath, problem: Problem) -> int | None:
    """Where on the lasso the automaton turns: the last place that it can, before the cycle."""
    if problem.turn is None:
        return None
    states = [path.start, *(int(graph.targets[e.at]) for e in path.stem)]
    late = len(states)
    while late and (problem.after is None or problem.after[states[late - 1]]):
        late -= 1
    turned = [i for i in range(late, len(states)) if problem.turn[states[i]]]
    return turned[0] if turned else None


def _not_taken(model: Model, fair: FairGraph, path: LassoPath) -> tuple[NotTaken, ...]:
    """What is enabled somewhere on the cycle and never taken: fair conditions first."""
    graph = fair.graph
    end = int(graph.targets[path.stem[-1].at]) if path.stem else path.start
    states = [end, *(int(graph.targets[e.at]) for e in path.cycle[:-1])]
    ends = {(e.source, int(graph.targets[e.at])) for e in path.cycle}
    enabled: list[set[int]] = []
    taken: set[int] = set()
    for state in states:
        _, at = graph.out(np.array([state], np.int32))
        moves = [(int(graph.labels[a]), int(graph.targets[a])) for a in at]
        enabled.append({label for label, to in moves if to != state})
        taken |= {label for label, to in moves if (state, to) in ends}
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
