"""An entry as a Jupyter notebook: texts, files to write, commands to run with their output."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from statewalk.checker.diary.entry import text_of

if TYPE_CHECKING:
    from statewalk.checker.diary.entry import Entry


_BESIDE = re.compile(r"\.\./\d\d/[\w-]+\.\w+")
_FOLD = re.compile(r"^</?details>\n?", re.MULTILINE)
_ASKED = re.compile(r"^<summary>(.*)</summary>$", re.MULTILINE)
_BEGIN = """\
import os
from pathlib import Path

top = globals().setdefault("top", Path.cwd())  # the same when this runs again
for folder in {folders}:
    (top / folder).mkdir(exist_ok=True)
os.chdir(top / "{number}")
os.environ |= {{"COLUMNS": "100", "TERM": "dumb"}}"""


def to_notebook(entry: Entry) -> str:
    """Return the notebook as JSON, in version 4.5 of its format.

    It writes the files that the entry works with into folders beside it, named as here.
    """
    cells: list[dict[str, Any]] = []
    known = _files(entry)
    folders = sorted({entry.number, *(name[3:5] for name in known if name.startswith("../"))})
    at = 0
    for cell in entry.cells():
        if cell.kind == "drawn":  # a diagram stays a part of the text
            continue
        _say(cells, "\n".join(entry.lines[at : cell.first - 1]))
        at = cell.first + len(cell.lines) + 1
        if not any(c["cell_type"] == "code" for c in cells):
            _run(cells, _BEGIN.format(folders=folders, number=entry.number))
            for name, text in known.items():
                _run(cells, f"%%writefile {name}\n{text}")
        if cell.kind == "commands":
            for command, output in cell.commands:
                _run(cells, f"!{command}", "\n".join(output))
        elif cell.name in known:
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


def _files(entry: Entry) -> dict[str, str]:
    """Return the files beside an entry, without solutions, and those of other entries that it
    names.
    """
    solutions = {exercise.solution for exercise in entry.exercises}
    own = sorted(entry.pinned.iterdir()) if entry.pinned.is_dir() else []
    names = [file.name for file in own] + sorted(set(_BESIDE.findall(entry.text)))
    files = {name: entry.pinned.parent / entry.number / name for name in names}
    return {
        name: text_of(file)
        for name, file in files.items()
        if name not in solutions and file.is_file() and not file.is_symlink()
    }


def _say(cells: list[dict[str, Any]], text: str) -> None:
    """A cell of text. Where a fold would end in another cell there is none, but its question."""
    if text.count("<details>") != text.count("</details>"):
        text = _ASKED.sub(r"**\1**", _FOLD.sub("", text))
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
