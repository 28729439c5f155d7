"""What only the text of a spec tells, and what of it a report quotes."""

from __future__ import annotations

import ast
import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from statewalk.dsl.errors import source_lines
from statewalk.dsl.files import MOST_OF_A_TEXT, read_text

if TYPE_CHECKING:
    from statewalk.dsl.model import Model


Version = tuple[str, int, int]
"""A file as it is now: its place, when it was changed, its size."""


def _version(file: str) -> Version:
    try:
        found = os.stat(file)
    except OSError:
        return (file, 0, 0)
    return (os.path.abspath(file), found.st_mtime_ns, found.st_size)


def lines_of(file: str) -> tuple[str, ...]:
    """The lines of a file; none when it cannot be read."""
    return _lines(_version(file))


@lru_cache(maxsize=64)
def _lines(version: Version) -> tuple[str, ...]:
    try:
        text = read_text(version[0], errors="replace", most=MOST_OF_A_TEXT)
    except OSError:
        return ()
    return tuple(source_lines(text))


def line_of(file: str, number: int, column: int = 0) -> str:
    """One line of a file, counted from 1, from a column on, without the blanks around it."""
    lines = lines_of(file)
    return lines[number - 1][column:].strip() if 0 < number <= len(lines) else ""


def has_assertions(model: Model) -> bool:
    """Whether steps of a spec may fail an ``assert``."""
    return any(_asserts(file) for file in model.sources)


def _asserts(file: str) -> bool:
    text = "\n".join(lines_of(file))
    if re.search(r"^[ \t]+assert\b", text, re.MULTILINE) is None:
        return False
    tree = parsed(file)
    if tree is None:
        return False
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    return any(isinstance(n, ast.Assert) for f in functions for n in ast.walk(f))


def parsed(file: str) -> ast.Module | None:
    """The syntax tree of a Python file; None for others."""
    return _parsed(_version(file)) if file.endswith(".py") else None


@lru_cache(maxsize=64)
def _parsed(version: Version) -> ast.Module | None:
    try:
        return ast.parse("\n".join(_lines(version)))
    except (SyntaxError, ValueError, RecursionError):
        return None


def function_at(file: str, line: int) -> ast.FunctionDef | None:
    """The function whose ``def`` (or first decorator) is on a line."""
    tree = parsed(file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first <= line <= node.lineno:
                return node
    return None


def function_named(file: str, name: str, line: int) -> ast.FunctionDef | None:
    """The function of a name in a file; of several, the one that starts nearest to a line."""
    tree = parsed(file)
    found = [
        n
        for n in (ast.walk(tree) if tree else ())
        if isinstance(n, ast.FunctionDef) and n.name == name
    ]
    return min(found, key=lambda n: abs(n.lineno - line), default=None)


def assert_at(file: str, line: int) -> ast.Assert | None:
    """The innermost ``assert`` that spans a line of a Python file."""
    tree = parsed(file)
    found = [
        n
        for n in (ast.walk(tree) if tree else ())
        if isinstance(n, ast.Assert) and n.lineno <= line <= (n.end_lineno or line)
    ]
    return max(found, key=lambda n: n.lineno, default=None)
