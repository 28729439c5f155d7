"""An entry as a Jupyter notebook: texts, files to write, commands to run with their output."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from statewalk.checker.diary.entry import Entry


def to_notebook(entry: Entry) -> str:
    """The notebook as JSON, in version 4.5 of its format."""
    cells: list[dict[str, Any]] = []
    pinned = sorted(entry.pinned.iterdir()) if entry.pinned.is_dir() else []
    known = [file for file in pinned if file.is_file()]
    at = 0
    for cell in entry.cells():
        if cell.kind == "drawn":  # a diagram stays a part of the text
            continue
        _say(cells, "\n".join(entry.lines[at : cell.first - 1]))
        at = cell.first + len(cell.lines) + 1
        if not any(c["cell_type"] == "code" for c in cells):
            for file in known:
                _run(cells, f"%%writefile {file.name}\n{file.read_text('utf-8')}")
        if cell.kind == "commands":
            for command, output in cell.commands:
                _run(cells, f"!{command}", "\n".join(output))
        elif cell.name in {file.name for file in known}:
            _say(cells, "\n".join(("```python", *cell.lines, "```")))
        else:
            more = "-a " if cell.name.endswith("+") else ""
            name = cell.name.removesuffix("+").rstrip()
            blank = "\n\n" if more else ""
            _run(cells, f"%%writefile {more}{name}\n{blank}" + "\n".join(cell.lines))
    _say(cells, "\n".join(entry.lines[at:]))
    for number, one in enumerate(cells):
        one["id"] = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def _say(cells: list[dict[str, Any]], text: str) -> None:
    if text.strip():
        cells.append({"cell_type": "markdown", "metadata": {}, "source": text.strip("\n")})


def _run(cells: list[dict[str, Any]], source: str, output: str = "") -> None:
    shown = [{"output_type": "stream", "name": "stdout", "text": output}] if output else []
    cells.append(
        {
            "cell_type": "code", "metadata": {}, "execution_count": None,
            "source": source, "outputs": shown,
        }
    )  # fmt: skip
