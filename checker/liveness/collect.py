"""Builds the state graph with the native engine: the same search, which also keeps its transitions.

The predicates take the place of constraints that cut nothing, so they are learned and replayed
like everything else. Each batch's transitions are kept in the order of their sources; their targets
become state numbers once the next level is known. The search's own table of states is what numbers
are found by.

Slow twin: statewalk.checker.liveness.explore
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from statewalk.checker.contract.search import ASSERTION, Exploration, Finding, SearchOptions
from statewalk.checker.contract.stops import StoppedBy, whole_levels
from statewalk.checker.engines.hidden import HiddenRead, HidingModel
from statewalk.checker.liveness.conditions import Label, conditions, predicates, sources
from statewalk.checker.liveness.explore import said_of
from statewalk.checker.liveness.graph import (
    Bools,
    Ints,
    Positions,
    StateGraph,
    Words,
    from_transitions,
    label_type,
    pack,
    stacked,
)
from statewalk.checker.liveness.kernels import components
from statewalk.checker.liveness.kernels import run as run_kernel
from statewalk.checker.machine.places import Limit
from statewalk.checker.machine.watch import CutShort
from statewalk.checker.native import memory
from statewalk.checker.native.checks import NEVER, check_states, run_checks
from statewalk.checker.native.findings import Stage
from statewalk.checker.native.kernels.arrays import POSITION_SHIFT
from statewalk.checker.native.kernels.numbering import keep, name, renumber
from statewalk.checker.native.kernels.tables import put_hashed
from statewalk.checker.native.learn.learned import Learned
from statewalk.checker.native.learn.moves import moves_of
from statewalk.checker.native.running import explore, loop_of, run, start, translating
from statewalk.checker.native.state import NativeSearch
from statewalk.checker.native.states import Level
from statewalk.checker.native.workers import Worker
from statewalk.dsl.model import Element, Model, Property
from statewalk.dsl.view import FairChoice

_MOST = 1 << 15  # labels
_ROUNDS = 8  # after which what is left may be part of a cycle
_BEYOND = 1 << 32  # beyond the numbers of outcomes


class Grown:
    """An array that grows by what is put behind it, where it lies: it is never there twice."""

    def __init__(self, kind: Any) -> None:
        self._room: NDArray[Any] = np.zeros(0, kind)
        self.used = 0

    @property
    def data(self) -> NDArray[Any]:
        """The values. Not to be looked at any more once there are others."""
        return self._room[: self.used]

    def add(self, more: NDArray[Any]) -> None:
        """Put some values behind those there are."""
        self.extend(len(more))[:] = more

    def extend(self, count: int) -> NDArray[Any]:
        """Room for so many more, to be filled before the next call."""
        before, self.used = self.used, self.used + count
        if self.used > len(self._room):
            self._room.resize(self.used + before // 16, refcheck=False)
        return self._room[before : self.used]

    def cut(self, used: int) -> None:
        """Forget all but the first values."""
        self.used = used

    def become(self, kind: Any) -> None:
        """Hold values of another type."""
        if self._room.dtype != kind:
            self._room = self._room.astype(kind)


class Names:
    """The labels of steps, numbered as they come: each with the outcome that it is of, -1 where it
    may be of several. They are told apart by outcome as long as there are few.
    """

    def __init__(self, search: NativeSearch) -> None:
        self.search = search
        self.table: list[Label] = []
        self.outcomes: list[int] = []
        self._fair: dict[tuple[FairChoice, ...], int] = {(): 0}
        self._keys: Words = np.zeros(1 << 10, np.uint64)
        self._numbers: Ints = np.zeros(1 << 10, np.int32)
        self._room: Ints = np.zeros((0, 0), np.int32)

    def of(self, worker: Worker, counts: Positions) -> Ints:
        """Return the label of each candidate of a worker.

        ``counts``, zeros, get those of each state.
        """
        batch, kinds = worker.batch, self._kinds()
        if self._room.shape != batch.fp.shape:
            self._room = memory.array(batch.fp.shape, np.int32, huge=0)
        used = np.array([len(self.table)], np.int64)
        while not name(
            batch, worker.first, kinds, self._keys, self._numbers, used, counts, self._room
        ):
            counts[:] = 0
            self._grow()
        if used[0] > len(self.table):
            self._note()
        return self._room

    def turns(self) -> Bools:
        """Of each label, whether its steps may be part of a cycle."""
        outcomes = np.array(self.outcomes, np.int64)
        return turning(self.search.learner.learned)[outcomes] | (outcomes < 0)

    def _kinds(self) -> Positions:
        """Return a number for each outcome: its own, or where there are many that of its fair
        choices.
        """
        learned = self.search.learner.learned
        if len(self.table) < _MOST:
            return np.arange(learned.delta.used)
        kinds = np.full(learned.delta.used, _BEYOND)
        for outcome, chosen in learned.fair_of.items():
            kinds[outcome] += self._fair.setdefault(chosen, len(self._fair))
        return kinds

    def _note(self) -> None:
        """Take up the labels that were named just now."""
        there = np.flatnonzero(self._keys)
        new = there[self._numbers[there] >= len(self.table)]
        bits, choices = self.search.ordinal_bits, list(self._fair)
        for key in self._keys[new[np.argsort(self._numbers[new])]].tolist():
            kind, code = (key >> POSITION_SHIFT) - 1, key & ((1 << POSITION_SHIFT) - 1)
            own = kind < _BEYOND
            known = self.search.learner.learned.fair_of
            fair = known.get(kind, ()) if own else choices[kind - _BEYOND]
            self.table.append(Label(code >> bits, code & ((1 << bits) - 1), fair))
            self.outcomes.append(kind if own else -1)

    def _grow(self) -> None:
        keys, numbers = self._keys, self._numbers
        self._keys = np.zeros(2 * len(keys), np.uint64)
        self._numbers = np.zeros(2 * len(keys), np.int32)
        there = keys > 0
        put_hashed(self._keys, self._numbers, keys[there], numbers[there])


class Keeper:
    """Keeps the graph of a search; its rows if they are wanted (else ``rows`` is None).

    ``alone`` says that the search has nothing else to find: then it ends where a predicate raises.
    ``base`` is the number of the first state of the level.
    """

    loops = False

    def __init__(self, search: NativeSearch, *, rows: bool, alone: bool) -> None:
        search.seen.number_states()
        search.workers.number_states()
        self.search = search
        self.alone = alone
        self.rows: list[NDArray[Any]] | None = [] if rows else None
        self.names = Names(search)
        self.fingerprints = Grown(np.uint64)
        self.truth: list[list[NDArray[np.bool_]]] = []
        self.failed = False  # a predicate raised
        self.base = self.initial = 0
        self.offsets = Grown(np.int64)
        self.offsets.extend(1)
        self.targets, self.labels = Grown(np.int32), Grown(np.uint8)
        self._places = Grown(np.int32)  # numbers by place, see `native.kernels.numbering`
        self._entered = [0] * len(search.seen.partitions)
        self._done = self._last = (1, 0)  # offsets and steps now, and without the last level

    def check(self, search: NativeSearch, level: Level, stage: Stage, _: bool) -> NDArray[np.bool_]:
        """Check the states of a level, and note where each predicate is true; all are kept."""
        first, end = search.roots.n_properties, len(search.roots.watched)
        if first:
            check_states(search, level, stage, False)
        own, ignored = [], np.full(end, NEVER)
        told = stage if self.alone else Stage(search)
        for group in range(first, end if not self.failed else first):
            groups = search.groups(0, search.roots.first_action)
            groups[2, groups[0] != group] = 0
            false_at = np.full(level.n, NEVER)
            run_checks(search, level, told, groups, ignored, false_at, 0)
            own.append(false_at == NEVER)
        self.failed = self.failed or told.state_error is not None
        self.truth.append(own)
        return np.ones(level.n, np.bool_)

    def batch(self, workers: list[Worker]) -> None:
        """Keep the steps of a batch, in the order of their sources."""
        for worker in workers:
            counts = np.zeros(worker.end - worker.first, np.int64)
            names = self.names.of(worker, counts)
            self.labels.become(label_type(len(self.names.table)))
            first, more = self.targets.used, int(counts.sum())
            ends = np.cumsum(counts)
            self.offsets.add(first + ends)
            self.targets.extend(more)
            self.labels.extend(more)
            keep(
                worker.batch, worker.first, names, first + ends - counts,
                self.targets.data, self.labels.data,
            )  # fmt: skip

    def level(self, before: Words) -> None:
        """Number the states of the new level, and the targets of the steps that were kept."""
        found = self.search.level.rows
        if self.rows is not None:
            self.rows.append(found.values.copy())
        self._number(found.fp, bool(len(before)))
        self.fingerprints.add(found.fp)
        if not len(before):
            self.initial = len(found.fp)
            return
        states, steps = self.base + len(before) + 1, self.targets.used
        self.offsets.extend(states - self.offsets.used)[:] = steps  # of a level cut short
        self._last, self._done = self._done, (states, steps)
        renumber(self.targets.data, self._last[1], self._places.data)
        self.base += len(before)

    def _number(self, fps: Words, released: bool) -> None:
        """Number the states of a level: those ``released``, or the initial ones, from the first."""
        seen, number = self.search.seen, self.fingerprints.used
        of = (fps >> np.uint64(seen.shift)).astype(np.int64)
        counts = np.bincount(of, minlength=len(self._entered)).tolist()
        most = max(had + new for had, new in zip(self._entered, counts, strict=True))
        room = most * len(counts) - self._places.used
        self._places.extend(max(0, room))
        for partition, new in zip(seen.partitions, counts, strict=True):
            had = self._entered[partition.number]
            order = partition.order_released if released else np.arange(new)
            if new:
                places = (had + order) * len(counts) + partition.number
                self._places.data[places] = np.arange(number, number + new)
            number += new
            self._entered[partition.number] += new

    def all_differ(self) -> bool:
        """Return whether no two states have one number."""
        found = self.fingerprints.data
        return len(np.unique(found)) == len(found)

    def drop_level(self) -> None:
        """Forget the steps of the last level, of which some states may not be expanded."""
        states, steps = self._last
        self.base = states - 1
        self.offsets.cut(states)
        self.targets.cut(steps)
        self.labels.cut(steps)

    def graph(self, stopped: StoppedBy | None, keys: list[str]) -> StateGraph:
        """Return the arrays."""
        if not whole_levels(stopped):
            self.drop_level()
        n = self.fingerprints.used
        failed = self.search.found.get(ASSERTION)
        self.offsets.extend(n + 1 - self.offsets.used)[:] = self.targets.used
        layout, wide = self.search.layout, self.search.shape.wide
        prints = [layout.fingerprint(layout.row(s)) for s in self.search.model.initial_states]
        first = np.array([p >> (64 if wide else 0) for p in prints], np.uint64)
        return StateGraph(
            offsets=self.offsets.data,
            targets=self.targets.data,
            labels=self.labels.data,
            table=tuple(self.names.table),
            fingerprints=self.fingerprints.data,
            initial=tuple(np.searchsorted(self.fingerprints.data[: self.initial], first).tolist()),
            truth={
                key: pack(np.concatenate([level[at] for level in self.truth]))
                for at, key in enumerate(keys)
            },
            expanded=np.arange(n) < self.base if stopped else None,
            stopped=stopped,
            raised=_said(self.search.model, failed) if failed else "",
            rows=None if self.rows is None else stacked(self.rows),
            layout=layout,
            turns=self.names.turns() if keys else None,
        )


def collect(
    model: Model, options: SearchOptions, properties: tuple[Property, ...], *, rows: bool = False
) -> StateGraph | None:
    """Return the state graph of a model, with its ``rows`` if wanted.

    None where only the reference semantics can build it: that is under constraints, where the spec
    raises, and where the first 64 of 128 bits do not tell states apart.
    """
    if model.constraints or model.step_constraints:
        return None
    other = replace(model, properties=(), terminal=(), check_deadlock=False)
    limits = replace(
        options, properties=None, keep_going=True, view=False, symmetry=False, on_progress=None,
        programs="whole" if rows and options.programs == "all" else options.programs,
    )  # fmt: skip

    def collected(options: SearchOptions) -> StateGraph | None:
        search = start(_noting(other, properties), options)
        keeper = Keeper(search, rows=rows, alone=True)
        stopped = run(loop_of(search, sink=keeper, check=keeper.check))
        if search.running is not None:
            raise CutShort(cast(Limit, stopped), search.running)
        return _graph(keeper, stopped, properties)

    return translating(limits, collected)


def collect_sliced(
    model: HidingModel, options: SearchOptions, properties: tuple[Property, ...]
) -> StateGraph | None:
    """Return the state graph of a model without its hidden fields, where it says enough.

    A fair behavior of the spec is one here, too: what is possible here is possible there, and a
    step that takes an action there does so here unless it changes hidden fields only. So what
    holds here holds there. None where a fair action makes steps that change nothing here, where a
    hidden field is read, or where only the whole graph would do.
    """
    other = replace(model, properties=(), terminal=(), check_deadlock=False)
    limits = replace(
        options, properties=None, keep_going=True, view=True, symmetry=False, on_progress=None
    )

    def collected(options: SearchOptions) -> StateGraph | None:
        search = start(_noting(other, properties), options)
        keeper = Keeper(search, rows=False, alone=True)
        stopped = run(loop_of(search, sink=keeper, check=keeper.check))
        graph = None if stopped else _graph(keeper, stopped, properties)
        return graph if graph is not None and _says_enough(model, graph, search.fired) else None

    try:
        return translating(limits, collected)
    except HiddenRead:
        return None


def _says_enough(model: Model, graph: StateGraph, fired: Positions) -> bool:
    """Return whether a graph without hidden fields is whole and each step that a fair action made,
    ``fired`` times, changes something in it.
    """
    if graph.raised:
        return False
    steps = np.arange(len(graph.targets))
    moves = graph.targets != np.searchsorted(graph.offsets, steps, side="right") - 1
    of = np.array([label.action for label in graph.table] or [0])
    kept = np.bincount(of[graph.labels[moves].astype(np.int64)], minlength=len(model.actions))
    fair = [condition.action for condition in conditions(model, graph.table)]
    fair += [a.index for a in model.actions if a.fairness != "none"]
    return all(kept[a] == fired[a] for a in fair)


def explored(
    model: Model, options: SearchOptions, properties: tuple[Property, ...], *, rows: bool,
    sliced: bool = False,
) -> tuple[Exploration, StateGraph | None]:  # fmt: skip
    """(what a search finds, the state graph as of `collect`, or where it is ``sliced`` of
    `collect_sliced`): one search for both.

    The graph is None where the search did not come to its end, too.
    """
    keepers: list[Keeper] = []

    def keeper(search: NativeSearch) -> Keeper:
        keepers[:] = [Keeper(search, rows=rows, alone=False)]
        return keepers[0]

    def check(search: NativeSearch, level: Level, stage: Stage, constraints: bool) -> Bools:
        return keepers[0].check(search, level, stage, constraints)

    view = options.view and not sliced
    parts = model.constraints or model.step_constraints or view or options.symmetry
    seen, sink = (model, None) if parts else (_noting(model, properties), keeper)
    if rows and options.programs == "all":
        options = replace(options, programs="whole")
    found = explore(seen, options, sink, check=check if sink else check_states)
    graph = _graph(keepers[0], None, properties) if sink and not found.stopped else None
    if sliced and graph is not None and not _says_enough(model, graph, keepers[0].search.fired):
        graph = None
    return found, graph


def _noting(model: Model, properties: tuple[Property, ...]) -> Model:
    """Return the model, with what is to be known of properties as constraints, which cut
    nothing here.
    """
    texts = sources(properties)
    watched = tuple(
        Property(key, "always", (Element(key, (), fn, source=texts[key]),), fn, source=texts[key])
        for key, fn in predicates(properties).items()
    )
    return replace(model, constraints=watched)


def _graph(
    keeper: Keeper, stopped: StoppedBy | None, properties: tuple[Property, ...]
) -> StateGraph | None:
    """Return the graph that was kept; None where it is none."""
    search = keeper.search
    if search.error or keeper.failed or (search.shape.wide and not keeper.all_differ()):
        return None
    return keeper.graph(stopped, list(predicates(properties)))


def _said(model: Model, failed: Finding) -> str:
    """Return what a step fails, in words."""
    assert failed.failing is not None
    action = model.actions[failed.failing.action]
    return said_of(action.name, failed.error or AssertionError())


def turning(learned: Learned) -> Bools:
    """Of each outcome, whether it may be part of a cycle.

    Looked at in one variable alone, a cycle of states is a closed walk among the values of that
    variable. So an outcome that takes a variable to a value from which no outcomes lead back is
    part of no cycle. It leads nowhere either: it is left out, and the rest is looked at again.
    """
    moves = moves_of(learned)
    result: Bools = np.ones(learned.delta.used, np.bool_)
    for _ in range(_ROUNDS):
        left = result[moves.outcome[moves.write]]
        pairs = moves.pairs[:, left]
        block = _blocks(np.concatenate([pairs, moves.to_hub], axis=1), moves.places)
        good: Bools = np.zeros(len(moves.outcome), np.bool_)
        good[moves.write[left][block[pairs[0]] == block[pairs[1]]]] = True
        before = int(result.sum())
        result[moves.outcome[~good]] = False
        if int(result.sum()) == before:
            break
    return result


def _blocks(pairs: Positions, nodes: int) -> Ints:
    """Return the strongly connected component of each node."""
    order = np.argsort(pairs[0], kind="stable")
    labels = np.zeros(pairs.shape[1], np.uint8)
    offsets, targets, _ = from_transitions(pairs[0][order], pairs[1][order], labels, nodes)
    component = np.full(nodes, -1, np.int32)
    zeros = [np.zeros(nodes + 1, np.int32) for _ in range(5)]
    given = (np.arange(nodes, dtype=np.int32), offsets, targets, zeros[0][:nodes])
    scratch = (component, zeros[1][:nodes], *zeros[2:], np.zeros(nodes + 1, np.int64))
    run_kernel(components, nodes + len(targets), given, scratch)
    return component
