"""From a model to an exploration: start or resume a search, run it level by level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np
from numba.core import event

from statewalk.checker.contract.search import Counts, Exploration, SearchOptions, StoppedBy
from statewalk.checker.engines.layout import Layout
from statewalk.checker.machine.locks import Lock, held
from statewalk.checker.machine.watch import CutShort
from statewalk.checker.native import checkpoints, checkpoints_read
from statewalk.checker.native.checkpoints import Saved
from statewalk.checker.native.findings import Stage
from statewalk.checker.native.kernels.arrays import POSITION_SHIFT, Rows, nonzero
from statewalk.checker.native.learn.learning import Learner, make_roots
from statewalk.checker.native.orbits import Orbits
from statewalk.checker.native.profiling import profile_of
from statewalk.checker.native.search import Search
from statewalk.checker.native.states import Level, Seen, Shape
from statewalk.checker.native.steps import StepChecks
from statewalk.checker.native.workers import Worker
from statewalk.checker.symmetry.breaking import Sample
from statewalk.checker.symmetry.group import Symmetry
from statewalk.dsl.model import Model


def start(
    model: Model, options: SearchOptions, saved: Saved | None = None, kind: type[Search] = Search
) -> Search:
    """A search with its initial states found, not yet checked; or the saved one."""
    roots = make_roots(model, options)
    symmetry = Symmetry.asked(model, options)
    layout = Layout(model, options.fingerprint_bits, options.view, symmetry)
    if saved is not None:
        checkpoints_read.restore_layout(saved.values, layout, model)
    learner = Learner(model, roots, layout)
    rows = [layout.row(state) for state in model.initial_states]
    learner.learned.contribute_all()
    learned = learner.learned
    shape = Shape(len(layout.slots), np.dtype(np.uint16), learned.words, learned.wide)
    threads = max(1, options.threads)
    seen = Seen(shape, max(3, (4 * threads - 1).bit_length()))
    n_roots = len(roots.all)
    workers = [
        Worker(1 << seen.partition_bits, n_roots, 1 << 12, learned.wide) for _ in range(threads)
    ]
    helper = Worker(1, n_roots, 1, learned.wide)
    ordinal_bits = POSITION_SHIFT - max(1, len(model.actions) - 1).bit_length()
    search = kind(
        model, options, roots, layout, learner, shape, seen, workers, helper, ordinal_bits
    )
    search.level = _initial(search, rows)
    if symmetry is not None:
        search.orbits = Orbits(layout, Sample(symmetry, options))
    if saved is not None:
        _restore(search, saved)
    if roots.steps:
        search.steps = StepChecks(search)
    if threads > 1:
        search.pool = ThreadPoolExecutor(threads)
    return search


def _initial(search: Search, rows: list[tuple[int, ...]]) -> Level:
    """The distinct initial states as a level that nothing has checked."""
    layout, shape = search.layout, search.shape
    first: dict[int, int] = {}
    for index, row in enumerate(rows):
        first.setdefault(layout.fingerprint(row), index)
    order = sorted(first)
    if search.learner.learned.widest > 1 << 16:
        shape.dtype = np.dtype(np.uint32)
    level = Level(shape.rows(len(order)), np.array([first[fp] for fp in order], np.int64))
    for at, fp in enumerate(order):
        row = rows[first[fp]]
        level.rows.values[at] = 0
        level.rows.values[at, : len(row)] = row
        level.rows.fp[at] = fp >> 64 if shape.wide else fp
        if shape.wide:
            level.rows.low[at] = fp & ((1 << 64) - 1)
    level.rows.quiet[:] = np.uint64((1 << 64) - 1)
    return level


def _restore(search: Search, saved: Saved) -> None:
    """Bring a search to where the saved one was."""
    totals = saved.totals
    for fps, lows, link in saved.levels:
        search.links.append(link)
        part = Level(Rows(link, fps, lows, link), link)
        for partition, own, own_low in search.seen.split(part, np.ones(len(fps), np.bool_)):
            partition.enter(own, own_low)
    fps, lows, link = saved.levels[-1]
    quiet = np.full((len(fps), search.shape.words), np.uint64((1 << 64) - 1))
    search.level = Level(Rows(saved.rows, fps, lows, quiet), link)
    search.shape.width = max(search.shape.width, saved.rows.shape[1])
    search.shape.dtype = saved.rows.dtype
    search.initial, search.earlier = totals.initial, totals.seconds
    search.fired[:], search.fresh[:] = totals.fired, totals.fresh
    search.cut = Counter(totals.cut)
    if search.orbits is not None:
        search.orbits.represented = totals.represented
    search.found = checkpoints_read.findings_of(totals)
    search.queue = search.level.n


def explore(model: Model, options: SearchOptions) -> Exploration:
    """Breadth-first search by levels; see `checker.contract.search` for the contract.

    Raises:  RunError[SW340], RunError[SW341], RunError[SW343] where there is nothing to resume;
    RunError[SW345] where another process writes to the same folder
    """
    with _telling(getattr(options.on_progress, "compiling", None)):
        if options.checkpoint is None:
            return _explore(model, options, None)
        with held(options.checkpoint) as lock:
            return _explore(model, options, lock)


class _Compiling(event.Listener):
    """Told by numba when it compiles what it could not load."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self.tell = tell

    def on_start(self, event: object) -> None:
        self.tell()

    def on_end(self, event: object) -> None:
        pass


def _telling(tell: Callable[[], None] | None) -> AbstractContextManager[object]:
    """While it lasts, say when kernels are compiled."""
    if tell is None:
        return nullcontext()
    found: AbstractContextManager[object] = event.install_listener(
        "numba:compile", _Compiling(tell)
    )
    return found


def _explore(model: Model, options: SearchOptions, lock: Lock | None) -> Exploration:
    saved = None
    key = checkpoints.identity(model, options)
    if options.checkpoint and options.resume:
        saved = checkpoints_read.read(Path(options.checkpoint), key, len(model.actions))
    search = start(model, options, saved)
    if options.checkpoint and lock is not None:
        search.writer = checkpoints.writer(
            options.checkpoint, key, saved, search.layout, options.checkpoint_every, lock
        )
    search.learner.urgent = search.urgent
    try:
        stopped = run_levels(search, resumed=saved is not None)
    finally:
        if search.pool is not None:
            search.pool.shutdown()
    return _result(search, stopped)


def run_levels(search: Search, resumed: bool) -> StoppedBy | None:
    """Run a search that was started to its end; why it ended, if not by itself."""
    try:
        return _run_levels(search, resumed)
    except CutShort as cut:
        search.running = cut.place
        return cut.reason


def _run_levels(search: Search, resumed: bool) -> StoppedBy | None:
    violated = False if resumed else _check_initial(search)
    search.tell(search.queue, at_once=True)
    while search.level.n:
        stopped = search.stop(violated)
        if stopped in ("error", "violation"):
            return stopped  # not saved: a resumed search finds it again
        totals = search.save(final=stopped is not None)
        if stopped:
            return stopped
        if search.orbits is not None:
            search.orbits.look(len(search.links) - 1, search.level.rows)
        stage = Stage(search)
        stopped = _expand(search, stage)
        if stopped and search.writer and totals:
            search.writer.save(search, totals)
        rest = search.queue if stopped else 0
        search.advance(stage)
        search.queue += rest
        violated = stage.violated
        search.tell(search.queue, at_once=True)
        if stopped:
            return stopped
    return None


def _expand(search: Search, stage: Stage) -> StoppedBy | None:
    """Expand the level; a step that had to be ended ends that as time running out does."""
    try:
        return search.expand(stage)
    except CutShort as cut:
        search.running = cut.place
        return cut.reason


def _check_initial(search: Search) -> bool:
    """Stage 0: check the initial states; whether one of them violates something."""
    stage = Stage(search)
    level = search.level
    try:
        keep = search.check(level, stage)
    except CutShort:
        stage.close(level.rows.fp, level.rows.low)
        raise
    stage.close(level.rows.fp, level.rows.low)
    search.level = level.kept(keep) if not keep.all() else level
    search.initial = search.queue = search.level.n
    if search.orbits is not None:
        search.orbits.measure(search.level.rows, search.learner.learned.outcomes())
    if search.initial:
        search.links.append(search.level.link)
        search.save_level()
        everything = np.ones(search.initial, np.bool_)
        for partition, fps, lows in search.seen.split(search.level, everything):
            partition.enter(fps, lows)
    return stage.violated


def _result(search: Search, stopped: StoppedBy | None) -> Exploration:
    found = search.found.values()
    return Exploration(
        engine="native",
        counts=Counts(search.initial, search.distinct, search.generated, len(search.links)),
        levels=tuple(map(len, search.links)),
        findings=tuple(f for f in found if f.kind != "exists"),
        witnesses=tuple(f for f in found if f.kind == "exists"),
        fired=nonzero(search.fired),
        fresh=nonzero(search.fresh),
        complete=stopped is None,
        stopped=stopped,
        seconds=search.seconds,
        queue=search.queue,
        cut={name: times for name, times in search.cut.items() if times},
        statistics=_statistics(search),
        warnings=checkpoints.told(search.writer)[1],
        running=search.running,
    )


def _statistics(search: Search) -> dict[str, object]:
    learned = search.learner.learned
    evaluations = int(search.learner.evaluations.sum())
    walks = int(search.walks.sum())
    links = sum(link.nbytes for link in search.links)
    return {
        "slots": len(search.layout.slots),
        "evaluations": evaluations,
        "walks": walks,
        "hit_rate": 1 - evaluations / walks if walks else 0.0,
        "learning_seconds": search.learner.seconds,
        "nodes": learned.nodes.used,
        "edges": learned.n_edges,
        "outcomes": learned.delta.used,
        "seen_bytes": search.seen.bytes + links,
        "profile": profile_of(search),
        **({} if search.orbits is None else {"represented": search.orbits.represented}),
        **({} if search.writer is None else {"checkpoint": search.writer.saved_at}),
        "bytes_per_state": (search.seen.bytes + links) / max(1, search.distinct),
    }
