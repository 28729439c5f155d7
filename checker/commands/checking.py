"""What ``statewalk check`` does once its arguments are read: one check, or a sweep of them."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker import exits
from checker.api import load, search
from checker.judge import action_names
from checker.limits import Interruptions
from checker.report import report
from checker.report_page import show
from checker.report_progress import ProgressBlock
from checker.result import Result
from checker.runs import RunFolder, new_folder
from dsl.errors import RunError, StatewalkError

if TYPE_CHECKING:
    from checker.options import CheckOptions, Sweep
    from dsl.model import Model

STDOUT = "-"
CHECKPOINT, REQUEST = "checkpoint", "request.json"


def run_check(
    spec: str,
    options: CheckOptions,
    json_file: str | None,
    out: str | None,
    constants: Mapping[str, Any],
    further: Callable[[Result], None] = lambda result: None,
    *,
    props: bool = False,
) -> int:
    """One check; the exit code. ``further`` is done with the result once it is shown."""
    try:
        model = load(spec, constants, config=options.config)
        if out is not None and not options.resume:
            if remember(Path(out), spec, constants, options):
                options = replace(options, checkpoint=str(Path(out, CHECKPOINT)))
        result, problem = checked(model, options, out)
    except StatewalkError as error:
        if json_file is not None:
            write_json(error_result(spec, options, constants, error).to_dict(), json_file)
        raise
    if json_file != STDOUT:
        report(result, width=terminal_width(), props=props).show(sys.stdout)
    if json_file is not None:
        write_json(result.to_dict(), json_file)
    try:
        further(result)
    except RunError as error:
        problem = problem or error
    graph = result.evidence.graph if result.evidence is not None else None
    problem = problem or (graph.problem if graph is not None else None)
    if problem is not None:
        sys.stdout.flush()
        raise problem
    return exits.exit_code(result)


def remember(folder: Path, spec: str, constants: Mapping[str, Any], options: CheckOptions) -> bool:
    """Note in a run's folder what was asked, so that it can be resumed; whether that was done."""
    about = {
        "schema": 1,
        "spec": str(Path(spec).resolve()),
        "constants": {name: str(value) for name, value in constants.items()},
        "options": options.given(),
    }
    with suppress(OSError):  # what is wrong with the folder is said when it is made
        folder.mkdir(parents=True, exist_ok=True)
        (folder / REQUEST).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
        return True
    return False


def checked(
    model: Model, options: CheckOptions, out: str | Path | None
) -> tuple[Result, RunError | None]:
    """The result of a check with its run folder written, or with what kept that from being done."""
    folder: RunFolder | None = None
    problem: RunError | None = None
    try:
        folder = new_folder(out)
    except RunError as error:
        problem = error
    constants = " ".join(f"{n}={show(v, 24)}" for n, v in model.constants.items())
    block = ProgressBlock(sys.stderr, f"{model.name}  {constants}", action_names(model))
    with Interruptions() as asked:

        def interrupted() -> bool:
            block.tick()
            return asked()

        try:
            result = search(model, options, on_progress=block, interrupted=interrupted)
        except BaseException:
            if folder is not None and out is None:
                folder.discard()
            raise
        finally:
            block.close()
    if folder is not None:
        try:
            result = folder.write(result)
        except RunError as error:
            problem = error
            if out is None:
                folder.discard()
    return result, problem


def run_sweep(
    spec: str, options: CheckOptions, json_file: str | None, out: str | None, sweep: Sweep
) -> int:
    """One check for each combination of constants, and a table; the exit code of the worst."""
    from checker.report_table import table

    rows: list[tuple[dict[str, Any], Result]] = []
    codes: list[int] = []
    problem: RunError | None = None
    for constants in sweep.combinations():
        shown = {name: constants[name] for name in sweep.swept}
        own = "-".join(f"{n}={v}" for n, v in shown.items())
        place = Path(out, own) if out else None
        graph = str(Path(options.graph, own)) if options.graph else None
        try:
            model = load(spec, constants, config=options.config)
            result, failed = checked(model, replace(options, graph=graph), place)
            problem = problem or failed
            codes.append(exits.exit_code(result))
        except StatewalkError as error:
            result = error_result(spec, options, constants, error)
            codes.append(exits.MISTAKE)
        rows.append((shown, result))
        if result.evidence is not None and result.evidence.stopped == "interrupt":
            break
    if json_file != STDOUT:
        page = table(rows, width=terminal_width())
        if len(rows) < len(sweep.combinations()):
            page.add(f"interrupted: {len(sweep.combinations()) - len(rows)} more were not started")
        page.show(sys.stdout)
    if json_file is not None:
        write_json({"schema": 1, "sweep": [result.to_dict() for _, result in rows]}, json_file)
    if problem is not None:
        raise problem
    return exits.of_sweep(codes)


def error_result(
    spec: str, options: CheckOptions, constants: Mapping[str, Any], error: StatewalkError
) -> Result:
    """The result of a check that could not begin."""
    return Result(
        spec=spec,
        constants={name: str(value) for name, value in constants.items()},
        engine=options.engine,
        verdict="error",
        warnings=(str(error),),
    )


def write_json(data: dict[str, Any], file: str) -> None:
    """Write an object to a file, or to standard output. Raises RunError[SW403]."""
    text = json.dumps(data, indent=2, ensure_ascii=not _takes_unicode(file)) + "\n"
    if file == STDOUT:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    from checker.files import write_text

    with suppress(OSError):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
    write_text(Path(file), text, help="Give another place with --json FILE.")


def _takes_unicode(file: str) -> bool:
    encoding = (sys.stdout.encoding or "") if file == STDOUT else "utf-8"
    return encoding.lower().replace("-", "") == "utf8"


def terminal_width() -> int:
    """The width reports are made for: that of the terminal, 100 where there is none."""
    return max(shutil.get_terminal_size((100, 24)).columns, 60)
