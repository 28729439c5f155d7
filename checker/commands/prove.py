"""``statewalk prove``: is an invariant inductive?"""

from __future__ import annotations

import argparse
from typing import Any

from statewalk.checker.commands.arguments import add_settings, argument
from statewalk.checker.contract.options import read_count, read_seconds
from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS, INCONCLUSIVE, VIOLATED


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "prove",
        help="check whether an invariant is inductive",
        description="Check that the initial states satisfy an invariant, and that each step from a "
        "state that satisfies it leads to another one. All states of the declared types "
        "are candidates, reachable or not, or a sample if they are too many. A "
        "counterexample is a trace.",
        epilog="Exit codes: 0 inductive, 1 a counterexample to induction, 2 mistake, "
        "3 undecided: a sample, a constraint, a timeout.",
    )
    parser.add_argument("spec", metavar="SPEC", help="a .py file, or a model by name")
    parser.add_argument(
        "--inductive",
        action="append",
        required=True,
        metavar="INVARIANT",
        help="an @always property; repeatable: their conjunction",
    )
    parser.add_argument(
        "--steps", type=argument(read_count), default=1, metavar="K",
        help="k-induction: after K states in a row that satisfy it (1)",
    )  # fmt: skip
    add_settings(parser)
    parser.add_argument("--config", metavar="NAME", help="one of the spec's configurations")
    parser.add_argument(
        "--domain", action="append", default=[], metavar="FIELD=VALUES",
        help='the values of a field with a wider type: "Turn.of=range(2)"; repeatable',
    )  # fmt: skip
    parser.add_argument(
        "--max-states", type=argument(read_count), default=1_000_000, metavar="N",
        help="enumerate at most N states, else draw a sample (1000000)",
    )  # fmt: skip
    parser.add_argument(
        "--samples", type=argument(read_count), default=100_000, metavar="N",
        help="how many states a sample draws (100000)",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="equal seeds, equal samples (0)"
    )
    parser.add_argument(
        "--timeout", type=argument(read_seconds), metavar="S", help="stop after this time"
    )
    parser.add_argument("--json", metavar="FILE", help="also as JSON (- is standard output)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Look for a counterexample, and print what was found; the exit code."""
    from statewalk.checker.api import load_within
    from statewalk.checker.commands.checking import STDOUT, write_json
    from statewalk.checker.contract.options import CheckOptions, read_settings
    from statewalk.checker.induction.prove import prove
    from statewalk.checker.induction.telling import page_of, to_dict
    from statewalk.checker.machine.limits import Interruptions

    constants = read_settings(arguments.settings).fixed
    with Interruptions() as asked:
        model = load_within(arguments.spec, constants, CheckOptions(config=arguments.config))
        found = prove(
            model,
            arguments.inductive,
            k=arguments.steps,
            most=arguments.max_states,
            samples=arguments.samples,
            seed=arguments.seed,
            domains=arguments.domain,
            timeout=arguments.timeout,
            interrupted=asked,
        )
        page = page_of(found, streams.width())
    if arguments.json != STDOUT:
        page.show(streams.out())
    if arguments.json is not None:
        write_json(to_dict(found), arguments.json)
    if found.finding is not None:
        return VIOLATED
    return HOLDS if found.verdict == "inductive" else INCONCLUSIVE
