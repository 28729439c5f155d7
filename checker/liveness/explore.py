"""Builds the state graph with the reference semantics: plain Python over a plain View.

Slow on purpose, like `checker.engines.reference`, whose levels and states it repeats. An engine
that keeps the graph itself is compared with this one.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from statewalk.checker.contract.search import SearchCounts, SearchOptions, Step
from statewalk.checker.contract.stops import StoppedBy
from statewalk.checker.engines.layout import Layout
from statewalk.checker.engines.reference import Steps
from statewalk.checker.liveness.conditions import CUT, Label, predicates
from statewalk.dsl.model import Model, Outcome, Property
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.view import State

if TYPE_CHECKING:
    from statewalk.checker.liveness.graph import StateGraph

Row = tuple[int, ...]


class PredicateRaisedError(Exception):
    """A property raised in a state; ``initial`` and ``steps`` lead there."""

    def __init__(self, error: Exception, initial: int, steps: tuple[Step, ...]) -> None:
        super().__init__(str(error))
        self.error = error
        self.initial = initial
        self.steps = steps


@dataclass
class Build:
    """The graph so far. ``rows`` by state number; sources, targets and labels by transition.

    ``ways`` holds how each state was met first: from which state (or initial state), by which step.
    ``generated`` is that of the engine contract, rule 2.
    """

    model: Model
    layout: Layout
    wanted: Mapping[str, Callable[[], bool]]
    known: Steps = field(default_factory=Steps)
    numbers: dict[Row, int] = field(default_factory=dict)
    refused: dict[Row, bool] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    ways: list[tuple[int, Step | None]] = field(default_factory=list)
    truth: dict[str, list[bool]] = field(default_factory=dict)
    sources: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    table: dict[Label, int] = field(default_factory=dict)
    cut: Counter[str] = field(default_factory=Counter)
    expanded: int = 0
    generated: int = 0
    raised: str = ""
    initial: tuple[int, ...] = ()
    stopped: StoppedBy | None = None

    def state(self, row: Row, source: int, step: Step | None) -> int:
        """Return the number of a state, given when new; `CUT` where a constraint refuses it."""
        known = self.numbers.get(row)
        if known is not None:
            return known
        if row in self.refused:
            return CUT
        view = PlainView(self.layout.state(row))
        for constraint in self.model.constraints:
            if not self.is_kept(constraint, view):
                self.refused[row] = True
                return CUT
        number = self.numbers[row] = len(self.rows)
        self.rows.append(row)
        self.ways.append((source, step))
        for key, predicate in self.wanted.items():
            try:
                self.truth[key].append(self.model.holds(predicate, view))
            except Exception as error:
                raise PredicateRaisedError(error, *self.way(number)) from error
        return number

    def way(self, number: int) -> tuple[int, tuple[Step, ...]]:
        """Return index of the initial state, and the steps, by which a state was met first."""
        steps: list[Step] = []
        source, step = self.ways[number]
        while step is not None:
            steps.append(step)
            source, step = self.ways[source]
        return source, tuple(reversed(steps))

    def keeps(self, limits: tuple[Property, ...], before: PlainView, row: Row) -> bool:
        """Return whether the step constraints keep a step."""
        after = PlainView(self.layout.state(row)) if limits else before
        return all(self.is_kept(limit, after, before) for limit in limits)

    def is_kept(self, limit: Property, view: PlainView, before: PlainView | None = None) -> bool:
        """Return whether a constraint keeps a state or a step; what it raises for is not known."""
        try:
            kept = self.model.holds(limit.whole, view, before)
        except Exception as error:
            self.raised = self.raised or said_of(f"constraint {limit.name}", error)
            kept = False
        self.cut[limit.name] += not kept
        return kept

    def moves(self, row: Row, state: State) -> Iterator[tuple[Row, int, int, Outcome]]:
        """Yield all steps from one state: where to, of which action, the how manieth of it,
        and how.
        """
        if row in self.known.taken:
            yield from self.known.taken[row]
            return
        for action in self.model.actions:
            raised: list[Exception] = []
            for ordinal, outcome in enumerate(self.model.outcomes(action, state, raised)):
                yield self.layout.changed(row, outcome.writes), action.index, ordinal, outcome
            if raised:
                self.raised = self.raised or said_of(action.name, raised[0])

    def expand(self, source: int) -> None:
        """All steps from one state that change it."""
        row = self.rows[source]
        state = self.layout.state(row)
        before = PlainView(state)
        for after, action, ordinal, outcome in self.moves(row, state):
            self.generated += 1
            if after == row:
                continue
            keep = self.keeps(self.model.step_constraints, before, after)
            label = Label(action, ordinal, outcome.fair)
            self.sources.append(source)
            step = Step(action, outcome.choices)
            self.targets.append(self.state(after, source, step) if keep else CUT)
            self.labels.append(self.table.setdefault(label, len(self.table)))
        self.expanded += 1

    def graph(self) -> StateGraph:
        """Return the arrays."""
        import numpy as np

        from statewalk.checker.liveness.graph import (
            StateGraph,
            from_transitions,
            label_type,
            pack,
            stacked,
        )

        n = len(self.rows)
        sources = np.array(self.sources, np.int64)
        labels = np.array(self.labels, label_type(len(self.table)))
        offsets, targets, labels = from_transitions(sources, np.array(self.targets), labels, n)
        prints = [
            self.layout.fingerprint(row) >> (self.layout.fingerprints.bits - 64)
            for row in self.rows
        ]
        return StateGraph(
            offsets=offsets,
            targets=targets,
            labels=labels,
            table=tuple(self.table),
            fingerprints=np.array(prints, np.uint64),
            initial=self.initial,
            truth={key: pack(np.array(bits, np.bool_)) for key, bits in self.truth.items()},
            expanded=np.arange(n) < self.expanded if self.stopped else None,
            cut=dict(self.cut),
            stopped=self.stopped,
            raised=self.raised,
            rows=stacked([np.array([row], np.uint32) for row in self.rows]),
            layout=self.layout,
        )


def said_of(what: str, error: BaseException) -> str:
    """Return what a step or a constraint raises, in words."""
    if isinstance(error, AssertionError):
        return f"its {what} fails an assertion"
    return f"its {what} raises {type(error).__name__}: {error}"


def build(model: Model, options: SearchOptions, properties: tuple[Property, ...]) -> StateGraph:
    """Return the state graph of a model, breadth first by levels, with the truth of some
    properties.

    Raises: PredicateRaisedError
    """
    return built(model, options, properties).graph()


def built(
    model: Model,
    options: SearchOptions,
    properties: tuple[Property, ...],
    known: Steps | None = None,
) -> Build:
    """Return the same as lists, before they become arrays; with what is ``known`` of the
    model's steps.
    """
    started = time.monotonic()
    known = known or Steps()
    layout = known.layout or Layout(model, options.fingerprint_bits)
    work = Build(model, layout, predicates(properties), known)
    work.truth = {key: [] for key in work.wanted}
    work.initial = tuple(
        work.state(work.layout.row(state), index, None)
        for index, state in enumerate(model.initial_states)
    )
    work.generated = len(model.initial_states)
    depth = 1
    while work.expanded < len(work.rows) and work.stopped is None:
        counts = SearchCounts(len(work.initial), len(work.rows), work.generated, depth)
        work.stopped = options.full(counts)
        if work.stopped is None:
            _expand_level(work, options, started)
        depth += 1
    return work


def _expand_level(work: Build, options: SearchOptions, started: float) -> None:
    for source in range(work.expanded, len(work.rows)):
        work.expand(source)
        work.stopped = options.urgent(time.monotonic() - started)
        if work.stopped:
            return
