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
_LOAD = 0.6


class Numbers:
    """State numbers by fingerprint: open addressing, doubled beyond a load of `_LOAD`."""

    def __init__(self) -> None:
        self.keys: Words = np.zeros(_FIRST_TABLE, np.uint64)
        self.values: Ints = np.full(_FIRST_TABLE, -1, np.int32)
        self.used = 0

    def add(self, fingerprints: Words) -> None:
        """Number these states from the next free number on."""
        needed = self.used + len(fingerprints)
        if needed > _LOAD * len(self.keys):
            size = len(self.keys)
            while needed > _LOAD * size:
                size *= 2
            filled = self.values >= 0
            keys, values = self.keys[filled], self.values[filled]
            self.keys, self.values = np.zeros(size, np.uint64), np.full(size, -1, np.int32)
            enter(keys, values, self.keys, self.values)
        numbers = np.arange(self.used, needed, dtype=np.int32)
        enter(fingerprints, numbers, self.keys, self.values)
        self.used = needed

    def of(self, fingerprints: Words) -> Ints:
        """The number of each state; -1 where there is none."""
        result: Ints = np.full(len(fingerprints), -1, np.int32)
        find(fingerprints, self.keys, self.values, result)
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
    fingerprints: list[Words] = field(default_factory=list)
    truth: list[list[NDArray[np.bool_]]] = field(default_factory=list)
    base: int = 0
    pending: list[tuple[Ints, Words, NDArray[Any]]] = field(default_factory=list)
    counts: list[Positions] = field(default_factory=list)
    targets: list[Ints] = field(default_factory=list)
    labels: list[NDArray[Any]] = field(default_factory=list)
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
        self.fingerprints.append(found.fp.copy())
        if self.rows is not None:
            self.rows.append(found.values.copy())
        self.numbers.add(found.fp)
        if not len(before):
            return  # the initial states
        none = np.zeros(0, np.int32)
        sources = np.concatenate([none, *(source for source, _, _ in self.pending)])
        to = np.concatenate([none, *(self.numbers.of(fp) for _, fp, _ in self.pending)])
        names = np.concatenate([none.astype(np.uint8), *(name for _, _, name in self.pending)])
        self.pending = []
        counts = np.bincount(sources, minlength=len(before)).astype(np.int64)
        starts = np.cumsum(counts) - counts
        targets, labels = np.empty_like(to), np.empty_like(names)
        compiled(put_in_order)(sources, to, names, starts, targets, labels)
        self.counts.append(counts)
        self.targets.append(targets)
        self.labels.append(labels)
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
        found = np.concatenate(self.fingerprints)
        return len(np.unique(found)) == len(found)

    def drop_level(self) -> None:
        """Forget the transitions of the last level, of which some states may not be expanded."""
        if self.counts:
            self.base -= len(self.counts.pop())
            self.targets.pop()
            self.labels.pop()

    def graph(self, stopped: StoppedBy | None, keys: list[str]) -> StateGraph:
        """The arrays."""
        if stopped in get_args(Limit):  # perhaps in the middle of a level
            self.drop_level()
        n = self.numbers.used
        left = np.zeros(n - sum(map(len, self.counts)), np.int64)
        offsets = np.zeros(n + 1, np.int64)
        np.cumsum(np.concatenate([*self.counts, left]), out=offsets[1:])
        kind = label_type(len(self.table))
        layout, wide = self.search.layout, self.search.shape.wide
        prints = [layout.fingerprint(layout.row(s)) for s in self.search.model.initial_states]
        shift = 64 if wide else 0
        first = np.array([p >> shift for p in prints], np.uint64)
        none = np.zeros(0, np.int32)
        return StateGraph(
            offsets=offsets,
            targets=np.concatenate([*self.targets, none]),
            labels=np.concatenate([*self.labels, none]).astype(kind, copy=False),
            table=tuple(self.table),
            fingerprints=np.concatenate(self.fingerprints),
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
