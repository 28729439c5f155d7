"""Runs statewalk once more in the same process, where the machine has no others."""

from __future__ import annotations

import os
import runpy
import sys
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path

_SETTINGS = {"COLUMNS": "100", "NO_COLOR": "1"}


def here(words: list[str], folder: Path | None = None) -> tuple[str, str, int]:
    """Run `statewalk` in a folder; what it printed and said on standard error, and its code."""
    before = {name: os.environ.get(name) for name in _SETTINGS}
    argv, said, code = sys.argv, sys.stderr, 0
    printed = StringIO()
    at = said.tell() if isinstance(said, StringIO) else 0
    os.environ.update(_SETTINGS)
    sys.argv = ["statewalk", *words]
    try:
        with chdir(folder or Path()), redirect_stdout(printed):
            runpy.run_module("statewalk", run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        sys.argv = argv
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
    return printed.getvalue(), said.getvalue()[at:] if isinstance(said, StringIO) else "", code
