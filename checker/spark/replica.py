"""Learning on executors: a model loaded from a spec's text, which tells what it has found out.

A worker process keeps one replica of the search's model and of what is learned about it, in numbers
of its own. It is asked to explain situations: each that it cannot explain it evaluates, as the
driver would, and it notes the paths. Whatever is out of the ordinary it leaves to the driver: an
update that raises, a call that looks at what the step has changed, any error. What it has told once
it does not tell again, so what gets lost on the way is evaluated by the driver as well.
"""

from __future__ import annotations

import gc
import pickle
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from checker.engine import SearchOptions
from checker.layout import Layout
from checker.native.arrays import EDGE, NO_LINK, Array, Rows
from checker.native.learned import Event, Learned
from checker.native.learning import Learner, Roots, is_repeated, make_roots
from checker.native.memo import Call
from checker.native.search import Search
from checker.native.states import Shape
from checker.native.tracing import Contradiction, TracingView
from checker.native.workers import Worker
from checker.spark.jobs import Load
from checker.spark.lessons import NO_CALL, Lesson, Told, identity, value_of
from checker.spark.naming import Names
from checker.spark.telling import Note, Telling
from dsl.model import Model
from dsl.parcel import unpack_spec

_MOST_ODD = 8  # evaluations of a root in vain, beyond those that gave something


@dataclass(frozen=True)
class School:
    """What a search's lessons have in common. ``spec`` is where the spec's `Parcel` was sent."""

    token: str
    spec: Any
    identity: bytes
    properties: tuple[str, ...] | None
    view: bool


class _View(TracingView):
    """A view that also notes which calls were relied on after something had changed."""

    relied: list[tuple[int, bool, tuple[int, ...]]]

    def begin(
        self,
        row: Sequence[int],
        script: Sequence[int],
        events: list[Event] | None = None,
        root: int = -1,
    ) -> None:
        super().begin(row, script, events, root)
        self.relied = []

    def _rely(self, call: Call, outermost: bool) -> None:
        super()._rely(call, outermost)
        self.relied.append((call.number, outermost, (*self.written, *self.pending)))


class _Noting(Learned):
    """What is learned, noting each path that is added. ``spoiled`` roots are the driver's."""

    view: _View
    notes: list[Note] | None = None

    def __init__(self, layout: Layout, n_roots: int, n_bits: int) -> None:
        super().__init__(layout, n_roots, n_bits)
        self.spoiled: set[int] = set()

    def insert(self, roots: Array, root: int, events: Sequence[Event], leaf: int) -> str | None:
        contradiction = super().insert(roots, root, events, leaf)
        if contradiction is None and self.notes is not None:
            if roots is self.roots:
                blind, relied = tuple(self.view.blind), tuple(self.view.relied)
                self.notes.append((NO_CALL, tuple(events), leaf, blind, relied))
            else:
                self.notes.append((root, tuple(events), leaf, (), ()))
        return contradiction

    def inline(self, root: int, function: object) -> None:
        self.spoiled.add(root)


class Replica(Learner):
    """A learner of its own, for the roots of the search."""

    learned: _Noting

    def __init__(self, model: Model, roots: Roots, view: bool) -> None:
        layout = Layout(model, view=view)
        super().__init__(model, roots, layout)
        self.learned = _Noting(layout, len(roots.all), roots.end_terminal)
        self._view = self.learned.view = _View(self.learned)
        self._odd: Counter[int] = Counter()
        self._values: dict[bytes, Any] = {}
        self._names = Names(self.learned)

    def learn_all(self, lesson: Lesson) -> Told:
        """Explain a lesson's situations; what was not known before."""
        rows = self._rows(lesson)
        telling = Telling(self.learned, self._names)
        walker = _Walker(rows, lesson.pairs, self.learned)
        while walker.busy:
            for position, root, *miss in walker.walk():
                if miss[0] != EDGE:
                    self.learned.project(miss[1], miss[2])
                elif not self._left_alone(root):
                    seconds, doubtful = self._evaluate(root, rows.values[position].tolist())
                    notes, self.learned.notes = self.learned.notes, None
                    if doubtful or notes:
                        telling.add(position, root, seconds, notes or [], doubtful)
        return telling.told()

    def _left_alone(self, root: int) -> bool:
        """Whether a root is the driver's: evaluating it here is in vain."""
        if root in self.learned.spoiled:
            return True
        return self._odd[root] > _MOST_ODD + int(self.evaluations[root])

    def _rows(self, lesson: Lesson) -> Rows:
        """The lesson's rows in ids of this process."""
        layout, slots = self.learned.layout, []
        for path, values in zip(lesson.paths, lesson.values, strict=True):
            slot = layout.slot(path)
            ids = np.zeros(max(values, default=0) + 1, np.int64)
            for id, key in values.items():
                known = slot.ids.get(key)
                if known is None:
                    known = self.learned.value_id(slot, self._value(key))
                ids[id] = known
            slots.append((slot.id, ids))
        n, learned = len(lesson.rows), self.learned
        dtype = np.dtype(np.uint16 if learned.widest <= 1 << 16 else np.uint32)
        rows = Shape(len(layout.slots), dtype, learned.words, False).rows(n)
        rows.values[:] = 0
        for column, (number, ids) in enumerate(slots):
            rows.values[:, number] = ids[lesson.rows[:, column]]
        rows.quiet[:] = np.uint64((1 << 64) - 1)
        return rows

    def _value(self, key: Any) -> Any:
        """The value of a key. Many slots hold the same ones."""
        if type(key) is not bytes:
            return key
        if key not in self._values:
            self._values[key] = value_of(key, self.model.classes)
        return self._values[key]

    def _evaluate(self, root: int, row: list[int]) -> tuple[float, bool]:
        """Run a root as `Learner.evaluate` does; what it took, and whether it contradicts itself.

        The paths are in the notes; none, where anything was out of the ordinary.
        """
        started = time.perf_counter()
        count = int(self.evaluations[root])
        doubtful = False
        notes = self.learned.notes = []
        try:
            self._run(root, row, None)
            if is_repeated(count):
                self.learned.notes = None
                self._run(root, row, None, again=True)
            self.learned.notes = notes
            self.evaluations[root] += 1
        except Contradiction:
            doubtful, self.learned.notes = True, None
        except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
            raise
        except BaseException:  # also what the spec cannot catch; the driver will see for itself
            self._odd[root] += 1
            self.learned.notes = None
        return time.perf_counter() - started, doubtful


class _Walker:
    """Walks a lesson's pairs through what is learned; what misses is to be learned once."""

    def __init__(self, rows: Rows, pairs: Array, learned: Learned) -> None:
        self._rows, self._learned = rows, learned
        n_roots = len(learned.roots)
        self._worker = worker = Worker(1, n_roots, 1, False)
        worker.begin(0, len(rows.values), 0)
        worker.pairs, worker.finished = np.ascontiguousarray(pairs, np.int64), True
        each = np.arange(n_roots)
        # Each root is a group of its own, which is wanted, and whose verdict is forgotten.
        self._groups = np.stack([each, each + 1, np.ones_like(each), np.zeros_like(each)])
        self._room: Array = np.full(n_roots, NO_LINK)
        self._tried: set[tuple[int, ...]] = set()

    @property
    def busy(self) -> bool:
        """Whether something is left to walk."""
        return self._worker.busy

    def walk(self) -> list[list[int]]:
        """Walk what is left: (position, root, kind, operand, value) for what misses.

        Each miss is given once: pairs that miss it still, the next time, are left alone.
        """
        worker, n_roots = self._worker, len(self._learned.roots)
        room, span = self._room, (0, n_roots)
        worker.check(self._rows, self._learned.tries(), self._groups, span, room, room, n_roots)
        left, misses = worker.pairs, worker.take_misses()
        keys = [tuple(miss) for miss in misses[:, 1:].tolist()]
        fresh = np.array([key not in self._tried for key in keys], np.bool_)
        self._tried.update(keys)
        misses = misses[fresh]
        worker.pairs = np.concatenate([left, misses[:, :2]])
        return Search.once(misses)


# -- as a task -----------------------------------------------------------------------------------

_replicas: dict[str, Replica | str] = {}  # of the newest search; a text says why there is none


def attend(school: School, lessons: Sequence[Any], task: int, load: Load) -> bytes:
    """What the task finds out about its lesson, a `Told`."""
    try:
        replica = _replica_of(school, load)
        if isinstance(replica, str):
            told = Told(problem=replica)
        else:
            told = replica.learn_all(pickle.loads(load(lessons[task])))
    except Exception as error:  # in the spec's code, or in data that means nothing here
        told = Told(problem=f"{type(error).__name__}: {error}")
    data = pickle.dumps(told, protocol=5)
    # A worker's memory is walked over after every task; what a replica holds stays as it is.
    gc.collect()
    gc.freeze()
    return data


def _replica_of(school: School, load: Load) -> Replica | str:
    """The replica of this process, made when first asked for; or why it cannot be made."""
    known = _replicas.get(school.token)
    if known is None:
        _replicas.clear()
        try:
            model = unpack_spec(pickle.loads(load(school.spec)))
            roots = make_roots(model, SearchOptions(properties=school.properties))
            known = "another model came of the spec here"
            if identity(model, roots) == school.identity:
                known = Replica(model, roots, school.view)
        except (Exception, SystemExit) as error:
            known = f"the spec cannot be loaded here: {type(error).__name__}: {error}"
        _replicas[school.token] = known
    return known
