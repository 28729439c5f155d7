"""Letting tasks learn, where a search meets many situations that nothing explains yet.

What tasks tell is a help and never the truth: the driver takes over what it would have inserted
itself, evaluates every situation of which it cannot tell, and then walks all of them again as if no
task had been asked. So results do not depend on what tasks do, or on whether there are any.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from checker.native.arrays import EDGE, Array
from checker.native.learning import is_repeated
from checker.spark.jobs import Jobs, waiting
from checker.spark.lessons import Told, identity, lesson_of
from checker.spark.naming import Names
from checker.spark.replica import School, attend
from checker.spark.settings import LEARN_FROM, LEARNERS
from checker.spark.taking import Taking
from dsl.parcel import NotMovable, pack_spec

if TYPE_CHECKING:
    from checker.native.states import Level
    from checker.native.workers import Worker
    from checker.spark.search import SparkSearch

_ROUNDS = 1000  # walks until what is missing is left to the search itself
_LESSONS = 8  # in a row, about the same states
_FEW = 64  # evaluations, until it is judged whether tasks are of use
_CHEAP = 3e-4  # seconds of an evaluation, below which taking it over costs as much
_UNKNOWN = 5e-4  # seconds of an evaluation, until some are known
_PER_EDGE = 512  # situations sent of those that stop at the same edge


@dataclass
class Teaching:
    """What a search has let tasks learn: lessons, evaluations taken over, and those in vain."""

    lessons: int = 0
    taken: int = 0
    refused: int = 0
    why_not: str = ""


@dataclass(frozen=True)
class _Group:
    """(position, root) pairs, how many evaluations they are expected to need, and what each takes.

    Of n situations that stop at the same edge there are, between one and n, about √n different.
    """

    pairs: Array
    expected: float
    each: float


@dataclass
class Teacher:
    """Lets the tasks of a search learn. ``stop`` is asked whether to give up meanwhile."""

    search: SparkSearch
    jobs: Jobs
    pool: ThreadPoolExecutor
    stop: Callable[[], bool] = lambda: False
    told: Teaching = field(default_factory=Teaching)
    _school: School | None = None
    _tasks: int = 0  # 0 before it was asked
    _names: Names = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing named."""
        self._names = Names(self.search.learner.learned)

    def complete(self, worker: Worker, run: Callable[[Worker], object], level: Level) -> None:
        """Let a worker finish its range; what is missing is learned in between, by tasks if much.

        Raises:  Stopped; RunError[SW333] where Spark gives up
        """
        bound = self._bound()
        for _ in range(_LESSONS):
            if not bound or self.told.why_not:
                break
            groups = self._groups(self._survey(worker, run, level))
            if sum(group.expected for group in groups) < bound:
                break
            if not self._teach(groups, level):
                break
        if worker.busy:
            self.search.complete([worker], run, level)

    def close(self) -> None:
        """Take away what was sent."""
        if self._school is not None:
            self.jobs.drop(self._school.spec)
            self._school = None

    def _bound(self) -> int:
        """From how many situations on tasks are asked; 0 for never."""
        given = self.search.settings.learn_from
        if given is None:
            self._tasks = self._tasks or self.search.most_tasks(self.jobs)
            return LEARN_FROM if self._tasks >= LEARNERS else 0
        return given

    # -- what is missing -------------------------------------------------------------------------

    def _survey(self, worker: Worker, run: Callable[[Worker], object], level: Level) -> Array:
        """Walk to the end of the range: the (position, root, kind, operand, value) of what misses.

        What only needs a projection or an operation computed goes on; the rest is left to be tried
        again.
        """
        edges = [np.zeros((0, 5), np.int64)]
        for _ in range(_ROUNDS):
            if not worker.busy:
                break
            run(worker)
            waiting_pairs = worker.pairs
            misses = worker.take_misses()
            is_edge = misses[:, 2] == EDGE
            edges.append(misses[is_edge])
            if not is_edge.all():
                self.search.learn(misses[~is_edge], level)
            worker.pairs = np.concatenate([waiting_pairs, misses[~is_edge][:, :2]])
        found = np.concatenate(edges)
        worker.pairs = np.ascontiguousarray(np.concatenate([worker.pairs, found[:, :2]]))
        return found

    # -- a lesson --------------------------------------------------------------------------------

    def _teach(self, groups: list[_Group], level: Level) -> bool:
        """Let tasks explain situations, and take over what they tell; whether that was anything."""
        school = self._school or self._open()
        if school is None:
            return False
        shares = self._shares(groups)
        layout, values = self.search.layout, level.rows.values
        lessons = [lesson_of(layout, values, pairs) for pairs in shares]
        places = [self.jobs.send(pickle.dumps(lesson, protocol=5)) for lesson, _ in lessons]
        run: Any = partial(self.jobs.each, partial(attend, school, tuple(places)), len(places))
        try:
            answers: list[Any] = waiting(self.pool, self.jobs, run, self.stop)
        finally:
            for place in places:
                self.jobs.drop(place)
        self.told.lessons += 1
        before = self.told.taken + self.told.refused
        for (_, positions), answer in zip(lessons, answers, strict=True):
            self._take(pickle.loads(answer), values[positions])
        if self.told.refused > max(4 * _FEW, self.told.taken):
            self.told.why_not = "most of what tasks told was of no use"
        return self.told.taken + self.told.refused > before

    def _open(self) -> School | None:
        """Send the spec; None where it cannot be sent."""
        search = self.search
        try:
            parcel = pack_spec(search.model)
        except NotMovable as reason:
            self.told.why_not = str(reason)
            return None
        self._school = School(
            search.token,
            self.jobs.send(pickle.dumps(parcel, protocol=5)),
            identity(search.model, search.roots),
            search.options.properties,
            search.options.view,
        )
        return self._school

    def _groups(self, edges: Array) -> list[_Group]:
        """Situations that stop at the same edge, without those that are learned at once.

        What lies behind different edges has no path in common, so it can be learned apart.
        """
        if not len(edges):
            return []
        learner = self.search.learner
        _, group, counts = np.unique(edges[:, 1:], axis=0, return_inverse=True, return_counts=True)
        order = np.argsort(group.reshape(-1), kind="stable")
        found = []
        for own in np.split(order, np.cumsum(counts)[:-1]):
            root = int(edges[own[0], 1])
            known, each = int(learner.evaluations[root]), _UNKNOWN
            if known >= _FEW:
                each = float(learner.time[root]) / known
                if each < _CHEAP:
                    continue
            chosen = own[:: max(1, len(own) // _PER_EDGE)]
            found.append(_Group(edges[chosen, :2], len(own) ** 0.5, each))
        return found

    def _shares(self, groups: list[_Group]) -> list[Array]:
        """(position, root) pairs per task; the longest group first, to whoever has least so far."""
        self._tasks = self._tasks or self.search.most_tasks(self.jobs)
        n = min(self._tasks, len(groups))
        loads = [0.0] * n
        shares: list[list[Array]] = [[] for _ in loads]
        for group in sorted(groups, key=lambda group: -group.expected * group.each):
            least = min(range(n), key=loads.__getitem__)
            loads[least] += group.expected * group.each
            shares[least].append(group.pairs)
        return [np.concatenate(own) for own in shares]

    # -- taking over -----------------------------------------------------------------------------

    def _take(self, told: Told, values: Array) -> None:
        """Take over what a task told about rows."""
        if told.problem:
            self.told.why_not = told.problem
            return
        learner = self.search.learner
        taking = Taking(learner, self._names, told)
        rows: dict[int, list[int]] = {}
        for explained in told.explained:
            at, root = explained.row, explained.root
            row = rows.get(at)
            if row is None:
                row = rows[at] = values[at].tolist()
            count = int(learner.evaluations[root])
            whole = taking.take(explained, row)
            self.told.taken += whole
            self.told.refused += not whole
            if whole and not is_repeated(count):
                learner.evaluations[root] += 1
                learner.time[root] += explained.seconds
            else:  # now and then the driver looks whether it finds the same
                learner.evaluate(root, row, twice=explained.doubtful)
