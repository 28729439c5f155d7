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
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.contract.late import named
from statewalk.checker.contract.options import CheckOptions, options_of
from statewalk.checker.contract.search import (
    Engine,
    Exploration,
    Progress,
    SearchOptions,
)
from statewalk.checker.contract.stops import StoppedBy, ended_by
from statewalk.checker.engines.table import EngineEntry, choose
from statewalk.checker.library import no_spec, spec_path
from statewalk.checker.liveness.in_a_check import refuse
from statewalk.checker.machine.limits import MemoryGuard, within
from statewalk.checker.machine.locks import held
from statewalk.checker.machine.places import Place
from statewalk.checker.machine.turns import in_turn
from statewalk.checker.machine.watch import CutShort, Watchdog
from statewalk.checker.passes import cut_short, passed
from statewalk.checker.verdict import judge
from statewalk.checker.verdict.evidence import Evidence, Notice
from statewalk.checker.verdict.judge import Checked, expectation
from statewalk.checker.verdict.run import Result, Run, RunVerdict
from statewalk.dsl.declared import Expectation
from statewalk.dsl.errors import RunError, did_you_mean, quote
from statewalk.dsl.loader import constant_types, read_spec
from statewalk.dsl.loader import load as load_spec
from statewalk.dsl.model import Model
from statewalk.dsl.mutants import run_spec

if TYPE_CHECKING:
    from statewalk.dsl.source.modules import Loading

Watch = Callable[[Progress], None]
LOADING = "loading the spec"


@in_turn
def load(
    spec: str | Path,
    constants: Mapping[str, Any] | None = None,
    *,
    config: str | None = None,
    optimize: bool = True,
    listed: bool = False,
) -> Model:
    """Return the model of a spec file or library model, with its constants fixed.

    ``listed``: expressions beside the spec may list its fields; results are equal.

    Raises:  RunError for a file that cannot be read; SpecError for mistakes in the spec.
    """
    path = spec_path(str(spec))
    if not Path(path).exists():
        raise no_spec(path)
    return load_spec(path, constants, config=config, optimize=optimize, listed=listed)


@in_turn
def check(
    spec: str | Path | Model,
    constants: Mapping[str, Any] | None = None,
    *,
    out: str | Path | None = None,
    on_progress: Watch | None = None,
    interrupted: Callable[[], bool] = lambda: False,
    **options: Any,
) -> Run:
    """Check every property of a spec in every reachable state.

    ``constants`` override defaults; other keywords are the fields of `CheckOptions`. ``out`` names
    a folder for the result and its traces.

    Raises:  RunError, SpecError if the search cannot start. An exception inside the spec does not
    raise: the verdict is "error".
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
            raise RunError("SW326", said, help=f"Pass it to load(..., {name}=...).")
    known = [c.name for c in model.configurations]
    if asked.config is not None and asked.config not in known:
        raise RunError(
            "SW305",
            f"There is no configuration {asked.config}. {did_you_mean(asked.config, known)}",
        )


def load_within(
    spec: str | Path, constants: Mapping[str, Any], options: CheckOptions | None = None
) -> Model:
    """Return the model of a spec file, within the limits of a check.

    Raises CutShort at one of them.
    """
    asked = options or CheckOptions()
    with within(spec_path(str(spec)), LOADING, asked.timeout, asked.max_memory):
        return load(spec, constants, config=asked.config, optimize=asked.optimize)


def declared_within(spec: str | Path, options: CheckOptions | None = None) -> Loading:
    """Return a spec's modules after they ran with the defaults: what they declare, in a tenth
    of the time that its Model takes; within the limits of a check.
    """
    asked = options or CheckOptions()
    path = spec_path(str(spec))
    with within(path, LOADING, asked.timeout, asked.max_memory):
        return run_spec(read_spec(path), {})


def types_within(spec: str, options: CheckOptions) -> dict[str, Any]:
    """Return the types of a spec's constants, within the limits of a check."""
    with within(spec, LOADING, options.timeout, options.max_memory):
        return constant_types(spec)


def not_loaded(
    spec: str,
    constants: Mapping[str, Any],
    options: CheckOptions,
    stopped: StoppedBy,
    running: Place | None,
) -> Run:
    """Return the run of a check whose spec did not get loaded within the limits."""
    text = ended_by(options, stopped, running)
    notice = Notice("bounded", "", f"bounded: {text}")
    evidence = Evidence(options=options, stopped=stopped, bounds=(text,), warnings=(notice,))
    return not_begun(spec, constants, "bounded", evidence)


def not_begun(
    spec: str, constants: Mapping[str, Any], verdict: RunVerdict, evidence: Evidence
) -> Run:
    """Return the run of a check that did not get to its search, for what the evidence warns of."""
    result = Result(
        spec=spec,
        constants={name: str(value) for name, value in constants.items()},
        engine=evidence.options.engine,
        verdict=verdict,
        warnings=tuple(notice.text for notice in evidence.warnings),
    )
    return Run(result, evidence, {}, report_of)


@in_turn
def report_of(run: Run) -> str:
    """Return the report of a run, as it is printed."""
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
    quote(model.texts)
    judge.check_names(model, options.properties)
    asked = replace(search_options(model, options, on_progress, interrupted), scratch=scratch)
    refuse(model, options, asked)
    if asked.wanted(model, "specs"):
        named("statewalk.checker.refinement.in_a_check", "refuse")(model, options, asked)
    entry, engine = choose(options.engine, model, asked)
    if options.graph is not None:
        refuse_graph = named("statewalk.checker.graph.relations", "refuse_graph")  # needs an extra
        refuse_graph(options.graph, asked, entry.name)
    with held(options.graph, graph=True):
        return _searched(model, options, asked, entry, engine)


def _searched(
    model: Model, options: CheckOptions, asked: SearchOptions, entry: EngineEntry, engine: Engine
) -> Run:
    from statewalk.checker.verdict.conclude import conclude

    guard = MemoryGuard(options.max_memory or 0, asked.interrupted)
    if options.max_memory is not None and not entry.memory:
        asked = replace(asked, interrupted=guard)
    started = time.monotonic()
    with Watchdog(options.timeout, options.max_memory) as watch, ExitStack() as stack:

        def ended(found: Exploration) -> Exploration:
            watch.concluding()
            memory = guard.passed and found.stopped == "interrupt"
            return replace(found, stopped="memory") if memory else found

        checked = Checked(model, options)
        checked = passed(checked, asked, entry.name, engine, ended, stack)
        try:
            return conclude(checked, entry, time.monotonic() - started, report_of)
        except CutShort as cut:
            checked.exploration, checked.brief = cut_short(checked.exploration, cut), True
            return conclude(checked, entry, time.monotonic() - started, report_of)


def search_options(
    model: Model,
    options: CheckOptions,
    on_progress: Watch | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> SearchOptions:
    """Return what an engine is asked."""
    expect = expectation(model, options.config) or Expectation("holds")
    own = SearchOptions.__dataclass_fields__
    asked = {name: value for name, value in vars(options).items() if name in own} | {
        "keep_going": options.keep_going or expect.states is not None,  # all there are
        "view": bool(options.view),
        "symmetry": judge.uses_symmetry(model, options),
        "max_depth": model.max_depth if options.max_depth is None else options.max_depth,
        "threads": options.threads or os.cpu_count() or 1,
        "fingerprint_bits": options.bits,
        "engine_settings": options.spark,
    }
    search = SearchOptions(**asked, on_progress=on_progress, interrupted=interrupted)
    return replace(search, awaited=tuple(n for n in expect.properties if search.wants(n)))
