"""The work of ``statewalk check`` after its arguments are parsed: one check, or a sweep of them."""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.api import load_within, not_begun, not_loaded, report_of, search
from statewalk.checker.contract import rescue
from statewalk.checker.contract.rescue import left
from statewalk.checker.contract.saved import begin_anew
from statewalk.checker.machine import streams, supervisor
from statewalk.checker.machine.files import write_text
from statewalk.checker.machine.limits import Interruptions
from statewalk.checker.machine.locks import held
from statewalk.checker.machine.places import place_of_error
from statewalk.checker.machine.watch import CutShort
from statewalk.checker.report.check import report
from statewalk.checker.report.page import Page, levels_page
from statewalk.checker.report.progress import ProgressBlock
from statewalk.checker.report.runs import REQUEST, RunFolder, forget, new_folder, older_below
from statewalk.checker.states.shortening import fit
from statewalk.checker.verdict import exits
from statewalk.checker.verdict.evidence import Evidence, Notice
from statewalk.checker.verdict.run import Run, read_result
from statewalk.dsl.errors import EngineError, RunError, StatewalkError, printable

if TYPE_CHECKING:
    from statewalk.checker.contract.options import CheckOptions, Sweep
    from statewalk.checker.contract.search import Progress
    from statewalk.checker.machine.supervisor import End
    from statewalk.dsl.model import Model

STDOUT = "-"
CHECKPOINT = "checkpoint"
DISK = "disk"  # what does not fit in memory, where there is no checkpoint
SCHEMA = 1  # of the latter
_RARELY = 20  # times as long as a note takes lie between two,
_FEW = 100  # once there are more levels than that


def run_check(
    spec: str,
    options: CheckOptions,
    json_file: str | None,
    out: str | None,
    constants: Mapping[str, Any],
    further: Callable[[Sequence[Run]], None] = lambda runs: None,
    *,
    props: bool = False,
    levels: bool = False,
) -> int:
    """Return one check; the exit code. ``further`` is done with the results once they are shown."""
    try:
        run, problem = one_check(spec, options, out, constants)
    except StatewalkError as error:
        tell_mistake(error, spec, options, json_file, constants, further)
        raise
    if json_file != STDOUT:
        page = report(run, width=streams.width(), props=props)
        if levels:
            page.blank()
            page.join(levels_page(run.evidence.levels, width=streams.width()))
        page.join(_besides(0, older_below(out)))
        page.show(streams.out())
    if json_file is not None:
        write_json(run.to_dict(), json_file)
    try:
        further([run])
    except RunError as error:
        problem = problem or error
    if problem is not None:
        streams.out().flush()
        raise problem
    return exits.exit_code(run)


def one_check(
    spec: str, options: CheckOptions, out: str | Path | None, constants: Mapping[str, Any]
) -> tuple[Run, RunError | None]:
    """Load and check; where there is a folder, so that it can be resumed.

    What cannot be written is a warning of the run, or else given beside it. Of a check that was
    killed, what it had noted.
    """
    end, folder = supervisor.rescue, out
    supervisor.note(check=True, loaded=False, search={}, folder=None)
    if end is None and not options.resume:
        forget(out)
    with Interruptions() as asked:
        try:
            if end is not None:
                folder = _folder_of(end) or out
            model = load_within(spec, constants, options)
        except (CutShort, KeyboardInterrupt) as cut:
            return _written(_not_loaded(spec, constants, options, cut), out)
        supervisor.note(loaded=True)
        with held(out):
            unsaved = None
            if out is not None and not options.resume and end is None:
                RunFolder(Path(out)).clear()
                checkpoint = Path(out, CHECKPOINT)
                if checkpoint.is_symlink():  # nothing that it leads to is ours
                    checkpoint.unlink()
                elif checkpoint.is_dir():  # first: nobody is to resume it as what is asked now
                    begin_anew(str(checkpoint))
                unsaved = remember(Path(out), spec, constants, options)
                if unsaved is None and options.slices == "off":  # nobody could resume slices
                    options = replace(options, checkpoint=str(checkpoint))
            try:
                run, problem = checked(model, options, folder, asked, unsaved)
            except SystemExit as exit_:
                raise left(exit_) from None
    graph = run.evidence.graph
    if graph is not None and graph.unwritable:
        sys.stderr.write(f"{graph.problem}\n")
    elif graph is not None:
        problem = problem or graph.problem
    return run, problem


def _folder_of(end: End) -> str | None:
    """Return the folder of a run that had to be killed.

    Raises CutShort where it was not even loaded.
    """
    if rescue.problem(end) is not None or not end.facts.get("loaded"):
        rescue.give_up(end)
    folder: str | None = end.facts.get("folder")
    return folder


def remember(
    folder: Path, spec: str, constants: Mapping[str, Any], options: CheckOptions
) -> RunError | None:
    """Note in a run's folder what was asked, so that it can be resumed; what kept that from being
    done.
    """
    about = {
        "schema": SCHEMA,
        "spec": str(Path(spec).resolve()),
        "named": spec,
        "constants": {name: str(value) for name, value in constants.items()},
        "options": options.given(),
    }
    file = folder / REQUEST
    try:
        write_text(file, json.dumps(about, indent=2) + "\n")
    except RunError as problem:
        with suppress(OSError):  # what another check asked for
            file.unlink(missing_ok=True)
        return problem
    return None


def checked(
    model: Model,
    options: CheckOptions,
    out: str | Path | None,
    asked: Callable[[], bool],
    unsaved: RunError | None = None,
) -> tuple[Run, RunError | None]:
    """Return the result of a check with its run folder written.

    What kept something from being written is a warning; a folder that was asked for and cannot be
    made is a mistake. ``asked`` says whether to end; ``unsaved`` is what keeps the search from
    being saved.
    """
    folder: RunFolder | None = None
    problem: RunError | None = None
    try:
        folder = new_folder(out)
    except RunError as error:
        if out is not None:
            problem = error
        else:
            unsaved = error
    if unsaved is not None and problem is None:
        sys.stderr.write(f"{unsaved}\n")
    if folder is not None:
        supervisor.note(folder=str(folder.path))
    constants = " ".join(f"{n}={fit(v, 24)}" for n, v in model.constants.items())
    block = ProgressBlock(sys.stderr, f"{model.name}  {constants}", model.action_names())
    notes = _Notes(block)

    def interrupted() -> bool:
        block.tick()
        return asked()

    try:
        scratch = str(folder.path / DISK) if folder is not None else None
        run = search(model, options, on_progress=notes, interrupted=interrupted, scratch=scratch)
    except BaseException:
        if folder is not None and out is None:
            folder.discard()
        raise
    finally:
        block.close()
    if unsaved is not None and problem is None:
        run = run.with_unsaved(unsaved.one_line)
    if folder is not None:
        known = len(run.warnings)
        run = folder.keep(run)
        for said in run.warnings[known:]:
            sys.stderr.write(f"{said}\n")
            if out is None:
                folder.discard()
    return run, problem


def _written(run: Run, out: str | Path | None) -> tuple[Run, RunError | None]:
    """Return a run in a folder of its own, or with what kept that from being done."""
    try:
        folder = new_folder(out)
    except RunError as error:
        return run, error
    with held(out):
        return folder.keep(run), None


def _not_loaded(
    spec: str, constants: Mapping[str, Any], options: CheckOptions, end: BaseException
) -> Run:
    """Return the result of a check that ended while its spec was loaded."""
    if isinstance(end, CutShort):
        return not_loaded(spec, constants, options, end.reason, end.place)
    return not_loaded(spec, constants, options, "interrupt", place_of_error(end))


class _Notes:
    """Called with each `Progress`: shows it, and notes what is known, in little of the time."""

    def __init__(self, block: ProgressBlock) -> None:
        self.block = block
        self.compiling = block.compiling  # asked for by name
        self.next = 0.0
        self.found = 0

    def __call__(self, progress: Progress) -> None:
        self.block(progress)
        now = time.monotonic()
        news = len(progress.findings) > self.found
        if supervisor.line is None or not (news or now >= self.next):
            return
        self.found = len(progress.findings)
        supervisor.note(search=rescue.noted(progress))
        if len(progress.levels) > _FEW:
            self.next = now + _RARELY * (time.monotonic() - now)


def tell_mistake(
    error: StatewalkError,
    spec: str,
    options: CheckOptions,
    json_file: str | None,
    constants: Mapping[str, Any],
    further: Callable[[Sequence[Run]], None],
) -> None:
    """Write the result of checks that could not begin wherever one was asked for."""
    failed = error_result(spec, options, constants, error)
    if json_file is not None:
        write_json(failed.to_dict(), json_file)
    with suppress(RunError):  # the mistake is what matters
        further([failed])


def run_several(
    spec: str,
    options: CheckOptions,
    json_file: str | None,
    out: str | None,
    sweep: Sweep,
    configs: Sequence[str | None],
    further: Callable[[Sequence[Run]], None],
) -> int:
    """Return one check for each configuration and combination of constants, and a table; the
    exit code of the worst.
    """
    from statewalk.checker.report.page import table

    rows: list[tuple[dict[str, Any], Run]] = []
    codes: list[int] = []
    problem: RunError | None = None
    cases = [*_cases(sweep, configs)]
    earlier = supervisor.rescue.facts.get("done", []) if supervisor.rescue is not None else None
    if out and earlier is None:
        for own in ("", *(case[-1] for case in cases)):
            forget(Path(out, own))
    for number, (config, constants, shown, own) in enumerate(cases):
        place = Path(out, own) if out else None
        graph = str(Path(options.graph, own)) if options.graph else None
        asked = replace(options, graph=graph, config=config)
        try:
            if earlier is not None and number < len(earlier):
                run, code = _read(earlier[number]), earlier[number][2]
            else:
                run, failed = one_check(spec, asked, place, constants)
                problem, code = problem or failed, exits.exit_code(run)
            codes.append(code)
        except StatewalkError as error:
            run = error_result(spec, asked, constants, error)
            codes.append(exits.INTERNAL if isinstance(error, EngineError) else exits.MISTAKE)
        rows.append((shown, run))
        supervisor.note(done=[*map(_noted, (run for _, run in rows), codes)])
        if earlier is not None and number >= len(earlier):
            break
        if run.evidence.stopped == "interrupt":
            break
    if json_file != STDOUT:
        page = table(rows, width=streams.width())
        page.join(_besides(len(cases) - len(rows), older_below(out, {c[-1] for c in cases})))
        page.show(streams.out())
    if json_file is not None:
        named_rows = [
            {**({"config": shown["config"]} if len(configs) > 1 else {}), **run.to_dict()}
            for shown, run in rows
        ]
        write_json({"schema": 1, "sweep": named_rows}, json_file)
    try:
        further([run for _, run in rows])
    except RunError as error:
        problem = problem or error
    if problem is not None:
        raise problem
    return exits.of_sweep(codes)


def _besides(left: int, older: str) -> Page:
    """Return the lines below a result: how many checks were not started, older results."""
    page = Page()
    if left:
        page.add(f"interrupted: {left} more were not started")
    if older:
        page.add(older)
    return page


def _cases(
    sweep: Sweep, configs: Sequence[str | None]
) -> Iterator[tuple[str | None, dict[str, Any], dict[str, Any], str]]:
    """Yield each check of a sweep: configuration, constants, table cells, name of its folder.

    Of folders with one name (also where upper case is no other name) the later ones are numbered.
    """
    taken: Counter[str] = Counter()
    for config in configs:
        named = {"config": config} if len(configs) > 1 else {}
        for constants in sweep.combinations():
            swept = {name: constants[name] for name in sweep.swept}
            own = [*map(str, named.values()), *(f"{n}={value}" for n, value in swept.items())]
            name = safe_name("-".join(own))
            while taken[name.casefold()]:
                taken[name.casefold()] += 1
                name += f"-{taken[name.casefold()]}"
            taken[name.casefold()] += 1
            yield config, constants, {**named, **swept}, name


def _noted(run: Run, code: int) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
    """Return what is noted of a run of a sweep, should a later one have to be killed."""
    return run.to_dict(), [asdict(notice) for notice in run.evidence.warnings], code


def _read(noted: Sequence[Any]) -> Run:
    """Return a run as it was noted."""
    from pydantic import TypeAdapter  # it takes longer to load than most checks to be made

    notices = TypeAdapter(tuple[Notice, ...]).validate_python(noted[1])
    return Run(read_result(noted[0]), Evidence(warnings=notices), {}, report_of)


def safe_name(text: str) -> str:
    """Return a name for a folder."""
    return re.sub(r"[^\w.=+-]+", "_", text)


def error_result(
    spec: str, options: CheckOptions, constants: Mapping[str, Any], error: StatewalkError
) -> Run:
    """Return the result of a check that could not begin."""
    why = Notice("error", error.code, str(error), error.at)
    return not_begun(spec, constants, "error", Evidence(options=options, warnings=(why,)))


def write_json(data: dict[str, Any], file: str) -> None:
    """Write an object to a file, or to standard output. Raises RunError[SW403]."""
    text = printable(json.dumps(data, indent=2, ensure_ascii=not _takes_unicode(file)) + "\n")
    if file == STDOUT:
        streams.out().write(text)
        streams.out().flush()
        return
    with suppress(OSError):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
    write_text(Path(file), text, help="Give another place with --json FILE.", named=True)


def _takes_unicode(file: str) -> bool:
    encoding = (streams.out().encoding or "") if file == STDOUT else "utf-8"
    return encoding.lower().replace("-", "") == "utf8"
