"""Random walks in compiled code: many at once, along what was learned of the spec.

What a walk does is what `checker.behaviours.random_walk.Walk` does with the same random numbers.
The spec runs where something is not known yet, and where a walk is to be told of: in a state, or at
a step, that violates something or raises, it goes on by running the spec.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from statewalk.checker.behaviours.random_walk import Chance, Simulation, Walk
from statewalk.checker.contract.search import SearchOptions, Step
from statewalk.checker.engines.layout import Layout
from statewalk.checker.native.kernels.arrays import (
    ENDED,
    GOING,
    N_MISSES,
    NO_STEP,
    SCRATCH_FULL,
    SEGMENT_FULL,
    TOLD,
    WAITING,
    Array,
    Stride,
    Walks,
    make_scratch,
)
from statewalk.checker.native.kernels.random_walks import go_on
from statewalk.checker.native.learn.learning import Learner, Roots, make_roots
from statewalk.checker.native.workers import once
from statewalk.checker.states.attempts import attempts, unrepeatable
from statewalk.dsl.model import Model
from statewalk.dsl.state.plain_view import apply_writes

_BUDGET = 1 << 16  # steps between two looks at whether to end
_FIRST = 16  # walks side by side at first; four times as many from one time to the next
_MOST = 1 << 10
_STEPS = 1 << 18  # that walks side by side may have
_MISSES = 1 << 14
_MOST_REPEATS = 8  # of the same misses in a row, although they were learned


@dataclass
class LearnedWalks:
    """Walks of a model, counted in a simulation; ``keep`` as in `simulate`."""

    model: Model
    result: Simulation
    depth: int
    keep: bool = False
    roots: Roots = field(init=False)
    layout: Layout = field(init=False)
    learner: Learner = field(init=False)

    def __post_init__(self) -> None:
        """Learn nothing yet but the initial states."""
        self.roots = make_roots(self.model, SearchOptions())
        self.layout = Layout(self.model)
        self.learner = Learner(self.model, self.roots, self.layout)
        self._initial = [self.layout.row(state) for state in self.model.initial_states]
        self.learner.learned.contribute_all()
        self._scratch = make_scratch(256)
        self._room = 64
        roots = self.roots
        self._constraints = [*roots.watched[roots.n_properties :]]
        self._constraints += roots.steps[roots.n_step_properties :]
        self._groups = _groups(roots)
        kinds = [int(p.of_kind.witness) for p in roots.watched[: roots.n_properties]]
        self._kinds = np.array([*kinds, *[2] * (len(roots.watched) - len(kinds)), 0], np.int64)
        self._ends = np.array(
            [
                roots.first_action, roots.end_action, roots.end_terminal, len(roots.steps),
                roots.n_step_properties, int(self.model.check_deadlock), *roots.moving(),
            ]
        )  # fmt: skip

    def go_on(self, runs: int, interrupted: Callable[[], bool]) -> None:
        """Walk until there are so many, a violation is found or somebody asks to end."""
        most = max(_FIRST, min(_MOST, _STEPS // max(1, self.depth)))
        n = _FIRST
        result = self.result
        while result.runs < runs and not result.findings and not interrupted():
            first = result.runs
            walks, start = self._walked(first, min(n, runs - first), self.keep, interrupted)
            self._count(walks, start, first)
            n = min(4 * n, most)

    # -- walking ---------------------------------------------------------------------------------

    def _begun(self, first: int, n: int, keep: bool) -> tuple[Walks, Array]:
        """Walks from number ``first`` on, none of which has taken a step; where they start."""
        learned, roots = self.learner.learned, self.roots
        width = max(1, len(self.layout.slots))
        values = np.zeros((n, width), np.uint32)
        chances = [Chance.of_walk(self.result.seed, first + number) for number in range(n)]
        start = np.array([chance.below(len(self._initial)) for chance in chances], np.int64)
        for number, initial in enumerate(start.tolist()):
            row = self._initial[initial]
            values[number, : len(row)] = row
        walks = Walks(
            values,
            np.zeros_like(values),
            np.full((n, learned.words), (1 << 64) - 1, np.uint64),
            np.array([chance.at for chance in chances], np.uint64),
            np.full(n, -1),
            np.full(n, GOING),
            np.zeros(n, np.int64),
            np.zeros((n, len(self.model.actions)), np.int64),
            np.zeros((n, len(self._constraints)), np.int64),
            np.zeros((n, roots.n_properties), np.uint8),
            np.zeros((n, self.depth if keep else 0), np.int64),
            np.zeros((max(_MISSES, 2 * len(roots.all) + 2), 5), np.int64),
            np.zeros(4, np.int64),
        )
        return walks, start

    def _walked(
        self, first: int, n: int, keep: bool, interrupted: Callable[[], bool]
    ) -> tuple[Walks, Array]:
        """Return some walks, each to its end, to where it is to be told of, or until somebody
        asks.
        """
        walks, start = self._begun(first, n, keep)
        learned = self.learner.learned
        stride = self._stride(walks)
        before, repeats = np.zeros(0), 0
        while not interrupted():
            at = np.zeros(1, np.int64)
            status = go_on(
                walks, learned.tries(), learned.outcomes(), self._scratch, stride, self._groups,
                self._kinds, self._ends, at, self.depth, _BUDGET,
            )  # fmt: skip
            if status == SEGMENT_FULL:
                self._room *= 2
                stride = self._stride(walks)
            elif status == SCRATCH_FULL:
                self._scratch = make_scratch(2 * len(self._scratch.stack))
            misses = walks.misses[: walks.counters[N_MISSES]].copy()
            walks.counters[N_MISSES] = 0
            waiting = walks.status == WAITING
            repeats = repeats + 1 if len(misses) and np.array_equal(misses, before) else 0
            before = misses
            walks.status[waiting] = TOLD if repeats == _MOST_REPEATS else GOING
            for number, *miss in once(misses):
                self._learn(miss, walks, number)
            if len(self.layout.slots) > walks.values.shape[1]:
                walks = _widened(walks, len(self.layout.slots))
                stride = self._stride(walks)
            if _is_decided(walks):
                break
        return walks, start

    def _stride(self, walks: Walks) -> Stride:
        width = walks.values.shape[1]
        root, ordinal, leaf, drawn = (np.zeros(self._room, np.int32) for _ in range(4))
        return Stride(
            root,
            ordinal,
            leaf,
            drawn,
            np.zeros(width, np.uint32),
            np.zeros(walks.quiet.shape[1], np.uint64),
            np.zeros(2 * width, np.int64),
            np.zeros(walks.cut.shape[1], np.int64),
            np.zeros(walks.met.shape[1], np.uint8),
        )

    def _learn(self, miss: list[int], walks: Walks, number: int) -> None:
        """Learn what a walk missed: in its state, in the one that it looked at, or of the step."""
        root, row, coming = miss[0], walks.values[number], walks.coming[number]
        if root >= self.roots.end_terminal:
            self.learner.learn(miss, coming.tolist, row.tolist)
        else:
            self.learner.learn(miss, (row if root >= self.roots.first_action else coming).tolist)

    # -- what came of it -------------------------------------------------------------------------

    def _count(self, walks: Walks, start: Array, first: int) -> None:
        """Count the walks up to the first that is not complete, and that one if it is to be told
        of.
        """
        n, result = _complete(walks), self.result
        self._add(walks, slice(n))
        result.runs += n
        result.ended += int((walks.status[:n] == NO_STEP).sum())
        result.longest = max([result.longest, *walks.length[:n].tolist()])
        for group, times in enumerate(walks.met[:n].sum(0, np.int64).tolist()):
            if times:
                result.witnesses[self.roots.watched[group].name] += times
        if self.keep:
            for number in range(n):
                walk = self._walk(walks, start, number)
                result.walks.append((walk.initial, tuple(walk.steps)))
        if n < len(walks.status) and walks.status[n] == TOLD:
            self._tell(first + n)

    def _add(self, walks: Walks, which: slice) -> None:
        """Count the steps of some walks."""
        result = self.result
        result.steps += int(walks.tried[which].sum())
        for index, times in enumerate(walks.fired[which].sum(0).tolist()):
            if times:
                result.fired[self.model.actions[index].name] += times
        for prop, times in zip(self._constraints, walks.cut[which].sum(0).tolist(), strict=True):
            if times:
                result.cut[prop.name] += times

    def _tell(self, number: int) -> None:
        """Walk again, steps kept, to where a walk is to be told of; on from there plainly."""
        walks, start = self._walked(number, 1, True, lambda: False)
        self._add(walks, slice(1))
        walk = self._walk(walks, start, 0)
        chance = Chance(int(walks.chance[0]))
        walk.to_its_end(chance, self.depth, self.keep, looked=bool(walks.length[0] >= 0))

    def _walk(self, walks: Walks, start: Array, number: int) -> Walk:
        """Return a walk whose steps were kept, taken once more by running the spec."""
        initial = int(start[number])
        walk = Walk(self.model, self.result, initial, dict(self.model.initial_states[initial]))
        for code in walks.log[number, : max(0, int(walks.length[number]))].tolist():
            action = self.model.actions[code >> 32]
            ways = islice(attempts(self.model, action, walk.state), code & 0xFFFFFFFF, None)
            way = next(ways, None)
            if way is None or way.error is not None:
                said = f"A step of {action.label} was found, and cannot be taken again."
                raise unrepeatable("SW310", said)
            walk.steps.append(Step(action.index, way.choices))
            walk.state = apply_writes(walk.state, way.writes)
        walk.met = {
            self.roots.watched[group].name for group in np.flatnonzero(walks.met[number]).tolist()
        }
        return walk


def _complete(walks: Walks) -> int:
    """Return how many walks, from the first on, are complete."""
    left = np.flatnonzero((walks.status != ENDED) & (walks.status != NO_STEP))
    return int(left[0]) if len(left) else len(walks.status)


def _is_decided(walks: Walks) -> bool:
    """Return whether all walks are complete up to the first to tell of."""
    n = _complete(walks)
    return n == len(walks.status) or bool(walks.status[n] == TOLD)


def _widened(walks: Walks, width: int) -> Walks:
    """Walks with room for more slots."""
    wider = ((0, 0), (0, width - walks.values.shape[1]))
    return walks._replace(values=np.pad(walks.values, wider), coming=np.pad(walks.coming, wider))


def _groups(roots: Roots) -> Array:
    """Per root of what is watched: its group, and where the group ends."""
    groups = np.zeros((2, len(roots.all)), np.int64)
    end = roots.first_action
    for number in range(roots.first_action - 1, -1, -1):
        group = roots.all[number].group
        if number + 1 < roots.first_action and roots.all[number + 1].group != group:
            end = number + 1
        groups[:, number] = group, end
    return groups
