"""Runs the code cells of a notebook as Jupyter would, without it. As a script it writes anew what
comes out of the cells of the tutorial: ``python -m tests.docs.notebook``.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from statewalk.checker.library import library_folder
from tests.places import ROOT

TUTORIAL = ROOT / "docs/tutorial/tutorial.ipynb"
_WAYS = {"text/html": "_repr_html_"}


def read(file: Path = TUTORIAL) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def outputs(notebook: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """Yield what comes out of each code cell, in a folder that is thrown away."""
    names: dict[str, Any] = {"__name__": "__main__"}
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for number, cell in enumerate(code_cells(notebook), 1):
                yield _run("".join(cell["source"]), names, number)
        finally:
            names.clear()  # DuckDB complains of what outlives it
            os.chdir(here)


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _run(text: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    tree = ast.parse(text)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value: Any = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append(
            {"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())}
        )
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        for kind, way in _WAYS.items():
            if hasattr(value, way):
                data[kind] = _lines(getattr(value, way)())
        found.append(
            {
                "output_type": "execute_result",
                "execution_count": number,
                "metadata": {},
                "data": data,
            }
        )
    return found


def _lines(text: str) -> list[str]:
    """A text as notebooks keep it; durations are not those of this machine, nor places."""
    text = text.replace(f"{library_folder()}/", "models/")
    text = re.sub(r"\b\d+(\.\d+)? (m?s|min)\b", "0.1 s", text)
    return text.splitlines(keepends=True)


def write(file: Path = TUTORIAL) -> None:
    notebook = read(file)
    for number, (cell, found) in enumerate(
        zip(code_cells(notebook), outputs(notebook), strict=True), 1
    ):
        cell["outputs"] = [one for one in found if not _is_page(one)]
        cell["execution_count"] = number
    file.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _is_page(output: dict[str, Any]) -> bool:
    """Return whether it is a page in a frame, which is too large to be kept."""
    return "<iframe" in "".join(output.get("data", {}).get("text/html", []))


if __name__ == "__main__":
    write()
