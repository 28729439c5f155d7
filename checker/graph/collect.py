"""Collects the state graph with the native engine: the same search, which also keeps its steps.

Steps that change nothing are kept too. A step counts when the state it leads to does: what a
constraint refuses is no row. Each batch's steps are handed on as soon as it is known where they
lead, in the order of (state, action, choices), so that a graph is never held whole.

Slow twin: tests/checker/graph/explicit.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.contract.stops import StoppedBy, stop_of, whole_levels
from statewalk.checker.engines.layout import Layout
from statewalk.checker.graph.labels import Labels, NamingView
from statewalk.checker.graph.rows import States, Words
from statewalk.checker.native.kernels.arrays import POSITION_SHIFT
from statewalk.checker.native.kernels.numbering import arrange, count
from statewalk.checker.native.running import loop_of, run, start
from statewalk.checker.native.search import transitions_of
from statewalk.checker.native.state import Search
from statewalk.checker.native.workers import Worker
from statewalk.dsl.errors import RunError
from statewalk.dsl.model import Model

_MASK = (1 << POSITION_SHIFT) - 1
_MANY = 64  # steps of a state that are put in order otherwise
_PARTITIONS, _ROOM = 1 << 8, 1 << 24  # more are not put in order by `arrange`


class Steps(NamedTuple):
    """Some transitions: fingerprints of both ends, action index, number of the choices' text."""

    source: Words
    target: Words
    action: NDArray[np.int32]
    choices: NDArray[np.int32]


class Kept(Protocol):
    """Tells which states no constraint refused."""

    def note(self, fps: Words) -> None:
        """These states were handed on."""
        ...

    def of(self, fps: Words) -> NDArray[np.bool_]:
        """Which of some states are kept."""
        ...


@dataclass
class InTable:
    """States that no constraint refused are in the search's own table."""

    search: Search

    def note(self, fps: Words) -> None:
        """They are in the table."""

    def of(self, fps: Words) -> NDArray[np.bool_]:
        """Which of some states are in the table."""
        return self.search.seen.has(fps, np.zeros(0, np.uint64))


@dataclass
class Collector:
    """Hands on the states and steps that a search finds.

    A step waits until it is known whether a constraint refuses the state it leads to.
    """

    search: Search
    kept: Kept
    on_states: Callable[[States], None]
    on_steps: Callable[[Steps], None]
    names: Labels
    waiting: list[Steps] = field(default_factory=list)
    loops: bool = True

    def batch(self, workers: list[Worker]) -> None:
        """Hand on the steps of a batch."""
        for worker in workers:
            counts = np.zeros(worker.end - worker.first, np.int64)
            count(worker.batch, worker.first, counts)
            if counts.any():
                self.steps(*self._in_order(worker, counts))

    def _in_order(
        self, worker: Worker, counts: NDArray[np.int64]
    ) -> tuple[Words, Words, NDArray[np.int32], NDArray[np.int32]]:
        """A worker's candidates in order: sources, targets, actions, outcomes."""
        batch, rows, ends = worker.batch, self.search.level.rows, np.cumsum(counts)
        partitions, room = batch.fp.shape
        if int(counts.max()) > _MANY or partitions > _PARTITIONS or room > _ROOM:
            link, fp, outcome = transitions_of(worker)
            order = np.argsort(link, kind="stable")  # it is in order in parts
            link = link[order]
            return rows.fp[link >> POSITION_SHIFT], fp[order], self.action(link), outcome[order]
        n, bits = int(ends[-1]), self.search.ordinal_bits
        keys, source, target = np.empty(n, np.int64), np.empty(n, np.uint64), np.empty(n, np.uint64)
        action, outcome = np.empty(n, np.int32), np.empty(n, np.int32)
        arrange(
            batch, worker.first, bits, ends, ends - counts, keys, rows.fp, source, target, action,
            outcome,
        )  # fmt: skip
        return source, target, action, outcome

    def steps(
        self, source: Words, target: Words, action: NDArray[np.int32], outcome: NDArray[np.int32]
    ) -> None:
        """Name steps, and hand them on unless it is not known yet whether they count."""
        learned = self.search.learner.learned
        choices = self.names.choices_of(outcome, learned.fair_of, learned.delta.used)
        steps = Steps(source, target, action, choices)
        if self.search.model.constraints:
            self.waiting.append(steps)
        else:
            self.on_steps(steps)

    def level(self, before: Words) -> None:
        """Hand on the states of a new level; then the steps that waited for it."""
        level = self.search.level
        if level.n:
            parent, action = np.zeros(level.n, np.uint64), np.full(level.n, -1, np.int32)
            if len(before):
                parent = before[level.link >> POSITION_SHIFT]
                action = self.action(level.link)
            self.states(level.rows.values, level.rows.fp, parent, action)
        self.release()

    def states(
        self, values: NDArray[Any], fp: Words, parent: Words, action: NDArray[np.int32]
    ) -> None:
        """Hand on states of the newest level: their values, fingerprints, parents and actions."""
        if self.search.model.constraints:
            self.kept.note(fp)
        self.on_states(States(len(self.search.links) - 1, values, fp, parent, action))

    def release(self) -> None:
        """Hand on the steps that waited for it to be known where they lead."""
        for steps in self.waiting:
            kept = self.kept.of(steps.target)
            source, target, action, choices = steps
            self.on_steps(Steps(source[kept], target[kept], action[kept], choices[kept]))
        self.waiting = []

    def action(self, link: NDArray[np.int64]) -> NDArray[np.int32]:
        """The action of each link."""
        return ((link & _MASK) >> self.search.ordinal_bits).astype(np.int32)


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
    search = start(plain, limits, view=NamingView)
    collector = Collector(search, InTable(search), on_states, on_steps, names)
    return collected(search, run(loop_of(search, sink=collector)))


def bare(model: Model, options: SearchOptions) -> tuple[Model, SearchOptions]:
    """The model without properties, and the options, of a search that only collects."""
    plain = replace(model, properties=(), terminal=(), check_deadlock=False)
    limits = replace(
        options, properties=(), keep_going=True, view=False, symmetry=False,
        checkpoint=None, resume=False, timeout=None,
    )  # fmt: skip
    return plain, limits.unbounded(options.max_depth)


def collected(search: Search, stopped: StoppedBy | None) -> Collected:
    """What is known at the end. Raises RunError[SW354]."""
    if stopped is not None and not whole_levels(stopped):
        raise stopped_inside(stopped)
    return collected_by(search, whole=stopped is None)


def collected_by(search: Search, whole: bool) -> Collected:
    """What is known after a search that ended between levels; ``whole`` where nothing is left."""
    depth = len(search.links)
    return Collected(
        search.layout, search.initial, search.distinct, search.generated, depth,
        depth - (not whole),
    )  # fmt: skip


def stopped_inside(why: StoppedBy) -> RunError:
    """The error of a graph that cannot be written whole."""
    return RunError(
        "SW354",
        f"No state graph was written: the search was ended inside a level ({stop_of(why).inside}).",
        why="A graph has every step of the states it says are expanded.",
        help="Bound the search between levels instead: --max-depth or --max-states.",
    )
