"""Collects the state graph with the native engine: the same search, which also keeps its steps.

Steps that change nothing are kept too. A step counts when the state it leads to does: what a
constraint refuses is no row. Each batch's steps are handed on as soon as it is known where they
lead, in the order of (state, action, choices), so that a graph is never held whole.

Slow twin: tests/checker/graph/explicit.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.contract.stops import (
    StoppedBy,
    counted_bounds,
    stop_of,
    whole_levels,
)
from statewalk.checker.engines.layout import Layout
from statewalk.checker.native.kernels.arrays import POSITION_SHIFT
from statewalk.checker.native.kernels.numbering import arrange, count
from statewalk.checker.native.learn.tracing import TracingView
from statewalk.checker.native.running import loop_of, run, start
from statewalk.checker.native.search import transitions_of
from statewalk.checker.native.state import NativeSearch
from statewalk.checker.native.workers import Worker
from statewalk.checker.states.content import choice_shown, choice_text, short_names
from statewalk.checker.states.shortening import text_of
from statewalk.dsl.declared import Fairness
from statewalk.dsl.errors import RunError
from statewalk.dsl.model import Model
from statewalk.dsl.values.stored import freeze

if TYPE_CHECKING:
    from collections.abc import Iterable

    from statewalk.checker.native.learn.learned import Learned


_MASK = (1 << POSITION_SHIFT) - 1
_MANY = 64  # steps of a state that are put in order otherwise
_PARTITIONS, _ROOM = 1 << 8, 1 << 24  # more are not put in order by `arrange`


class Steps(NamedTuple):
    """Some transitions: fingerprints of both ends, action index, number of the choices' text."""

    source: Words
    target: Words
    action: NDArray[np.int32]
    choices: NDArray[np.int32]


@dataclass
class Collector:
    """Hands on the states and steps that a search finds.

    A step waits until it is known whether a constraint refuses the state it leads to.
    """

    search: NativeSearch
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
        """Return a worker's candidates in order: sources, targets, actions, outcomes."""
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
            depth, rows = len(self.search.links) - 1, level.rows
            self.on_states(States(depth, rows.values, rows.fp, parent, action))
        for steps in self.waiting:
            kept = self.search.seen.has(steps.target, np.zeros(0, np.uint64))
            source, target, action, choices = steps
            self.on_steps(Steps(source[kept], target[kept], action[kept], choices[kept]))
        self.waiting = []

    def action(self, link: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the action of each link."""
        return ((link & _MASK) >> self.search.ordinal_bits).astype(np.int32)


@dataclass(frozen=True)
class Collected:
    """The facts known after a graph was collected; ``generated`` as in the engine contract."""

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
    plain = replace(model, properties=(), terminal=(), check_deadlock=False)
    limits = replace(
        options, properties=(), keep_going=True, view=False, symmetry=False,
        checkpoint=None, resume=False, timeout=None,
    )  # fmt: skip
    search = start(plain, limits.unbounded(options.max_depth), view=NamingView)
    stopped = run(loop_of(search, sink=Collector(search, on_states, on_steps, names)))
    if stopped is not None and not whole_levels(stopped):
        raise stopped_inside(stopped)
    return collected_by(search, whole=stopped is None)


def collected_by(search: NativeSearch, whole: bool) -> Collected:
    """Return what is known after a search that ended between levels; ``whole`` where nothing is
    left.
    """
    depth = len(search.links)
    return Collected(
        search.layout, search.initial, search.distinct, search.generated, depth,
        depth - (not whole),
    )  # fmt: skip


def stopped_inside(why: StoppedBy) -> RunError:
    """Return the error of a graph that cannot be written whole."""
    bounds = " or ".join(f"--{name.replace('_', '-')}" for name in counted_bounds(SearchOptions()))
    return RunError(
        "SW354",
        f"No state graph was written: the search was ended inside a level ({stop_of(why).inside}).",
        why="A graph has every step of the states it says are expanded.",
        help=f"Bound the search between levels instead: {bounds}.",
    )


Words = NDArray[np.uint64]
Ints = NDArray[np.int32]
CHUNK = 1 << 17


class States(NamedTuple):
    """Some states of one level. At level 0 ``parent`` means nothing and ``action`` is -1."""

    depth: int
    values: NDArray[Any]  # (n, slots) value ids
    fp: Words  # (n,)
    parent: Words  # (n,)
    action: Ints  # (n,) action index


@dataclass
class Aside:
    """A file of states, written in one go and read in another."""

    file: Path
    parts: list[tuple[int, int, int, Any, int]] = field(default_factory=list)
    """(depth, states, slots, type of ids, where in the file) of each part"""
    stream: IO[bytes] | None = None

    def add(self, states: States) -> None:
        """Set states of one level aside."""
        if self.stream is None:
            self.stream = open(self.file, "w+b")  # noqa: SIM115 (closed by `close`)
        n, width = states.values.shape
        at = self.stream.tell()
        self.parts.append((states.depth, n, width, states.values.dtype, at))
        for array in states[1:]:
            self.stream.write(np.ascontiguousarray(array).data)

    def read(self, slots: int) -> Iterator[States]:
        """Yield the states again, in parts of at most `CHUNK`, their rows widened to ``slots``."""
        for depth, n, width, kind, at in self.parts:
            offset = at
            arrays: list[NDArray[Any]] = []
            shapes = [((n, width), kind), ((n,), np.uint64), ((n,), np.uint64), ((n,), np.int32)]
            for shape, dtype in shapes:
                assert self.stream is not None
                array = np.memmap(self.stream, dtype, "r", offset, shape)
                arrays.append(array)
                offset += array.nbytes
            for first in range(0, n, CHUNK):
                part = slice(first, min(n, first + CHUNK))
                values = np.zeros((part.stop - part.start, slots), kind)
                values[:, :width] = arrays[0][part]
                yield States(depth, values, *(np.array(a[part]) for a in arrays[1:]))

    def close(self) -> None:
        """Close the file and remove it."""
        if self.stream is not None:
            self.stream.close()
        self.file.unlink(missing_ok=True)


class Chosen(NamedTuple):
    """A choice as a trace shows it."""

    text: str


class NamingView(TracingView):
    """A tracing view that also notes what was chosen, and under which name."""

    def __init__(self, learned: Learned, model: Model) -> None:
        super().__init__(learned)
        self._sources = model.sources
        self._model = model

    def choose(self, options: Sequence[Any], fair: Fairness = "none") -> Any:
        """As in `TracingView`; the chosen option is noted as a trace's `Choice` shows it."""
        chosen = super().choose(options, fair)
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename not in self._sources:
            frame = frame.f_back
        name = self._model.choice_names.get((frame.f_code.co_filename, frame.f_lineno), "")
        value, name = choice_shown(self._model, freeze(chosen), name)
        text = choice_text(name, text_of(value))
        self.fair.append(Chosen(text))  # type: ignore[arg-type]
        return chosen


class Labels:
    """The columns of steps: action, actor, arguments by action index; choices by number."""

    def __init__(self, model: Model) -> None:
        names = short_names(model)
        self.action = [a.name for a in model.actions]
        self.actor = [_actor(a.actor, names) for a in model.actions]
        self.arguments = [
            ", ".join(f"{n}={text_of(v)}" for n, v in a.arguments) or None for a in model.actions
        ]
        self.choices: dict[str | None, int] = {None: 0}
        self._of: NDArray[np.int32] = np.zeros(0, np.int32)

    def choices_of(
        self, outcomes: NDArray[np.int32], known: Mapping[int, tuple[Any, ...]], learned: int
    ) -> NDArray[np.int32]:
        """Return the number in ``choices`` of each outcome; ``learned`` outcomes are known by
        now.
        """
        done = len(self._of)
        if done < learned:
            texts = (choices_text(known.get(o, ())) for o in range(done, learned))
            new = [self.choices.setdefault(text, len(self.choices)) for text in texts]
            self._of = np.concatenate([self._of, np.array(new, np.int32)])
        result: NDArray[np.int32] = self._of[outcomes]
        return result


def choices_text(chosen: Iterable[Any]) -> str | None:
    """Return the choices of a step as one text; None where there was none."""
    texts = [c.text for c in chosen if type(c) is Chosen]
    return ", ".join(texts) or None


def _actor(actor: Any, names: Mapping[str, str]) -> str | None:
    if actor is None:
        return None
    shown = repr(actor)
    return names.get(shown.partition("#")[0], shown) or None
