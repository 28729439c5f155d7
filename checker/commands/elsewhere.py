"""A spec that a file names is code: it is only run unasked where it lies with what names it."""

from __future__ import annotations

import sys
from pathlib import Path

from statewalk.checker.library import in_library
from statewalk.dsl.errors import RunError

RUNS = ".statewalk"


def ask_to_run(spec: str, named_by: Path) -> None:
    """See to it that a spec may be run that a trace or the folder of a run names.

    It may where it lies in the current directory or below it, or in the folder of what names it or
    below; of runs in ``.statewalk`` that is the folder that has it. So may a model of the library.
    Otherwise a terminal is asked.

    Raises:  RunError[SW406] for a spec elsewhere
    """
    found, holder = Path(spec).resolve(), named_by.resolve()
    folder = holder if holder.is_dir() else holder.parent
    if RUNS in folder.parts:
        folder = Path(*folder.parts[: folder.parts.index(RUNS)])
    if not found.exists() or any(found.is_relative_to(f) for f in (Path.cwd(), folder)):
        return
    if in_library(found):
        return
    if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
        sys.stderr.write(f"{named_by} names {found}, which lies elsewhere. Run it? [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return
    raise RunError(
        "SW406",
        f"{named_by} names a spec that lies elsewhere: {found}.",
        why="A spec is a program, and the file that names it may come from others.",
        help=f"If you trust it: --spec {spec}, or run the command where the spec is.",
    )
