"""``statewalk replay``: repeat a saved trace."""

from __future__ import annotations

import argparse
import sys
from typing import Any


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "replay",
        help="repeat a trace, or say where it no longer happens",
        description="Repeat a saved trace step by step. Either it happens again, or the step that "
        "differs is named, with the reason.",
        epilog="Exit codes: 0 reproduced, 5 diverged, 2 mistake (no trace, another spec).",
    )
    parser.add_argument("trace", metavar="TRACE", help="a *.trace.json file of a run folder")
    parser.add_argument(
        "--spec", metavar="SPEC", help="the spec to repeat it on (the one it was made from)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Repeat, and print what came of it; the exit code."""
    from checker.commands.checking import terminal_width
    from checker.exits import DIVERGED, HOLDS
    from checker.replaying import replay
    from checker.report_replay import replay_page

    outcome = replay(arguments.trace, arguments.spec)
    replay_page(outcome, width=terminal_width()).show(sys.stdout)
    return HOLDS if outcome.reproduced else DIVERGED
