"""From a model to an exploration: start or resume a search, run it level by level."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numba.core import event

from statewalk.checker.contract.search import Exploration, SearchOptions, parted
from statewalk.checker.contract.stops import StoppedBy
from statewalk.checker.engines.layout import Layout
from statewalk.checker.machine.locks import Lock, held
from statewalk.checker.machine.watch import CutShort, interruptible
from statewalk.checker.native import checkpoints, checkpoints_read
from statewalk.checker.native.checkpoints import Manifest, Saved, Writer
from statewalk.checker.native.checks import Check, check_states
from statewalk.checker.native.fields import fields_of
from statewalk.checker.native.findings import Stage
from statewalk.checker.native.kernels.arrays import POSITION_SHIFT, Rows, nonzero
from statewalk.checker.native.learn.learned import Learned
from statewalk.checker.native.learn.learning import Learner, make_roots, no_reason
from statewalk.checker.native.learn.tracing import TracingView
from statewalk.checker.native.manifests import of_another_version
from statewalk.checker.native.orbits import orbits_of
from statewalk.checker.native.profiling import profile_of
from statewalk.checker.native.programs.operations import GaveUp
from statewalk.checker.native.programs.programs import Programs
from statewalk.checker.native.search import Elsewhere, Loop, Sink
from statewalk.checker.native.state import NativeSearch
from statewalk.checker.native.states import Level, Seen, Shape, ids_type
from statewalk.checker.native.steps import StepChecks
from statewalk.checker.native.workers import Workers
from statewalk.checker.symmetry.group import Symmetry
from statewalk.dsl.model import Model


def start(
    model: Model, options: SearchOptions, saved: Saved | None = None,
    view: Callable[[Learned, Model], TracingView] | None = None,
    laid_out: Manifest | None = None,
) -> NativeSearch:  # fmt: skip
    """Return a search with its initial states found, not yet checked; or the saved one.

    ``view`` as for a `Learner`; ``laid_out`` is what a search says that is taken up later.

    Raises:  RunError[SW341] where the saved search was laid out in another way
    """
    laid_out = saved.manifest if saved is not None else laid_out
    programs = None if view is not None else programs_of(model, options, laid_out)
    exploded = set() if programs is None else programs.exploded
    if laid_out is not None and exploded != set(laid_out.exploded):
        raise of_another_version(options.checkpoint)
    apart = bool(exploded)
    roots = make_roots(model, options, whole=apart)
    symmetry = Symmetry.asked(model, options)
    layout = Layout(model, options.fingerprint_bits, options.view, symmetry)
    layout.explode(exploded)
    if saved is not None:
        checkpoints_read.restore_layout(saved.values, layout, model, saved.rows)
    learner = Learner(model, roots, layout, view, rule=options.resets)
    rows = [layout.row(state) for state in model.initial_states]
    learner.learned.contribute_all()
    if learner.resets is not None:
        rows = [learner.resets.first(row) for row in rows]
    if programs is not None:
        programs.attach(learner.learned, roots.all)
        learner.programs = programs
    learned = learner.learned
    kind = ids_type(learned.widest)
    shape = Shape(len(layout.slots), kind, learned.words, learned.wide)
    threads = max(1, options.threads)
    seen = Seen(shape, max(3, (8 * threads - 1).bit_length()))
    workers = Workers(threads, 1 << seen.partition_bits, len(roots.all), learner)
    ordinal_bits = POSITION_SHIFT - max(1, len(model.actions) - 1).bit_length()
    level = _initial(layout, shape, rows)
    search = NativeSearch(
        model, options, roots, layout, learner, shape, seen, workers, ordinal_bits, level
    )
    if saved is not None:
        _restore(search, saved)
    return search


def programs_of(model: Model, options: SearchOptions, laid_out: Manifest | None) -> Programs | None:
    """Return the programs of a search; sets have one slot where they had in a saved one. None where
    it has none.
    """
    if model.tree is None or options.programs == "none" or options.resets is not None:
        return None
    if laid_out is not None and not laid_out.exploded:
        options = replace(options, programs="whole")
    return Programs(model, options)


T = TypeVar("T")


def translating(options: SearchOptions, search: Callable[[SearchOptions], T]) -> T:
    """Run a search, and again without the programs that turn out not to do what the spec does.

    Where it was to be resumed it begins anew then: states are laid out in another way.
    """
    while True:
        try:
            return search(options)
        except GaveUp as why:
            programs = options.programs
            if not why.function or why.function in options.without:
                programs = "none"  # whose it is, is not known
            options = replace(
                options, programs=programs, without=options.without | {why.function}, resume=False
            )


def loop_of(
    search: NativeSearch, writer: Writer | None = None, sink: Sink | None = None,
    check: Check = check_states, elsewhere: Elsewhere | None = None,
) -> Loop:  # fmt: skip
    """Return the loop of a search that was started, with what its model and options ask for."""
    return Loop(
        search,
        check=check,
        steps=StepChecks(search) if search.roots.steps else None,
        orbits=orbits_of(search),
        fields=fields_of(search),
        writer=writer,
        sink=sink,
        elsewhere=elsewhere,
    )


def _initial(layout: Layout, shape: Shape, rows: list[tuple[int, ...]]) -> Level:
    """Return the distinct initial states as a level that nothing has checked."""
    first: dict[int, int] = {}
    for index, row in enumerate(rows):
        first.setdefault(layout.fingerprint(row), index)
    order = sorted(first)
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


def _restore(search: NativeSearch, saved: Saved) -> None:
    """Bring a search to where the saved one was."""
    for fps, lows, link in saved.levels:
        search.complete(link)
        search.seen.enter(fps, lows)
    fps, lows, link = saved.levels[-1]
    quiet = np.full((len(fps), search.shape.words), np.uint64((1 << 64) - 1))
    search.level = Level(Rows(saved.rows, fps, lows, quiet), link)
    search.shape.width = max(search.shape.width, saved.rows.shape[1])
    search.shape.dtype = saved.rows.dtype
    checkpoints_read.take_up(search, saved.manifest.totals)
    search.queue = search.level.n


def explore(
    model: Model, options: SearchOptions, sink: Callable[[NativeSearch], Sink] | None = None,
    view: Callable[[Learned, Model], TracingView] | None = None, check: Check = check_states,
) -> Exploration:  # fmt: skip
    """Breadth-first search by levels; see `checker.contract.search` for the contract.

    What ``sink`` makes of the search is told of its transitions; ``view`` as for a `Learner`,
    ``check`` as in a `Loop`.

    Raises:  RunError[SW340], RunError[SW341], RunError[SW343] where there is nothing to resume;
    RunError[SW345] where another process writes to the same folder
    """
    with telling(getattr(options.on_progress, "compiling", None)):
        if options.checkpoint is None:
            return translating(options, lambda o: _explore(model, o, None, sink, view, check))
        with held(options.checkpoint) as lock:
            return translating(options, lambda o: _explore(model, o, lock, sink, view, check))


class _Compiling(event.Listener):
    """Told by numba when it compiles what it could not load."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self.tell = tell

    def on_start(self, event: object) -> None:
        self.tell()

    def on_end(self, event: object) -> None:
        pass


def telling(tell: Callable[[], None] | None) -> AbstractContextManager[object]:
    """While it lasts, say when kernels are compiled."""
    if tell is None:
        return nullcontext()
    found: AbstractContextManager[object] = event.install_listener(
        "numba:compile", _Compiling(tell)
    )
    return found


def _explore(
    model: Model, options: SearchOptions, lock: Lock | None,
    sink: Callable[[NativeSearch], Sink] | None,
    view: Callable[[Learned, Model], TracingView] | None, check: Check,
) -> Exploration:  # fmt: skip
    saved = None
    key = checkpoints.identity(model, options)
    if options.checkpoint and options.resume:
        with interruptible("reading what was saved"):
            saved = checkpoints_read.read(Path(options.checkpoint), key, model)
    search = start(model, options, saved, view)
    writer: Writer | None = None
    if options.checkpoint and lock is not None:
        writer = checkpoints.writer(
            options.checkpoint, key, saved, search.layout, options.checkpoint_every, lock
        )
    search.learner.urgent = search.urgent
    loop = loop_of(search, writer, sink(search) if sink is not None else None, check)
    return exploration_of(loop, run(loop, resumed=saved is not None))


def run(loop: Loop, resumed: bool = False) -> StoppedBy | None:
    """Run a search that was started to its end; why it ended, if not by itself."""
    try:
        return _run_levels(loop, resumed)
    except CutShort as cut:
        loop.search.running = cut.place
        return cut.reason
    finally:
        loop.search.workers.close()
        loop.search.learner.urgent = (
            no_reason  # or its arrays would wait for the collector of cycles
        )


def _run_levels(loop: Loop, resumed: bool) -> StoppedBy | None:
    search = loop.search
    violated = False if resumed else loop.begin()
    loop.tell(search.queue, at_once=True)
    while loop.n:
        stopped = loop.stop(violated)
        if stopped in ("error", "violation"):
            return stopped  # not saved: a resumed search finds it again
        totals = loop.save(final=stopped is not None)
        if stopped:
            return stopped
        if loop.orbits is not None:
            loop.orbits.look(len(search.links) - 1, search.level.rows.values)
        stage = Stage(search)
        stopped = _expand(loop, stage)
        if stopped and loop.writer and totals:
            loop.writer.save(search, totals)
        rest = search.queue if stopped else 0
        ended = loop.advance(stage)
        if ended and loop.writer and totals:
            loop.writer.save(search, totals)
        stopped = stopped or ended
        search.queue += rest
        violated = stage.violated
        loop.tell(search.queue, at_once=True)
        if stopped:
            return stopped
    return None


def _expand(loop: Loop, stage: Stage) -> StoppedBy | None:
    """Expand the level; a step that had to be ended ends that as time running out does."""
    try:
        return loop.expand(stage)
    except CutShort as cut:
        loop.search.running = cut.place
        return cut.reason


def exploration_of(loop: Loop, stopped: StoppedBy | None) -> Exploration:
    """Return what came of a search. Raises SpecError[SW102], see `Model.look_outside`."""
    search = loop.search
    search.model.look_outside()
    violations, witnesses = parted(search.found.values())
    return Exploration(
        engine="native",
        counts=search.counts,
        levels=tuple(search.sizes),
        findings=violations,
        witnesses=witnesses,
        fired=nonzero(search.fired),
        fresh=nonzero(search.fresh),
        complete=stopped is None,
        stopped=stopped,
        seconds=search.seconds,
        queue=search.queue,
        cut={name: times for name, times in search.cut.items() if times},
        statistics=_statistics(loop),
        warnings=checkpoints.told(loop.writer)[1],
        running=search.running,
        fields=() if loop.fields is None else loop.fields.sizes(),
    )


def _statistics(loop: Loop) -> dict[str, object]:
    search = loop.search
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
        **({} if loop.orbits is None else {"represented": search.represented}),
        **({} if loop.writer is None else {"checkpoint": loop.writer.saved_at}),
        "bytes_per_state": (search.seen.bytes + links) / max(1, search.distinct),
    }
