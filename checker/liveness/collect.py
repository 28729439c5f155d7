"""Builds the state graph with the native engine: the same search, which also keeps its transitions.

The predicates take the place of constraints that cut nothing, so they are learned and replayed
like everything else. Each level's transitions are kept as (link, fingerprint of the target) until
the next level is known; then targets become state numbers, and the transitions are put in order of
source.

Slow twin: statewalk.checker.liveness.explore
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from statewalk.checker.contract.search import Exploration, SearchOptions, StoppedBy
from statewalk.checker.liveness.conditions import Label, predicates
from statewalk.checker.liveness.graph import (
    Ints,
    Positions,
    StateGraph,
    Words,
    label_type,
    pack,
    stacked,
)
from statewalk.checker.liveness.kernels import compiled, put_in_order
from statewalk.checker.machine.places import Limit
from statewalk.checker.machine.watch import CutShort
from statewalk.checker.native.checks import NEVER, run_checks
from statewalk.checker.native.findings import Stage
from statewalk.checker.native.kernels.arrays import POSITION_SHIFT
from statewalk.checker.native.kernels.numbering import enter, find
from statewalk.checker.native.running import explore, loop_of, run, start
from statewalk.checker.native.state import Search
from statewalk.checker.native.states import Level
from statewalk.dsl.model import Element, Model, Property
from statewalk.dsl.view import FairChoice

_FIRST_TABLE = 1 << 10
_LOAD = 0.7


class Grown:
    """An array that grows by what is put behind it, where it lies: it is never there twice."""

    def __init__(self, kind: Any) -> None:
        self.data: NDArray[Any] = np.zeros(0, kind)

    def add(self, more: NDArray[Any]) -> None:
        """Put some values behind those there are."""
        self.extend(len(more))[:] = more

    def extend(self, count: int) -> NDArray[Any]:
        """Room for so many more, to be filled before the next call."""
        used = len(self.data)
        self.data.resize(used + count, refcheck=False)
        return self.data[used:]

    def cut(self, used: int) -> None:
        """Forget all but the first values."""
        self.data.resize(used, refcheck=False)


class Numbers:
    """State numbers by fingerprint: open addressing, doubled beyond a load of `_LOAD`."""

    def __init__(self) -> None:
        self.fingerprints = Grown(np.uint64)
        self.table: Ints = np.full(_FIRST_TABLE, -1, np.int32)

    @property
    def used(self) -> int:
        """How many states have numbers."""
        return len(self.fingerprints.data)

    def add(self, fingerprints: Words) -> None:
        """Number these states from the next free number on."""
        first = self.used
        self.fingerprints.add(fingerprints)
        size = len(self.table)
        while self.used > _LOAD * size:
            size *= 2
        if size > len(self.table):
            first, self.table = 0, np.full(size, -1, np.int32)
        enter(self.fingerprints.data, first, self.table)

    def of(self, fingerprints: Words) -> Ints:
        """The number of each state; -1 where there is none."""
        result: Ints = np.full(len(fingerprints), -1, np.int32)
        find(fingerprints, self.fingerprints.data, self.table, result)
        return result


@dataclass
class Keeper:
    """Keeps the graph of a search; its rows if they are wanted (else ``rows`` is None).

    ``base`` is the number of the first state of the level.
    """

    search: Search
    rows: list[NDArray[Any]] | None = None
    loops: bool = False
    numbers: Numbers = field(default_factory=Numbers)
    truth: list[list[NDArray[np.bool_]]] = field(default_factory=list)
    base: int = 0
    pending: list[tuple[Ints, Words, NDArray[Any]]] = field(default_factory=list)
    ends: Grown = field(default_factory=lambda: Grown(np.int64))
    targets: Grown = field(default_factory=lambda: Grown(np.int32))
    labels: Grown = field(default_factory=lambda: Grown(np.uint8))
    last: tuple[int, int] = (0, 0)  # states expanded, transitions, before the last level
    table: dict[Label, int] = field(default_factory=dict)
    fair: dict[tuple[FairChoice, ...], int] = field(default_factory=lambda: {(): 0})

    def check(self, search: Search, level: Level, stage: Stage, _: bool) -> NDArray[np.bool_]:
        """Note the truth of each predicate in the states of a level; all are kept."""
        own, ignored = [], np.full(len(search.roots.watched), NEVER)
        for group in range(len(search.roots.watched)):
            groups = search.groups(0, search.roots.first_action)
            groups[2, groups[0] != group] = 0
            false_at = np.full(level.n, NEVER)
            run_checks(search, level, stage, groups, ignored, false_at, 0)
            own.append(false_at == NEVER)
        self.truth.append(own)
        return np.ones(level.n, np.bool_)

    def transitions(self, link: Positions, fp: Words, outcome: Ints) -> None:
        """Keep transitions until their targets have numbers, as (source, target, label)."""
        names = self.names(link & ((1 << POSITION_SHIFT) - 1), outcome)
        self.pending.append(((link >> POSITION_SHIFT).astype(np.int32), fp, names))

    def level(self, before: Words) -> None:
        """Number the states of the new level; put the transitions that lead there in order."""
        found = self.search.level.rows
        if self.rows is not None:
            self.rows.append(found.values.copy())
        self.numbers.add(found.fp)
        if not len(before):
            return  # the initial states
        counts = np.zeros(len(before), np.int64)
        for source, _, _ in self.pending:
            counts += np.bincount(source, minlength=len(before))
        many = int(counts.sum())
        self.last = (len(self.ends.data), len(self.targets.data))
        starts = np.cumsum(counts) - counts
        self.ends.add(self.last[1] + starts + counts)
        if (kind := label_type(len(self.table))) != self.labels.data.dtype:
            self.labels.data = self.labels.data.astype(kind)
        targets, labels = self.targets.extend(many), self.labels.extend(many)
        for source, fp, name in self.pending:
            to, names = self.numbers.of(fp), name.astype(kind, copy=False)
            compiled(put_in_order)(source, to, names, starts, targets, labels)
        self.pending = []
        self.base += len(before)

    def names(self, codes: Positions, outcomes: Ints) -> NDArray[Any]:
        """The label of each transition, from (action, ordinal) as links hold it and its outcome."""
        bits = self.search.ordinal_bits
        ordinal = codes & ((1 << bits) - 1)
        width = int(ordinal.max(initial=0)) + 1
        dense = (codes >> bits) * width + ordinal if width > 1 else codes >> bits
        fair = self.fair_choices(outcomes)
        several = len(self.fair)
        if several > 1:
            dense = dense * several + fair
        there = np.flatnonzero(np.bincount(dense))
        numbers = np.zeros(int(there.max(initial=0)) + 1, np.int64)
        choices = list(self.fair)
        for code in there.tolist():
            rest, chosen = divmod(code, several)
            label = Label(*divmod(rest, width), choices[chosen])
            numbers[code] = self.table.setdefault(label, len(self.table))
        return numbers.astype(label_type(len(self.table)))[dense]

    def fair_choices(self, outcomes: Ints) -> Ints:
        """The number in ``fair`` of the fair choices of each outcome."""
        known = self.search.learner.learned.fair_of
        if not known:
            return np.zeros(len(outcomes), np.int32)
        of: Ints = np.zeros(max(*known, int(outcomes.max(initial=0))) + 1, np.int32)
        for outcome, chosen in known.items():
            of[outcome] = self.fair.setdefault(chosen, len(self.fair))
        return of[outcomes]

    def all_differ(self) -> bool:
        """Whether no two states have one number."""
        found = self.numbers.fingerprints.data
        return len(np.unique(found)) == len(found)

    def drop_level(self) -> None:
        """Forget the transitions of the last level, of which some states may not be expanded."""
        expanded, steps = self.last
        self.base -= len(self.ends.data) - expanded
        self.ends.cut(expanded)
        self.targets.cut(steps)
        self.labels.cut(steps)

    def graph(self, stopped: StoppedBy | None, keys: list[str]) -> StateGraph:
        """The arrays."""
        if stopped in get_args(Limit):  # perhaps in the middle of a level
            self.drop_level()
        n = self.numbers.used
        offsets = np.full(n + 1, len(self.targets.data), np.int64)
        offsets[0] = 0
        offsets[1 : len(self.ends.data) + 1] = self.ends.data
        kind = label_type(len(self.table))
        layout, wide = self.search.layout, self.search.shape.wide
        prints = [layout.fingerprint(layout.row(s)) for s in self.search.model.initial_states]
        shift = 64 if wide else 0
        first = np.array([p >> shift for p in prints], np.uint64)
        return StateGraph(
            offsets=offsets,
            targets=self.targets.data,
            labels=self.labels.data.astype(kind, copy=False),
            table=tuple(self.table),
            fingerprints=self.numbers.fingerprints.data,
            initial=tuple(self.numbers.of(first).tolist()),
            truth={
                key: pack(np.concatenate([level[at] for level in self.truth]))
                for at, key in enumerate(keys)
            },
            expanded=np.arange(n) < self.base if stopped else None,
            stopped=stopped,
            rows=None if self.rows is None else stacked(self.rows),
            layout=layout,
        )


def collect(
    model: Model, options: SearchOptions, properties: tuple[Property, ...], *, rows: bool = False
) -> StateGraph | None:
    """The state graph of a model, with its ``rows`` if wanted.

    None where only the reference semantics can build it: that is under constraints, where the spec
    raises, and where the first 64 of 128 bits, by which states are numbered, do not tell them
    apart.
    """
    if model.constraints or model.step_constraints:
        return None
    wanted = predicates(properties)
    watched = tuple(
        Property(key, "always", (Element(key, (), fn),), fn) for key, fn in wanted.items()
    )
    other = replace(model, properties=(), constraints=watched, terminal=(), check_deadlock=False)
    limits = replace(
        options, properties=None, keep_going=True, view=False, symmetry=False, on_progress=None
    )
    search = start(other, limits)
    keeper = Keeper(search, [] if rows else None)
    stopped = run(loop_of(search, sink=keeper, check=keeper.check))
    if search.running is not None:
        raise CutShort(cast(Limit, stopped), search.running)
    return _graph(keeper, stopped, list(wanted))


def explored(model: Model, options: SearchOptions) -> tuple[Exploration, StateGraph | None]:
    """(what a search finds, the state graph with its rows): one search for both.

    The graph is None as for `collect`, and where the search did not come to its end.
    """
    keepers: list[Keeper] = []

    def keeper(search: Search) -> Keeper:
        keepers.append(Keeper(search, []))
        return keepers[0]

    if model.constraints or model.step_constraints or options.view or options.symmetry:
        return explore(model, options), None
    found = explore(model, options, keeper)
    return found, _graph(keepers[0], None, []) if found.stopped is None else None


def _graph(keeper: Keeper, stopped: StoppedBy | None, keys: list[str]) -> StateGraph | None:
    """The graph that was kept; None where it is none."""
    search = keeper.search
    if search.error or (search.shape.wide and not keeper.all_differ()):
        return None
    return keeper.graph(stopped, keys)
