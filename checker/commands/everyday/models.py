"""``statewalk models``: the library, and whether it gives what it promises."""

from __future__ import annotations

import argparse
import os
from textwrap import fill, indent
from typing import TYPE_CHECKING, Any

from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS

if TYPE_CHECKING:
    from statewalk.checker.library import Entry


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "models",
        help="list or test the model library",
        usage="statewalk models [-h] [list | test] [NAME ...]",
        description="List the models of the library; of named ones, also constants and "
        "configurations; of a single one, its description. With 'test', check every "
        "configuration against its expectation.",
        epilog="Exit codes of test: 0 all as expected, 4 some not, 2 and 3 as of statewalk test.",
    )
    parser.add_argument(
        "words", nargs="*", metavar="NAME", help="models, or folders of them; all if none is named"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """List or test; the exit code."""
    from statewalk.checker.library import matching

    what, *names = arguments.words or ["list"]
    if what not in ("list", "test"):
        names = [what, *names]
    found = list(dict.fromkeys(e for name in names or [None] for e in matching(name)))
    if what == "test":
        return _test(found)
    return _list(found) if names else _short(found)


def _short(found: list[Entry]) -> int:
    """Return the library at a glance."""
    column = 2 + max(len(entry.name) for entry in found)
    for entry in found:
        line = f"{entry.name:<{column}}{entry.line}"
        streams.say(fill(line, streams.width(), subsequent_indent=" " * column) + "\n")
    streams.say(f"More of one: statewalk models {found[0].name}\n")
    streams.say(f"Check one with: statewalk check {found[0].name}\n")
    return HOLDS


def _list(found: list[Entry]) -> int:
    from statewalk.checker.api import declared_within
    from statewalk.checker.commands.everyday.rows import expected_text
    from statewalk.checker.report.page import Page

    for entry in found:
        spec = declared_within(entry.path)
        about = entry.about + "\n" if len(found) == 1 else entry.line
        streams.say(f"{entry.name}\n{indent(about, '  ')}\n")
        constants = [f"{n}={v!r}" for n, v in spec.constants.items()]
        page = Page(streams.width())
        page.flow(["  constants       "], constants, between=" ")
        page.show(streams.out())
        for mutant in spec.declared.mutants:
            streams.say(f"  mutant          {mutant.name}: {mutant.line}\n")
        for configuration in spec.declared.configurations:
            streams.say(f"  {configuration.name:<28} {expected_text(configuration.expect)}\n")
    streams.say(f"Check one with: statewalk check {found[0].name}\n")
    return HOLDS


def _test(found: list[Entry]) -> int:
    from statewalk.checker.commands.everyday.rows import How
    from statewalk.checker.commands.everyday.testing import run_tests

    names = {str(entry.path): entry.name for entry in found}
    return run_tests(
        list(names),
        How(os.cpu_count() or 1),
        wanted=lambda configuration: configuration.expect is not None,
        shown=names.__getitem__,
    )
