"""``statewalk convert``: a .fizz specification in the embedded language."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "convert",
        help="convert a .fizz spec to Python",
        description="Print a .fizz spec as a Python module with equal states and verdicts.",
    )
    parser.add_argument("spec", metavar="FILE.fizz", help="the specification")
    parser.add_argument(
        "--out", metavar="FILE.py", help="a file to write, which must not exist yet"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Convert and print; the exit code."""
    from statewalk.dsl.errors import RunError, printable
    from statewalk.dsl.fizz.convert import convert

    text = printable(convert(arguments.spec))
    if arguments.out is None:
        sys.stdout.write(text)
        return 0
    try:
        with Path(arguments.out).open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise RunError(
            "SW403",
            f"{arguments.out} cannot be written: {error.strerror}.",
            help="Give the name of a new file with --out.",
        ) from error
    return 0
