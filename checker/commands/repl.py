"""``statewalk repl``: a Python prompt at a state of a spec."""

from __future__ import annotations

import argparse
from typing import Any

from statewalk.checker.commands.explore import add_source, answers_of
from statewalk.checker.verdict.exits import HOLDS


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "repl",
        help="ask a state in Python, and go to others",
        description="A Python prompt with the names of a spec, bound to its initial state or to "
        "the last state of a trace. next() lists the enabled steps and takes one, find(...) "
        "goes to a state where an expression is true, why(...) explains what is "
        "disabled or false.",
    )
    add_source(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read and run statements until the input ends; the exit code."""
    from statewalk.checker.explore.console import HELP, Console

    console = Console(answers_of(arguments))
    console.interact(banner=f"{console.model.path}\n{HELP}", exitmsg="")
    return HOLDS
