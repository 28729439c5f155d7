"""The reachable states of one model with all steps between them, and the ways to states."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from statewalk.checker.contract.search import Finding, SearchOptions, Step
from statewalk.checker.contract.stops import stop_of
from statewalk.checker.engines.layout import Layout, Slot
from statewalk.checker.liveness.conditions import CUT
from statewalk.checker.liveness.graph import (
    Ints,
    StateGraph,
    from_transitions,
    stacked,
    step_at,
)
from statewalk.checker.traces.trace import Trace, build
from statewalk.dsl.model import Model, Property
from statewalk.dsl.view import State

_START = -1
_ENDED = {"depth": "a bound on its depth", "states": "a bound on its states"}


@dataclass(frozen=True)
class Space:
    """A model and its state graph, whose rows are kept."""

    model: Model
    graph: StateGraph
    _raising: dict[int, bool] = field(default_factory=dict, compare=False)

    @property
    def layout(self) -> Layout:
        """Return what the rows mean."""
        assert self.graph.layout is not None
        return self.graph.layout

    @property
    def rows(self) -> Ints:
        """Value ids by state. Shape: (n, slots)"""
        assert self.graph.rows is not None
        return self.graph.rows

    @property
    def slots(self) -> Sequence[Slot]:
        """The slots that rows have a column for; in those of the layout that follow, nothing is."""
        return self.layout.slots[: self.rows.shape[1]]

    @property
    def bound(self) -> str:
        """Return what kept the graph from being whole, in words; empty where it is."""
        if self.graph.stopped is not None:
            stopped = self.graph.stopped
            what = _ENDED.get(stopped) or stop_of(stopped).bare or stopped
            return f"its search was ended by {what}"
        cut = [name for name, n in self.graph.cut.items() if n]
        return self.graph.raised or (f"its constraint {cut[0]} refuses states" if cut else "")

    def raises(self, state: int) -> bool:
        """Return whether a step from a state raises or fails an assertion: where it leads is not
        known.
        """
        if not self.graph.raised:
            return False
        if state not in self._raising:
            raised: list[Exception] = []
            for action in self.model.actions:
                deque(self.model.outcomes(action, self.state(state), raised), 0)
            self._raising[state] = bool(raised)
        return self._raising[state]

    @cached_property
    def offsets(self) -> list[int]:
        """As in the graph, for going through one by one."""
        found: list[int] = self.graph.offsets.tolist()
        return found

    @cached_property
    def targets(self) -> list[int]:
        """As in the graph, for going through one by one."""
        found: list[int] = self.graph.targets.tolist()
        return found

    def out(self, state: int) -> Iterator[tuple[int, int]]:
        """(position of the transition, state it leads to) for each step that is not cut."""
        for at in range(self.offsets[state], self.offsets[state + 1]):
            if self.targets[at] != CUT:
                yield at, self.targets[at]

    @cached_property
    def whole(self) -> list[bool]:
        """Return whether all steps from a state are known."""
        found = np.ones(self.graph.n, np.bool_)
        if self.graph.expanded is not None:
            found &= self.graph.expanded
        cut = np.flatnonzero(self.graph.targets == CUT)
        found[np.searchsorted(self.graph.offsets, cut, "right") - 1] = False
        listed: list[bool] = found.tolist()
        return listed

    @cached_property
    def initial(self) -> list[int]:
        """The states that are initial, each once."""
        found: list[int] = self.graph.start().tolist()
        return found

    @cached_property
    def nearest(self) -> tuple[list[int], list[int]]:
        """By state: the transition by which it is first reached, and its distance in steps."""
        came, far = [_START] * self.graph.n, [_START] * self.graph.n
        queue = list(self.initial)
        for state in queue:
            far[state] = 0
        for state in queue:
            for at, to in self.out(state):
                if far[to] == _START:
                    came[to], far[to] = at, far[state] + 1
                    queue.append(to)
        return came, far

    def way_to(self, state: int) -> list[int]:
        """Return the transitions of a shortest way to a state."""
        came, _ = self.nearest
        way = []
        while came[state] != _START:
            way.append(came[state])
            state = self.source(came[state])
        return way[::-1]

    def source(self, at: int) -> int:
        """Return the state from which a transition leads."""
        return int(np.searchsorted(self.graph.offsets, at, "right")) - 1

    def state(self, number: int) -> State:
        """Return a state by its number."""
        return self.layout.state(self.rows[number].tolist())

    def trace(self, way: list[int], name: str, start: int | None = None) -> Trace:
        """Return the trace along transitions; of the initial state ``start`` where there are
        none.
        """
        initial, steps, _ = self.along(way, start)
        return build(self.model, Finding(name, "exists", initial, steps))

    def along(
        self, way: list[int], start: int | None = None
    ) -> tuple[int, tuple[Step, ...], list[State]]:
        """(index of the initial state, steps, states) of a way; see `trace`."""
        first = self.source(way[0]) if way else start
        initial = self.graph.initial.index(first if first is not None else self.initial[0])
        states: list[State] = [self.model.initial_states[initial]]
        steps: list[Step] = []
        for at in way:
            step, after = step_at(self.model, self.graph, at, states[-1])
            steps.append(step)
            states.append(after)
        return initial, tuple(steps), states

    def step(self, state: int, at: int) -> Trace:
        """Return one transition from a state as a trace that begins there."""
        whole = self.trace([*self.way_to(state), at], "step")
        return replace(whole, contents=whole.contents[-2:], steps=whole.steps[-1:])


def space_of(
    model: Model, options: SearchOptions, properties: tuple[Property, ...] = (), engine: str = ""
) -> Space:
    """Return the state graph of a model, with the truth of some properties: by the native
    engine where that can build it, unless the reference ``engine`` is asked for.
    """
    from statewalk.checker.engines.table import ENGINES, unable
    from statewalk.checker.liveness.explore import build as build_graph

    graph = None
    if engine != "reference" and not unable(ENGINES["native"], model, options):
        from statewalk.checker.liveness.collect import collect

        graph = collect(model, options, properties, rows=True)
    return Space(model, graph or build_graph(model, options, properties))


def path_of(model: Model, states: Sequence[State]) -> Space:
    """Return states one after the other as a space."""
    layout, n = Layout(model), len(states)
    rows = stacked([np.array([layout.row(state)], np.uint32) for state in states])
    ends = np.arange(n, dtype=np.int64)
    offsets, targets, labels = from_transitions(ends[:-1], ends[1:], np.zeros(n - 1, np.uint8), n)
    prints = np.array([layout.fingerprint(tuple(row)) for row in rows.tolist()], np.uint64)
    graph = StateGraph(offsets, targets, labels, (), prints, (0,), rows=rows, layout=layout)
    return Space(model, graph)
