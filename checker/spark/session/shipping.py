"""Statewalk as an archive, for executors that have only Python and what it depends on.

Spark unpacks it where an executor runs, so kernels lie there as files. Those that are compiled here
go along: a node with the same kind of processor need not compile them.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import statewalk

FOLDER = "statewalk-of-the-driver"
_KINDS = (".py", ".lark", ".css", ".js", ".nbi", ".nbc")


def archive(folder: Path) -> Path:
    """An archive of this statewalk, made in a folder."""
    root, made = Path(statewalk.__file__).resolve().parent, folder / "statewalk.zip"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as into:
        for here, _, names in os.walk(root, followlinks=True):
            for file in sorted(Path(here, name) for name in names):
                if file.suffix in _KINDS:
                    into.write(file, file.relative_to(root.parent))
    return made


def ship(context: Any, folder: Path) -> None:
    """Let the Python of a context's executors find this statewalk before any other."""
    context.addArchive(f"{archive(folder)}#{FOLDER}")
    others = context.environment.get("PYTHONPATH", "")
    context.environment["PYTHONPATH"] = os.pathsep.join(filter(None, (FOLDER, others)))
