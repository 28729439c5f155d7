"""``statewalk profile``: what a search spends its time on, and which variable is the widest."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from statewalk.checker.contract.stops import ended_by
from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS, INCONCLUSIVE, MISTAKE


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    from statewalk.checker.commands.arguments import add_settings, argument
    from statewalk.checker.contract.options import read_count, read_seconds

    parser = subparsers.add_parser(
        "profile",
        help="show what a search spends its time on",
        description="Search with the native engine and list, per action and property, how often "
        "the spec had to be run, and the time; per variable, its distinct values; per "
        "field, how many times it multiplies the states, and who reads it.",
        epilog="Exit codes: 0 exhaustive, 2 mistake or an exception of the spec, 3 stopped before.",
    )
    parser.add_argument("spec", metavar="SPEC", help="a .py or .fizz file, or a model by name")
    add_settings(parser)
    parser.add_argument("--config", metavar="NAME", help="one of the spec's configurations")
    parser.add_argument(
        "--max-states",
        type=argument(read_count),
        metavar="N",
        help="stop when N distinct states are known",
    )
    parser.add_argument(
        "--max-depth", type=argument(read_count), metavar="N", help="stop after N levels"
    )
    parser.add_argument(
        "--timeout",
        type=argument(read_seconds),
        metavar="S",
        help="stop after this time (e.g. 90, 10m, 2h)",
    )
    parser.add_argument(
        "--threads",
        type=argument(read_count),
        default=1,
        metavar="N",
        help="threads to search with (1)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Search, and print the profile; the exit code."""
    from statewalk.checker.api import load_within
    from statewalk.checker.contract.options import CheckOptions, read_settings
    from statewalk.checker.contract.search import SearchOptions
    from statewalk.checker.machine.limits import Interruptions
    from statewalk.checker.machine.watch import Watchdog
    from statewalk.checker.report.profile import profile, render

    constants = read_settings(arguments.settings).fixed
    options = SearchOptions(
        keep_going=True,
        every_field=True,
        max_states=arguments.max_states,
        timeout=arguments.timeout,
        threads=arguments.threads,
    )
    limits = CheckOptions(
        config=arguments.config,
        max_states=arguments.max_states,
        max_depth=arguments.max_depth,
        timeout=arguments.timeout,
    )
    with Interruptions() as asked:
        model = load_within(arguments.spec, constants, limits)
        options = replace(options, max_depth=arguments.max_depth or model.max_depth)
        with Watchdog(arguments.timeout):
            found = profile(model, replace(options, interrupted=asked))
    streams.say(render(found) + "\n")
    if found.stopped is None:
        return HOLDS
    if found.stopped == "error":
        streams.say("The search was ended by an exception of the spec: see its check.\n")
        return MISTAKE
    bound = ended_by(limits, found.stopped, found.running, model.max_depth)
    streams.say(f"The search was ended by {bound}.\n")
    return INCONCLUSIVE
