"""Checking from Python: `check`, `load` and `replay`, for scripts, tests and notebooks.

>>> from statewalk import check
>>> check("toys/die_hard", engine="reference").verdict
'violated'
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.contract import rescue
from statewalk.checker.contract.late import named
from statewalk.checker.contract.options import CheckOptions, options_of
from statewalk.checker.contract.search import (
    ASSERTION,
    DEADLOCK,
    NO_ERROR,
    Counts,
    Engine,
    Exploration,
    Finding,
    Progress,
    SearchOptions,
)
from statewalk.checker.contract.stops import COUNTED, StoppedBy, ended_by
from statewalk.checker.engines.hidden import HiddenRead
from statewalk.checker.engines.table import EngineEntry, choose
from statewalk.checker.library import no_spec, spec_path
from statewalk.checker.liveness.in_a_check import check_liveness, keeping, not_decided, refuse
from statewalk.checker.machine import supervisor
from statewalk.checker.machine.limits import MemoryGuard, within
from statewalk.checker.machine.locks import held
from statewalk.checker.machine.places import Place
from statewalk.checker.machine.watch import CutShort, Watchdog
from statewalk.checker.refinement.asked import Refinements, keeps_graph, wanted
from statewalk.checker.verdict import judge
from statewalk.checker.verdict.evidence import Evidence, Notice
from statewalk.checker.verdict.expected import expectation
from statewalk.checker.verdict.result import Result, RunVerdict
from statewalk.checker.verdict.run import Run
from statewalk.checker.verdict.vacuity import watching
from statewalk.dsl.declared import Expectation
from statewalk.dsl.errors import RunError, did_you_mean
from statewalk.dsl.loader import constant_types, read_spec
from statewalk.dsl.loader import load as load_spec
from statewalk.dsl.model import Model
from statewalk.dsl.mutants import run_spec
from statewalk.dsl.view import Endless

if TYPE_CHECKING:
    from statewalk.checker.graph.write import Written
    from statewalk.checker.liveness.graph import StateGraph
    from statewalk.checker.symmetry.families import Families
    from statewalk.dsl.source.modules import Loading

Watch = Callable[[Progress], None]
LOADING = "loading the spec"


def load(
    spec: str | Path,
    constants: Mapping[str, Any] | None = None,
    *,
    config: str | None = None,
    optimize: bool = True,
    listed: bool = False,
) -> Model:
    """The model of a spec file (.py or .fizz), or of the library by name, with its constants fixed.
    ``listed``: expressions beside the spec may list its fields; results are equal.

    Raises:  RunError for a file that cannot be read; SpecError for mistakes in the spec.
    """
    path = spec_path(str(spec))
    if not Path(path).exists():
        raise no_spec(path)
    return load_spec(path, constants, config=config, optimize=optimize, listed=listed)


def check(
    spec: str | Path | Model,
    constants: Mapping[str, Any] | None = None,
    *,
    out: str | Path | None = None,
    on_progress: Watch | None = None,
    interrupted: Callable[[], bool] = lambda: False,
    **options: Any,
) -> Run:
    """Check a spec: every property, in every state that can be reached.

    ``constants`` override the spec's defaults; further keywords are the fields of `CheckOptions`.
    With ``out`` the result and its traces are also written to that folder.

    Raises:  RunError, SpecError for what keeps the search from starting. An exception inside the
    spec does not raise: the verdict is "error".
    """
    from statewalk.checker.report.runs import forget, new_folder

    asked = options_of(options)
    forget(out)
    if isinstance(spec, Model):
        _refuse_late(spec, constants, asked)
    try:
        model = spec if isinstance(spec, Model) else load_within(spec, constants or {}, asked)
    except CutShort as cut:
        return not_loaded(str(spec), constants or {}, asked, cut.reason, cut.place)
    if out is None:
        return search(model, asked, on_progress=on_progress, interrupted=interrupted)
    folder = new_folder(out)
    with held(out):
        run = search(model, asked, on_progress=on_progress, interrupted=interrupted)
        return folder.keep(run)


def _refuse_late(model: Model, constants: Mapping[str, Any] | None, asked: CheckOptions) -> None:
    """Raises RunError[SW326], [SW305] for what a model that is loaded takes no notice of."""
    late = {"constants": bool(constants), "optimize": not asked.optimize}
    for name, given in late.items():
        if given:
            said = f"{name} does nothing here: the model is loaded."
            raise RunError("SW326", said, help=f"Say it to load(..., {name}=...).")
    known = [c.name for c in model.configurations]
    if asked.config is not None and asked.config not in known:
        raise RunError(
            "SW305",
            f"There is no configuration {asked.config}. {did_you_mean(asked.config, known)}",
        )


def load_within(
    spec: str | Path, constants: Mapping[str, Any], options: CheckOptions | None = None
) -> Model:
    """The model of a spec file, within the limits of a check. Raises CutShort at one of them."""
    asked = options or CheckOptions()
    with within(spec_path(str(spec)), LOADING, asked.timeout, asked.max_memory):
        return load(spec, constants, config=asked.config, optimize=asked.optimize)


def declared_within(spec: str | Path, options: CheckOptions | None = None) -> Loading:
    """A spec's modules after they ran with the defaults: what they declare, in a tenth of the time
    that its Model takes; within the limits of a check.
    """
    asked = options or CheckOptions()
    path = spec_path(str(spec))
    with within(path, LOADING, asked.timeout, asked.max_memory):
        return run_spec(read_spec(path), {})


def types_within(spec: str, options: CheckOptions) -> dict[str, Any]:
    """The types of a spec's constants, within the limits of a check."""
    with within(spec, LOADING, options.timeout, options.max_memory):
        return constant_types(spec)


def not_loaded(
    spec: str,
    constants: Mapping[str, Any],
    options: CheckOptions,
    stopped: StoppedBy,
    running: Place | None,
) -> Run:
    """The run of a check whose spec did not get loaded within the limits."""
    text = ended_by(options, stopped, running)
    notice = Notice("bounded", "", f"bounded: {text}")
    evidence = Evidence(options=options, stopped=stopped, bounds=(text,), warnings=(notice,))
    return not_begun(spec, constants, "bounded", evidence)


def not_begun(
    spec: str, constants: Mapping[str, Any], verdict: RunVerdict, evidence: Evidence
) -> Run:
    """The run of a check that did not get to its search, for what the evidence warns of."""
    result = Result(
        spec=spec,
        constants={name: str(value) for name, value in constants.items()},
        engine=evidence.options.engine,
        verdict=verdict,
        warnings=tuple(notice.text for notice in evidence.warnings),
    )
    return Run(result, evidence, {}, report_of)


def report_of(run: Run) -> str:
    """The report of a run, as it is printed."""
    from statewalk.checker.report.check import report

    return report(run).plain()


def search(
    model: Model,
    options: CheckOptions,
    *,
    on_progress: Watch | None = None,
    interrupted: Callable[[], bool] = lambda: False,
    scratch: str | None = None,
) -> Run:
    """Check a model that is loaded; ``scratch`` as in `SearchOptions`."""
    judge.check_names(model, options.properties)
    asked = replace(search_options(model, options, on_progress, interrupted), scratch=scratch)
    refuse(model, options, asked)
    entry, engine = choose(options.engine, model, asked)
    if options.graph is not None:
        refuse_graph = named("statewalk.checker.graph.during", "refuse_graph")  # needs an extra
        refuse_graph(options.graph, asked, entry.name)
    with held(options.graph, graph=True):
        return _searched(model, options, asked, entry, engine)


def _searched(
    model: Model, options: CheckOptions, asked: SearchOptions, entry: EngineEntry, engine: Engine
) -> Run:
    from statewalk.checker.verdict.conclude import conclude

    interrupted = asked.interrupted
    guard = MemoryGuard(options.max_memory or 0, interrupted)
    if options.max_memory is not None and not entry.memory:
        asked = replace(asked, interrupted=guard)
    started = time.monotonic()
    with Watchdog(options.timeout, options.max_memory) as watch, ExitStack() as stack:
        graph = None
        if options.graph is not None and supervisor.rescue is None:
            from statewalk.checker.graph.during import on_the_way

            graph = on_the_way(options.graph, model, asked, entry.name, stack)
        found = _explored(model, options, asked, entry, engine, graph)
        watch.concluding()
        if guard.passed and found.exploration.stopped == "interrupt":
            found = replace(found, exploration=replace(found.exploration, stopped="memory"))
        asked = replace(asked, checkpoint=None, resume=False)  # further searches are not saved
        checked = _checked(model, options, asked, engine, found)
        try:
            return conclude(checked, entry, time.monotonic() - started, report_of)
        except CutShort as cut:
            checked = replace(checked, exploration=cut_short(checked.exploration, cut), brief=True)
            return conclude(checked, entry, time.monotonic() - started, report_of)


@dataclass(frozen=True)
class _Found:
    """What a search found; ``vacuous`` are properties that held for want of a case. ``states`` is
    the graph that was kept on the way, ``graph`` the one that was written.
    """

    exploration: Exploration
    vacuous: frozenset[str] = frozenset()
    states: StateGraph | None = None
    graph: Written | None = None


def _explored(
    model: Model,
    options: CheckOptions,
    asked: SearchOptions,
    entry: EngineEntry,
    engine: Engine,
    graph: Written | None = None,
) -> _Found:
    families = _families(model, asked)
    if supervisor.rescue is not None:
        found = rescue.exploration(supervisor.rescue, entry.name)
        return _Found(families.spread(found, asked) if families else found)
    try:
        rows = graph is None and keeps_graph(model, options, asked)
        if graph is None:
            find = keeping(engine, entry.name, model, options, asked, rows=rows).explore
        else:
            find = partial(named("statewalk.checker.graph.during", "explored"), graph=graph)
        wide = families.widened(asked) if families else asked
        work, exploration = watching(model, wide, find)
        states = exploration.kept if rows else None
    except (Endless, HiddenRead) as said:
        raise said.error from None
    except CutShort as cut:
        nothing = Exploration(
            entry.name, Counts(0, 0, 0, 0), (), (), (), {}, {}, False, cut.reason, 0.0
        )
        return _Found(cut_short(nothing, cut))
    found = work.without(exploration)
    found = families.spread(found, asked) if families else found
    return _Found(found, work.vacuous(exploration), states, graph)


def _families(model: Model, asked: SearchOptions) -> Families | None:
    if not asked.symmetry:
        return None
    from statewalk.checker.symmetry.families import Families

    return Families.asked(model, asked)


def cut_short(exploration: Exploration, cut: CutShort) -> Exploration:
    """What was found when something the spec ran had to be ended."""
    return replace(exploration, stopped=exploration.stopped or cut.reason, running=cut.place)


def _checked(
    model: Model,
    options: CheckOptions,
    asked: SearchOptions,
    engine: Engine,
    search: _Found,
) -> judge.Checked:
    """A search with what is looked for after it: the graph, liveness."""
    exploration = search.exploration
    graph, warnings = None, exploration.warnings
    unfinished = False
    try:
        if supervisor.rescue is not None:
            raise CutShort("interrupt", rescue.place(supervisor.rescue))
        if options.fizzbee_counts:
            from statewalk.checker.engines.fizzbee import unique_states

            unique = unique_states(model, asked, engine)
            statistics = {**exploration.statistics, "fizzbee_unique": unique}
            exploration = replace(exploration, statistics=statistics)
        if options.graph is not None:
            from statewalk.checker.graph.during import graph_of

            graph = graph_of(options.graph, model, asked, exploration, search.graph)
            if graph.unwritable and graph.problem is not None:
                warnings = (*warnings, graph.problem.one_line)
        live = check_liveness(model, options, asked, exploration)
        refined = Refinements()
        if wanted(model, asked):
            from statewalk.checker.refinement.in_a_check import check_refinements

            refined = check_refinements(model, options, asked, exploration, search.states)
        model.look_outside()
    except CutShort as cut:
        exploration, unfinished = cut_short(exploration, cut), True
        live = not_decided(model, asked, cut.reason)
        refined = Refinements()
    found = _by_property(exploration)
    return judge.Checked(
        model,
        options,
        exploration,
        findings={**found, **live.findings, **refined.findings},
        unchecked={**live.unchecked, **refined.unchecked},
        vacuous=live.vacuous | search.vacuous,
        loops={**live.loops, **refined.loops},
        not_taken={**live.not_taken, **refined.not_taken},
        abstract=refined.abstract,
        compared=refined.compared,
        unsound=live.unsound | refined.unsound,
        unfinished=live.unfinished or refined.unfinished or unfinished,
        warnings=(*warnings, *live.warnings, *refined.warnings),
        graph=graph,
    )


def _by_property(exploration: Exploration) -> dict[str, Finding]:
    """The findings; a state that only looks stuck because a step of it raised is no deadlock."""
    found = {f.property: f for f in (*exploration.findings, *exploration.witnesses)}
    deadlock = found.get(DEADLOCK)
    for name in (NO_ERROR, ASSERTION):
        other = found.get(name)
        if deadlock and other and other.failing:
            if (other.initial, other.steps) == (deadlock.initial, deadlock.steps):
                found.pop(DEADLOCK, None)
    return found


def search_options(
    model: Model,
    options: CheckOptions,
    on_progress: Watch | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> SearchOptions:
    """What an engine is asked."""
    bounds = {stop.option: getattr(options, stop.option) for stop in COUNTED.values()}
    if options.max_depth is None:
        bounds["max_depth"] = model.max_depth
    expect = expectation(model, options.config) or Expectation("holds")
    search = SearchOptions(
        properties=options.properties,
        keep_going=options.keep_going or expect.states is not None,  # all there are
        view=bool(options.view),
        symmetry=judge.uses_symmetry(model, options),
        **bounds,
        max_memory=options.max_memory,
        timeout=options.timeout,
        threads=options.threads or os.cpu_count() or 1,
        fingerprint_bits=options.bits,
        engine_settings=options.spark,
        checkpoint=options.checkpoint,
        checkpoint_every=options.checkpoint_every,
        resume=options.resume,
        on_progress=on_progress,
        interrupted=interrupted,
    )
    return replace(search, awaited=tuple(n for n in expect.properties if search.wants(n)))
