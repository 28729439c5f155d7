"""The place where a spec is running, read from its frames."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from statewalk.dsl.source.modules import FILES

_HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OURS = tuple(os.path.join(_HOME, name, "") for name in ("dsl", "checker"))
"""Beginnings of the paths of our own code."""
_CALLERS = {
    ("model.py", "take"): "the action",
    ("model.py", "holds"): "the property",
    ("initial.py", "compute"): "the initial states",
    ("modules.py", "run"): "loading the spec",
    ("loader.py", "load"): "loading the spec",
}

Limit = Literal["memory", "time", "interrupt", "killed"]
"""What ends a spec from outside."""
Frames = Iterable[tuple[str, int, str]]


@dataclass(frozen=True)
class Place:
    """The place where a spec was running: ``what`` in words, and the innermost line of its
    own files.

    ``by`` is the signal that ended it, if one did.
    """

    what: str
    file: str
    line: int
    by: str = ""

    def __str__(self) -> str:
        return f"{self.what} ({self.file}:{self.line})" if self.file else self.what


def place_of(frames: Frames, files: Iterable[str] = FILES) -> Place | None:
    """Return where the spec is running, from (file, line, function), innermost first; None if it is
    not.

    ``files`` are those of the spec.
    """
    known = {file.encode("ascii", "backslashreplace").decode(): file for file in files}
    inner: tuple[str, int] | None = None
    name = ""
    for file, line, function in frames:
        if file in files or file in known:  # a dump writes it in ASCII
            inner = inner or (known.get(file, file), line)
            name = _named(inner[0], line) if function.startswith("<") else function
        elif file.startswith(OURS):
            what = _CALLERS.get((os.path.basename(file), function))
            if what is not None and inner is not None:
                named = f"{what} '{name}'" if name and not what.startswith("loading") else what
                return Place(named, *inner)
    return Place(f"'{name}'" if name else "the spec", *inner) if inner else None


def files_of_specs() -> set[str]:
    """Return the files of the specs that were loaded, or begun to be."""
    return set(FILES)


def place_of_error(error: BaseException) -> Place | None:
    """Return where the spec was running when something was raised in it."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append((code.co_filename, trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    return place_of(reversed(frames))


def _named(file: str, line: int) -> str:
    """Return the outermost function around a line, for code that has no name of its own."""
    with suppress(OSError, SyntaxError, ValueError), open(file, encoding="utf-8-sig") as source:
        for node in ast.walk(ast.parse(source.read())):
            if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0):
                return node.name
    return ""
