"""``statewalk cover``: scenarios that together show all that a spec can do."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

from statewalk.checker.commands.arguments import add_settings, argument
from statewalk.checker.contract.options import read_count, read_seconds
from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS, INCONCLUSIVE, VIOLATED

_MAX_STATES = 100_000
_LENGTH = 50


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "cover",
        help="generate test scenarios from a spec",
        description="Make scenarios (events, and observations after each) that together "
        "take every action and reach every witness of a spec.",
        epilog="Exit codes: 0 covered, 1 something is unreachable, 2 mistake, 3 "
        "something was not reached within the bounds.",
    )
    parser.add_argument("spec", metavar="SPEC", help="a .py or .fizz file, or a model by name")
    add_settings(parser)
    parser.add_argument("--config", metavar="NAME", help="one of the spec's configurations")
    parser.add_argument(
        "--steps", action="store_true", help="take every step of every state, not only every action"
    )
    parser.add_argument(
        "--length", type=argument(read_count), default=_LENGTH, metavar="N",
        help=f"with --steps, events of a scenario that goes on from another ({_LENGTH})",
    )  # fmt: skip
    parser.add_argument(
        "--scenarios", type=argument(read_count), metavar="N", help="scenarios at most (all)"
    )
    add_files(parser)
    parser.add_argument(
        "--max-states", type=argument(read_count), default=_MAX_STATES, metavar="N",
        help=f"states to look at ({_MAX_STATES:,})",
    )  # fmt: skip
    parser.add_argument("--max-depth", type=argument(read_count), metavar="N",
                        help="levels to look at")  # fmt: skip
    parser.add_argument(
        "--timeout", type=argument(read_seconds), metavar="TIME",
        help="end after this, and keep the scenarios there are",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.set_defaults(run=run)


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add where scenarios are written to."""
    parser.add_argument(
        "--events", metavar="FILE", help="write the scenarios as JSON (- is standard output)"
    )
    parser.add_argument("--pytest", metavar="FILE", help="write them as a module for pytest")


def run(arguments: argparse.Namespace) -> int:
    """Choose scenarios, write them, and print what they meet; the exit code."""
    from statewalk.checker.api import load_within
    from statewalk.checker.contract.options import CheckOptions, read_settings
    from statewalk.checker.machine.limits import Interruptions, within
    from statewalk.checker.report.cover import as_json, cover_page
    from statewalk.checker.scenarios.make import Enough, Made
    from statewalk.checker.scenarios.reached import Bounds, reach
    from statewalk.checker.scenarios.scenario import Files

    constants = read_settings(arguments.settings).fixed
    limits = CheckOptions(config=arguments.config, timeout=arguments.timeout)
    with Interruptions() as asked:
        enough = Enough(arguments.timeout, asked, arguments.scenarios)
        model = load_within(arguments.spec, constants, limits)
        files = Files(model, arguments.events, arguments.pytest)
        with files.open():
            bounds = Bounds(arguments.max_states, arguments.max_depth, asked)
            with within(model.path, "looking at states", enough.left()):
                reached = reach(model, bounds, everything=arguments.steps)
            made = Made(reached, files, arguments.steps, keep=arguments.json)
            made.make(arguments.length, enough, _told())
    if arguments.json:
        streams.say(json.dumps(as_json(made), indent=1) + "\n")
    else:
        page = cover_page(made, streams.width())
        if files.said:
            page.add(f"  written     {files.said}")
        page.show(sys.stderr if arguments.events == "-" else streams.out())
    if made.stopped or (arguments.steps and reached.stopped):
        return INCONCLUSIVE
    if not reached.missed():
        return HOLDS
    return INCONCLUSIVE if reached.stopped or reached.cut else VIOLATED


def _told() -> Callable[[str], None]:
    """Says on the way how far it is."""
    from statewalk.checker.report.progress import Line

    return Line(sys.stderr)
