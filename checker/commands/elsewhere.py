"""Refusal of outside paths that somebody's file names: a spec is a program, and a folder is
written to.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

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
    if in_library(found) or _agreed(f"{named_by} names {found}, which lies elsewhere. Run it?"):
        return
    raise RunError(
        "SW406",
        f"{named_by} names a spec that lies elsewhere: {found}.",
        why="A spec is a program, and the file that names it may come from others.",
        help=f"If you trust it: --spec {spec}, or run the command where the spec is.",
    )


def ask_to_write(folder: Path, named: dict[str, Any]) -> None:
    """See to it that only below a run's folder is written what the run says: the places by the
    option that gives each. A terminal is asked about another.

    Raises:  RunError[SW407] for a place elsewhere
    """
    home = folder.resolve()
    for option, place in named.items():
        if not place:
            continue
        if option == "--master":
            found, inside = str(place), str(place).split("[", 1)[0] == "local"
        else:
            there = Path(str(place)).resolve()
            found, inside = str(there), there != home and there.is_relative_to(home)
        if inside or _agreed(f"{folder} asks for {option} {found}. Use it?"):
            continue
        raise RunError(
            "SW407",
            f"{folder} asks for {option} {found}, which lies elsewhere.",
            why="The command would write or contact it, and the folder may come from others.",
            help=f"If it is meant: statewalk resume {folder} {option} {found}"
            if option in OPTIONS
            else "Check the spec anew.",
        )


OPTIONS = {"--graph": "DIR", "--master": "URL", "--spark-folder": "DIR"}
"""Those that say again what may be used, and what they take."""


def _agreed(question: str) -> bool:
    """Return whether somebody at a terminal says yes."""
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
