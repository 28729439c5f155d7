"""``statewalk docs``: the documentation as pages, without a network."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "docs",
        help="write the documentation as pages for a browser",
        description="Write all pages that came with statewalk (guides, models, the diary, errors, "
        "decisions) as files for a browser, which load nothing.",
    )
    parser.add_argument(
        "--out", metavar="SITE", default=".statewalk/docs", help="where pages go (%(default)s)"
    )
    parser.add_argument("--open", action="store_true", help="open them in a browser")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write; the exit code."""
    from statewalk.checker.commands.explain import folder
    from statewalk.checker.diary.docs import write

    first = write(folder(), Path(arguments.out))
    streams.say(f"pages {first}\n")
    if arguments.open:
        import webbrowser

        webbrowser.open(first.resolve().as_uri())
    return HOLDS
