"""``statewalk resume``: go on with a check that was cut short."""

from __future__ import annotations

import argparse
import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from statewalk.checker.commands.elsewhere import OPTIONS, ask_to_run, ask_to_write


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "resume",
        help="continue an interrupted check",
        description="Continue a check that was begun with --out DIR and was interrupted or killed. "
        "The result is that of an uninterrupted check. A changed spec is refused, "
        "unless nothing was saved yet: then it begins anew.",
    )
    parser.add_argument("folder", metavar="DIR", help="the folder of the run")
    parser.add_argument("--spec", metavar="SPEC", help="where the spec is, if it lies elsewhere")
    parser.add_argument("--json", metavar="FILE", help="as for check")
    for option, value in OPTIONS.items():
        parser.add_argument(option, metavar=value, help="as for check, where it lies elsewhere")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Go on; the exit code."""
    from statewalk.checker.commands.checking import CHECKPOINT, run_check
    from statewalk.checker.library import spec_path
    from statewalk.checker.machine import supervisor
    from statewalk.dsl.errors import RunError

    folder = Path(arguments.folder)
    spec, constants, options = read_request(folder)
    if arguments.spec is not None:
        spec = spec_path(arguments.spec)
    elif supervisor.rescue is None:  # otherwise it was asked
        ask_to_run(spec, folder)
    options = _agreed(options, folder, arguments)
    resumed = replace(options, checkpoint=str(folder / CHECKPOINT), resume=True)
    try:
        return run_check(spec, resumed, arguments.json, str(folder), constants)
    except RunError as error:
        if error.code != "SW340":
            raise
        # It ended before its first checkpoint: begin anew.
        return run_check(spec, options, arguments.json, str(folder), constants)


def _agreed(options: Any, folder: Path, arguments: argparse.Namespace) -> Any:
    """Return the options of a run with the places that it may use. Raises RunError[SW407]."""
    from statewalk.checker.commands.checking import CHECKPOINT
    from statewalk.checker.machine import supervisor

    spark = dict(options.spark)
    named = {
        "--graph": options.graph,
        "--master": spark.get("master"),
        "--spark-folder": spark.get("folder"),
    }
    given = {
        "--graph": arguments.graph and str(Path(arguments.graph).resolve()),
        "--master": arguments.master,
        "--spark-folder": arguments.spark_folder,
    }
    if supervisor.rescue is None:  # otherwise it was asked
        rest = {option: place for option, place in named.items() if not given[option]}
        ask_to_write(folder, {**rest, "checkpoint": folder / CHECKPOINT})
    named |= {option: place for option, place in given.items() if place}
    for option, name in (("--master", "master"), ("--spark-folder", "folder")):
        if named[option]:
            spark[name] = named[option]
    return replace(options, graph=named["--graph"], spark=spark, checkpoint=None, resume=False)


def _as_named(about: dict[str, Any]) -> str:
    """Return the spec as it was named, where that still leads to it: reports then say the same."""
    named = about.get("named")
    if isinstance(named, str) and Path(named).resolve() == Path(about["spec"]):
        return named
    return str(about["spec"])


def read_request(folder: Path) -> tuple[str, dict[str, Any], Any]:
    """(spec, constants, options) of a run's folder. Raises RunError[SW342]."""
    from pydantic import TypeAdapter

    from statewalk.checker.commands.checking import SCHEMA
    from statewalk.checker.contract.options import CheckOptions
    from statewalk.checker.report.runs import REQUEST
    from statewalk.dsl.errors import RunError
    from statewalk.dsl.files import SaidTwice, decoded, file_name, read_text
    from statewalk.dsl.words.constants import GivenText

    try:
        about = decoded(read_text(folder / REQUEST))
        known = {f.name for f in fields(CheckOptions)}
        given = dict(about["options"])
        if about["schema"] != SCHEMA:
            raise ValueError(f"its schema is {about['schema']!r}, this version reads {SCHEMA}")
        if not (isinstance(about["spec"], str) and set(given) <= known):
            raise ValueError
        file_name(about["spec"])
        options = TypeAdapter(CheckOptions).validate_python(given)
        for place in (options.graph, options.checkpoint, *map(str, options.spark.values())):
            file_name(place or "")
        constants = {file_name(k): GivenText(v) for k, v in about["constants"].items()}
        return _as_named(about), constants, options
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
        RunError,
    ) as error:
        why = f"its {REQUEST} does not hold a check"
        if isinstance(error, RunError):
            why += f": {error.message.rstrip('.')}"
        elif type(error) is ValueError and error.args:
            why += f": {error}"
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            why = f"it has no {REQUEST}"
        elif isinstance(error, OSError | UnicodeDecodeError | json.JSONDecodeError | SaidTwice):
            why = f"its {REQUEST} cannot be read ({error})"
        raise RunError(
            "SW342",
            f"{folder} is not the folder of a check that can be resumed: {why}.",
            help="It is the DIR of: statewalk check SPEC --out DIR",
        ) from None
