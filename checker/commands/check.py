"""``statewalk check``: search the reachable states of a spec and report verdicts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.commands.arguments import argument
from statewalk.checker.contract.options import (
    SLICES,
    CheckOptions,
    read_count,
    read_seconds,
    read_settings,
    read_size,
    read_threads,
    several,
)
from statewalk.checker.engines.table import NAMES

if TYPE_CHECKING:
    from statewalk.checker.verdict.run import Run


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "check",
        help="search every reachable state of a spec",
        description="Search every reachable state of a spec; print verdicts with their evidence.",
        epilog="Exit codes: 0 holds, or as the configuration expects, 1 a violation without an "
        "expectation, 2 mistake in the spec or the command, 3 inconclusive, 4 "
        "expectation not met, 70 internal error.",
    )
    parser.add_argument("spec", metavar="SPEC", help="a .py or .fizz file, or a model by name")
    add_model_options(parser)
    add_search_options(parser)
    add_output_options(parser)
    add_spark_options(parser)
    parser.set_defaults(run=run)


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Options that say which model is meant."""
    group = parser.add_argument_group("the model")
    group.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", dest="settings",
        help="give a constant a value; NAME=2..4, NAME=a,b and NAME=all check each value and print "
        "a table",
    )  # fmt: skip
    group.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="NAME",
        dest="configs",
        help="use the constants of a configuration of the spec; repeatable: checks each",
    )
    group.add_argument(
        "--symmetry",
        choices=("on", "off"),
        help="symmetry reduction over interchangeable instances",
    )
    group.add_argument(
        "--view",
        choices=("on", "off"),
        help="ignore auxiliary fields when states are compared",
    )
    group.add_argument(
        "--slice",
        choices=SLICES,
        default="off",
        dest="slices",
        help="search groups of properties one by one, without the fields that neither steps "
        "nor the group read (auto: if that leaves at most a third of the states)",
    )
    group.add_argument(
        "--reduce",
        choices=("on", "off"),
        default="off",
        help="take states for one that differ only in what nothing reads any more",
    )


def add_search_options(parser: argparse.ArgumentParser) -> None:
    """Options that say what is checked, and how far."""
    group = parser.add_argument_group("the search")
    group.add_argument(
        "--engine", choices=NAMES, default="auto", help="how to search (auto: the fastest possible)"
    )
    group.add_argument(
        "--property",
        action="append",
        metavar="NAME",
        dest="properties",
        help="check only this; repeatable",
    )
    group.add_argument("--keep-going", action="store_true", help="search on after a violation")
    group.add_argument(
        "--no-liveness", action="store_true", help="leave liveness properties unchecked"
    )
    group.add_argument(
        "--allow-unsound",
        action="store_true",
        help="check liveness even if constraints or bounds limit the search",
    )
    number, size, seconds = argument(read_count), argument(read_size), argument(read_seconds)
    group.add_argument("--max-depth", type=number, metavar="N", help="stop after N levels")
    group.add_argument(
        "--max-states", type=number, metavar="N", help="stop when N distinct states are known"
    )
    group.add_argument(
        "--max-memory",
        type=size,
        metavar="SIZE",
        help="memory to use; more states than fit are kept on disk (e.g. 4G, 500M)",
    )
    group.add_argument(
        "--timeout", type=seconds, metavar="S", help="stop after this time (e.g. 90, 10m, 2h)"
    )
    group.add_argument(
        "--threads",
        type=argument(read_threads),
        metavar="N",
        help="threads to search with (all processors)",
    )
    group.add_argument(
        "--fingerprint-bits", type=int, choices=(64, 128),
        help="size of the fingerprint of a state (64)",
    )  # fmt: skip


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Options for what a check prints and writes."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--json", metavar="FILE", help="write the result as JSON to a file (- is standard output)"
    )
    group.add_argument(
        "--out", metavar="DIR", help="the run's folder (the next number in .statewalk/runs)"
    )
    group.add_argument(
        "--checkpoint-every",
        type=argument(read_seconds),
        metavar="S",
        help="with --out: least time between checkpoints, for statewalk resume (10s)",
    )
    group.add_argument(
        "--graph", metavar="DIR", help="also write the state graph, for statewalk query"
    )
    group.add_argument(
        "--html", metavar="FILE", help="also write the result as one page for the browser"
    )
    group.add_argument("--junit", metavar="FILE", help="also write the result as JUnit XML")
    group.add_argument("--sarif", metavar="FILE", help="also write problems as SARIF 2.1.0")
    group.add_argument(
        "--github", action="store_true", help="also print annotations for GitHub's workflows"
    )
    group.add_argument(
        "--props", action="store_true", help="also print where in a trace each property is true"
    )
    group.add_argument(
        "--levels", action="store_true", help="also print the number of states of each level"
    )
    group.add_argument("--strict", action="store_true", help="warnings make the exit code 4")
    group.add_argument(
        "--watch",
        action="store_true",
        help="check again when the spec or a file it loads is saved; print what changed",
    )
    group.add_argument("--tell", metavar="FILE", help=argparse.SUPPRESS)  # what --watch asks for


def add_spark_options(parser: argparse.ArgumentParser) -> None:
    """Options of the Spark engine."""
    number = argument(read_count)
    group = parser.add_argument_group("Spark (--engine spark)")
    group.add_argument(
        "--master", metavar="URL", help="a Spark cluster (a local one, started for the run)"
    )
    group.add_argument(
        "--spark-folder", metavar="DIR", help="where levels are kept; executors need to reach it"
    )
    group.add_argument(
        "--spark-buckets", type=number, metavar="N", help="parts of a level, a power of two (256)"
    )
    group.add_argument(
        "--spark-tasks", type=number, metavar="N", help="tasks per level (as many as cores)"
    )
    group.add_argument(
        "--spark-native-until",
        type=number,
        metavar="N",
        help="levels of fewer states are searched without Spark (50000)",
    )


def spark_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of the Spark engine that were given."""
    found = {
        "master": arguments.master,
        "folder": arguments.spark_folder,
        "buckets": arguments.spark_buckets,
        "tasks": arguments.spark_tasks,
        "native_until": arguments.spark_native_until,
    }
    return {name: value for name, value in found.items() if value is not None}


def options_of(arguments: argparse.Namespace) -> CheckOptions:
    """Return the options of a check from parsed arguments."""
    a = arguments
    every = a.checkpoint_every
    return CheckOptions(
        config=a.configs[0] if len(a.configs) == 1 else None,
        engine=a.engine,
        properties=tuple(dict.fromkeys(a.properties)) if a.properties else None,
        keep_going=a.keep_going,
        max_depth=a.max_depth,
        max_states=a.max_states,
        max_memory=a.max_memory,
        timeout=a.timeout,
        threads=a.threads,
        fingerprint_bits=a.fingerprint_bits,
        liveness=not a.no_liveness,
        allow_unsound=a.allow_unsound,
        symmetry=None if a.symmetry is None else a.symmetry == "on",
        view=None if a.view is None else a.view == "on",
        strict=a.strict,
        checkpoint_every=CheckOptions.checkpoint_every if every is None else every,
        spark=spark_settings(a),
        graph=str(Path(a.graph).resolve()) if a.graph else None,
        every_field=bool(a.html),
        slices=a.slices,
        reduce=a.reduce == "on",
    )


def run(arguments: argparse.Namespace) -> int:
    """Check, print, and leave the run folder; the exit code."""
    from statewalk.checker.api import types_within
    from statewalk.checker.commands.checking import run_check, run_several, tell_mistake
    from statewalk.checker.library import spec_path
    from statewalk.checker.report.runs import forget
    from statewalk.dsl.errors import StatewalkError

    configs = list(dict.fromkeys(arguments.configs))
    path, options = spec_path(arguments.spec), options_of(arguments)
    if arguments.watch:
        return watched(path, arguments)
    job = (path, options, arguments.json, arguments.out)

    def further(runs: Sequence[Run]) -> None:
        for_machines(runs, arguments)

    try:
        sweep = several(read_settings(arguments.settings), lambda: types_within(path, options))
    except StatewalkError as error:
        forget(arguments.out)
        tell_mistake(error, path, options, arguments.json, {}, further)
        raise
    without_effect(arguments, several=len(configs) > 1 or bool(sweep.swept))
    if sweep.swept or len(configs) > 1:
        return run_several(*job, sweep, configs or [None], further)
    shown = {"props": arguments.props, "levels": arguments.levels}
    return run_check(*job, sweep.fixed, further, **shown)


def watched(path: str, arguments: argparse.Namespace) -> int:
    """Check again and again; the exit code. Raises RunError[SW326]."""
    from statewalk.checker.commands.everyday.watching import watch_check
    from statewalk.dsl.errors import RunError

    if arguments.json == "-":
        said = "--watch and --json - both write to standard output."
        raise RunError("SW326", said, help="Write the result to a file: --json FILE.")
    return watch_check(path, arguments.command_line)


def without_effect(arguments: argparse.Namespace, *, several: bool) -> None:
    """Raises RunError[SW326] for an option that would do nothing beside the others."""
    from statewalk.dsl.errors import RunError

    a = arguments
    spark = ["--master" if name == "master" else f"--spark-{name.replace('_', '-')}"
             for name in spark_settings(a)]  # fmt: skip
    saving = [] if a.checkpoint_every is None else ["--checkpoint-every"]
    for given, needed, there in (
        (spark, "--engine spark", a.engine == "spark"),
        (saving, "--out DIR", bool(a.out)),
        (["--props"] * a.props, "a single check: a table shows no trace", not several),
        (["--levels"] * a.levels, "a single check: a table has no room for it", not several),
        (["--html"] * bool(a.html), "a single check: a page shows one", not several),
    ):
        if given and not there:
            said = f"{given[0]} does nothing here."
            raise RunError("SW326", said, help=f"It goes with {needed}.")


def for_machines(runs: Sequence[Run], arguments: argparse.Namespace) -> None:
    """Write the runs in the forms that machines which build software read.

    Raises:  RunError[SW403], once all that can be written is.
    """
    a = arguments
    if a.tell:
        from statewalk.checker.commands.everyday.watching import tell

        tell(runs, a.tell)
    if not (a.html or a.junit or a.sarif or a.github):
        return
    from statewalk.checker.machine import streams
    from statewalk.checker.machine.files import write_text
    from statewalk.checker.page.html import of_runs
    from statewalk.checker.report import ci
    from statewalk.dsl.errors import RunError

    problem: RunError | None = None
    for option, file, text in (
        ("--html", a.html, of_runs),
        ("--junit", a.junit, ci.to_junit),
        ("--sarif", a.sarif, ci.to_sarif),
    ):
        if file:
            try:
                place = f"Give another place with {option} FILE."
                write_text(Path(file), text(*runs), help=place, named=True)
            except RunError as error:
                problem = problem or error
    if a.github:
        out = sys.stderr if a.json == "-" else streams.out()  # GitHub reads both
        out.write(ci.to_github(*runs))
    if problem is not None:
        raise problem
