"""Collects the state graph with the native engine: the same search, which also keeps its steps.

Steps that change nothing are kept too. A step counts when the state it leads to does: what a
constraint refuses is no row. Each batch's steps are handed on as soon as it is known where they
lead, in the order of (state, action, choices), so that a graph is never held whole.

Slow twin: tests/checker/graph/explicit.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from statewalk.checker.contract.search import SearchOptions, StoppedBy
from statewalk.checker.engines.layout import Layout
from statewalk.checker.graph.labels import Labels, NamingView
from statewalk.checker.graph.rows import States, Words
from statewalk.checker.native.findings import Stage
from statewalk.checker.native.kernels.arrays import POSITION_SHIFT
from statewalk.checker.native.running import run_levels, start
from statewalk.checker.native.search import Search
from statewalk.checker.native.workers import Worker
from statewalk.dsl.errors import RunError
from statewalk.dsl.model import Model

_MASK = (1 << POSITION_SHIFT) - 1


class Steps(NamedTuple):
    """Some transitions: fingerprints of both ends, action index, number of the choices' text."""

    source: Words
    target: Words
    action: NDArray[np.int32]
    choices: NDArray[np.int32]


@dataclass
class GraphSearch(Search):
    """A search that hands on the states and steps it finds."""

    on_states: Callable[[States], None] = field(init=False)
    on_steps: Callable[[Steps], None] = field(init=False)
    names: Labels = field(init=False)
    waiting: list[Steps] = field(default_factory=list)
    sources: Words = field(default_factory=lambda: np.zeros(0, np.uint64))
    keep_loops: bool = True

    @property
    def cuts(self) -> bool:
        """Whether a constraint may refuse states."""
        return bool(self.model.constraints)

    def begin(self, names: Labels) -> None:
        """Learn with names from now on."""
        self.names = names
        self.learner._view = NamingView(self.learner.learned, self.model)

    def insert(self, workers: list[Worker]) -> None:
        """Hand on the steps of a batch, then insert the new states."""
        parts: list[list[NDArray[Any]]] = []
        for worker in workers:
            batch = worker.batch
            for partition in np.flatnonzero(batch.used).tolist():
                n = int(batch.used[partition])
                arrays = (batch.link, batch.fp, batch.outcome)
                parts.append([array[partition, :n].copy() for array in arrays])
        if parts:
            self.hand_on(*(np.concatenate([p[at] for p in parts]) for at in range(3)))
        super().insert(workers)

    def hand_on(self, link: NDArray[np.int64], fp: Words, outcome: NDArray[np.int32]) -> None:
        """Name steps, and hand them on unless it is not known yet whether they count."""
        order = np.argsort(link)
        link, fp, outcome = link[order], fp[order], outcome[order]
        learned = self.learner.learned
        steps = Steps(
            self.level.rows.fp[link >> POSITION_SHIFT],
            fp,
            ((link & _MASK) >> self.ordinal_bits).astype(np.int32),
            self.names.choices_of(outcome, learned.fair_of, learned.delta.used),
        )
        if self.cuts:
            self.waiting.append(steps)
        else:
            self.on_steps(steps)

    def advance(self, stage: Stage) -> None:
        """Make the new states the level, which hands them on; then the steps that waited for it."""
        self.sources = self.level.rows.fp
        super().advance(stage)
        self.release()

    def release(self) -> None:
        """Hand on the steps that waited for it to be known where they lead."""
        for steps in self.waiting:
            kept = self.is_kept(steps.target)
            source, target, action, choices = steps
            self.on_steps(Steps(source[kept], target[kept], action[kept], choices[kept]))
        self.waiting = []

    def save_level(self) -> None:
        """Hand on the states of a level that was just admitted."""
        level, depth = self.level, len(self.links) - 1
        parent, action = np.zeros(level.n, np.uint64), np.full(level.n, -1, np.int32)
        if depth:
            parent = self.sources[level.link >> POSITION_SHIFT]
            action = ((level.link & _MASK) >> self.ordinal_bits).astype(np.int32)
        self.hand_on_states(depth, level.rows.values, level.rows.fp, parent, action)

    def hand_on_states(self, depth: int, *columns: NDArray[Any]) -> None:
        """Hand on states of a level: their values, fingerprints, parents and actions."""
        self.on_states(States(depth, *columns))

    def is_kept(self, fps: Words) -> NDArray[np.bool_]:
        """Which states no constraint refused."""
        none = np.zeros(0, np.uint64)
        result = np.zeros(len(fps), np.bool_)
        which = (fps >> np.uint64(self.seen.shift)).astype(np.int64)
        for number in np.unique(which).tolist():
            chosen = which == number
            result[chosen] = self.seen.partitions[number].has(fps[chosen], none)
        return result


@dataclass(frozen=True)
class Collected:
    """What is known once a graph was collected; ``generated`` as in the engine contract."""

    layout: Layout
    initial: int
    distinct: int
    generated: int
    depth: int
    expanded: int


def collect(
    model: Model,
    options: SearchOptions,
    on_states: Callable[[States], None],
    on_steps: Callable[[Steps], None],
    names: Labels,
) -> Collected:
    """Search a model's states, without properties, and hand on what is found.

    Raises:  RunError[SW354] where the search ends otherwise than by itself or at ``max_depth``
    """
    plain, limits = bare(model, options)
    search = start(plain, limits, kind=GraphSearch)
    assert isinstance(search, GraphSearch)
    search.on_states, search.on_steps = on_states, on_steps
    search.begin(names)
    try:
        stopped = run_levels(search, resumed=False)
    finally:
        if search.pool is not None:
            search.pool.shutdown()
    return collected(search, stopped)


def bare(model: Model, options: SearchOptions) -> tuple[Model, SearchOptions]:
    """The model without properties, and the options, of a search that only collects."""
    plain = replace(model, properties=(), terminal=(), check_deadlock=False)
    limits = replace(
        options, properties=(), keep_going=True, view=False, symmetry=False,
        checkpoint=None, resume=False, max_states=None, timeout=None,
    )  # fmt: skip
    return plain, limits


def collected(search: GraphSearch, stopped: StoppedBy | None) -> Collected:
    """What is known at the end. Raises RunError[SW354]."""
    if stopped not in (None, "depth"):
        raise stopped_inside(stopped)
    depth = len(search.links)
    return Collected(
        search.layout, search.initial, search.distinct, search.generated, depth,
        depth - (stopped == "depth"),
    )  # fmt: skip


def stopped_inside(why: StoppedBy) -> RunError:
    """The error of a graph that cannot be written whole."""
    return RunError(
        "SW354",
        f"No state graph was written: the search was ended inside a level ({ENDED[why]}).",
        why="A graph has every step of the states it says are expanded.",
        help="Bound the search between levels instead: --max-depth or --max-states.",
    )


ENDED: dict[StoppedBy, str] = {
    "interrupt": "interrupted",
    "time": "--timeout",
    "memory": "--max-memory",
    "error": "the spec raised an exception",
    "killed": "a crash",
}
