"""``statewalk convert``: a .fizz specification as text in the embedded language."""

from __future__ import annotations

import ast
from pathlib import Path

from statewalk.dsl.errors import RunError, source_lines
from statewalk.dsl.fizz.convert_blocks import with_blocks
from statewalk.dsl.fizz.read import parsed, read_fizz
from statewalk.dsl.fizz.text.parse import split_front_matter
from statewalk.dsl.source.texts import read_text

WIDTH = 100
_HEADER = '''"""{title}

Converted from {file}. It means the same: equal states, properties and fairness.
Worth doing by hand: give the fields types, make records classes (class X(Record)), take the
parameters of actions from roles.
"""
'''


def convert(path: str) -> str:
    """The text of a Python module that means what a .fizz file means.

    Raises:  RunError[SW302] for a file that cannot be read, RunError[SW150] for one of Python;
    SpecError for mistakes in it.
    """
    if Path(path).suffix == ".py":
        raise RunError(
            "SW150",
            f"{path} is in the embedded language already.",
            help="convert takes a .fizz file.",
        )
    text = read_text(path)
    spec = read_fizz(path, text)
    module = with_blocks(lambda: parsed(path, text), path, spec.options)
    title = _title(split_front_matter(text)[0]) or f"The specification {Path(path).stem}."
    header = _HEADER.format(title=_quoted(title), file=_quoted(Path(path).name))
    return header + "\n" + _layout(module, text)


def _quoted(text: str) -> str:
    """Text that stays inside the quotes around it."""
    return text.replace("\\", "\\\\").replace('"""', "'''")


def _title(text: str) -> str:
    """The first line of comment, if the file begins with one."""
    for line in source_lines(text):
        stripped = line.strip()
        if stripped.startswith("#"):
            found = stripped.strip("#- \t")
            if found:
                return found if found.endswith(".") else found + "."
        elif stripped:
            return ""
    return ""


def _layout(module: ast.Module, text: str) -> str:
    """The module's text: blank lines around definitions, comments above what they precede."""
    comments = _comments(text)
    parts: list[str] = []
    previous: ast.stmt | None = None
    for node in module.body:
        note = _comment_of(node, comments)
        parts.append(_gap(previous, node, note) + note + _wrapped(ast.unparse(node)))
        previous = node
    return "".join(parts) + "\n"


def _gap(previous: ast.stmt | None, node: ast.stmt, note: str) -> str:
    """The blank lines between two statements of a module."""
    if previous is None:
        return ""
    if any(isinstance(n, ast.ClassDef | ast.FunctionDef) for n in (previous, node)):
        return "\n\n\n"
    imports = [isinstance(n, ast.Import | ast.ImportFrom) for n in (previous, node)]
    standard = isinstance(previous, ast.ImportFrom) and previous.module == "typing"
    return "\n\n" if imports[0] != imports[1] or (all(imports) and standard) or note else "\n"


def _comments(text: str) -> dict[int, str]:
    """For each line of code that comments stand directly above: those comments."""
    found: dict[int, str] = {}
    above: list[str] = []
    for number, line in enumerate(source_lines(text), 1):
        stripped = line.strip()
        if stripped.startswith("#") and line.startswith("#"):
            above.append(stripped)
        elif stripped and above:
            found[number] = "\n".join(above) + "\n"
            above = []
        else:
            above = []
    return found


def _comment_of(node: ast.stmt, comments: dict[int, str]) -> str:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return ""
    return comments.pop(node.lineno, "")


def _wrapped(text: str) -> str:
    """Text with long imports broken."""
    lines = []
    for line in text.split("\n"):
        if line.startswith("from ") and len(line) > WIDTH:
            head, _, names = line.partition(" import ")
            listed = "".join(f"    {name},\n" for name in names.split(", "))
            lines.append(f"{head} import (\n{listed})")
        else:
            lines.append(line)
    return "\n".join(lines)
