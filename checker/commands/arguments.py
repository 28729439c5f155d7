"""Options that are more than text, as the parsers of all commands read them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from statewalk.dsl.errors import RunError

T = TypeVar("T")
# options of all commands that say where something is written
_WRITTEN = frozenset(
    {"json", "html", "junit", "sarif", "svg", "dot", "markdown", "pytest", "events", "out"}
)


def argument(read: Callable[[str], T]) -> Callable[[str], T]:
    """Return a reader as argparse wants it: a ValueError's text becomes the message."""

    def reader(text: str) -> T:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return reader


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the option that gives constants values."""
    parser.add_argument(
        "--set", action="append", default=[], dest="settings", metavar="NAME=VALUE",
        help="give a constant a value; repeatable",
    )  # fmt: skip


def keep_apart(arguments: argparse.Namespace) -> None:
    """Refuse to write a file that the command reads, or that it writes already.

    Raises:  RunError[SW403]
    """
    values = vars(arguments)
    read = [
        file for name in values.keys() - _WRITTEN - {"command_line"} for file in _in(values[name])
    ]
    read += [file.rpartition(":")[0] for file in read if ":" in file]  # --map FILE:FUNCTION
    kept = {os.path.realpath(file): "the command reads it" for file in read if os.path.isfile(file)}
    for name in sorted(_WRITTEN & values.keys()):
        for file in _in(values[name]):
            place = os.path.realpath(file)
            if os.path.exists(file) and not os.path.isfile(file):  # a folder, a pipe, a device
                continue
            if (why := kept.get(place)) is not None:
                raise RunError(
                    "SW403",
                    f"{file} cannot be written: {why}.",
                    help=f"Give another place with --{name} FILE.",
                )
            kept[place] = f"--{name} writes it already"


def _in(value: object) -> Iterator[str]:
    """Yield the names of files that the value of an argument may be."""
    for one in value if isinstance(value, list | tuple) else [value]:
        if isinstance(one, str | Path) and str(one) not in ("", "-"):
            yield str(one)
