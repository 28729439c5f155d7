"""``statewalk test``: do all configurations still give what they promise?"""

from __future__ import annotations

import argparse
import os
from typing import Any

from statewalk.checker.commands.arguments import argument
from statewalk.checker.contract.options import read_count, read_seconds
from statewalk.checker.engines.table import NAMES


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "test",
        help="check every configuration against what it expects",
        description="Check every configuration of the specs in these files and folders, or below "
        "this folder, several at a time. A configuration that was as expected is "
        "checked again only if a file that it loads changed, or in continuous "
        "integration. Without an expectation it has to hold.",
        epilog="Exit codes: 0 all as expected, 2 a spec or the command is wrong, 3 "
        "some inconclusive, 4 some not as expected.",
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="specs, folders of them, models by name"
    )
    parser.add_argument(
        "--all", action="store_true", help="also check what did not change since it was green"
    )
    parser.add_argument(
        "--skip-unchanged", action="store_true", help="skip what did not change where CI is set too"
    )
    parser.add_argument(
        "--jobs",
        type=argument(read_count),
        metavar="N",
        help="checks at a time (one for each processor)",
    )
    parser.add_argument(
        "--strict", action="store_true", help="a configuration with warnings is not as expected"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="the warnings of each, also of many specs"
    )
    parser.add_argument("--engine", choices=NAMES, default="auto", help="how to search")
    parser.add_argument(
        "--timeout", type=argument(read_seconds), metavar="S", help="the most a check may take"
    )
    parser.add_argument(
        "--config",
        action="append",
        metavar="NAME",
        help="only this configuration, of each spec that has it (can be repeated)",
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help="if only counts differ, show the new expectations and write them into the spec "
        "(in a terminal, asks first)",
    )
    parser.add_argument(
        "--watch", action="store_true", help="test again whenever a file in these places is saved"
    )
    group = parser.add_argument_group("for machines")
    group.add_argument("--junit", metavar="FILE", help="also write the results as JUnit XML")
    group.add_argument("--sarif", metavar="FILE", help="also write problems as SARIF 2.1.0")
    group.add_argument(
        "--github", action="store_true", help="also print annotations for GitHub's workflows"
    )
    group.add_argument("--tell", metavar="FILE", help=argparse.SUPPRESS)  # what --watch asks for
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Find, check, print; the exit code."""
    from statewalk.checker.commands.everyday.found import specs_in, untested
    from statewalk.checker.commands.everyday.outcomes import Outcomes
    from statewalk.checker.commands.everyday.rows import How
    from statewalk.checker.commands.everyday.testing import Green, run_tests
    from statewalk.checker.commands.everyday.update import Update
    from statewalk.dsl.caches import in_ci

    if arguments.watch:
        return _watched(arguments)
    outcomes = Outcomes(arguments.junit, arguments.sarif, arguments.github)
    jobs = arguments.jobs or os.cpu_count() or 1
    how = How(jobs, arguments.engine, arguments.timeout, outcomes.asked, arguments.strict)
    green = Green.read(how)
    if arguments.all or arguments.update or (in_ci() and not arguments.skip_unchanged):
        green.specs.clear()
    names = arguments.config
    further: dict[str, Any] = {"verbose": arguments.verbose}
    if arguments.update:
        further["update"] = Update()
    if names:
        further["wanted"] = lambda configuration: configuration.name in names
        further["needed"] = names
    else:
        further["untested"] = untested(arguments.paths or ["."])
    code = run_tests(specs_in(arguments.paths or ["."]), how, green, outcomes=outcomes, **further)
    if arguments.tell:
        from statewalk.checker.commands.everyday.watching import tell_tests

        tell_tests(outcomes.made, arguments.tell)
    return code


def _watched(arguments: argparse.Namespace) -> int:
    """Test again and again; the exit code. Raises RunError[SW326]."""
    from statewalk.checker.commands.everyday.watching import watch_tests
    from statewalk.dsl.errors import RunError

    if arguments.update:
        said = "--update cannot be combined with --watch: it would change specs without asking."
        raise RunError("SW326", said, help="Give one of them.")
    return watch_tests(arguments.paths or ["."], arguments.command_line)
