"""Answers a page, in the Python of its worker: commands, exercises, constants.

A request and its reply are JSON. Files of a page lie in a folder of their own until the page is
left, so that a command may name what an earlier one wrote.
"""

from __future__ import annotations

import io
import json
import linecache
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from statewalk.checker.api import declared_within
from statewalk.checker.diary.entry import Entry, copy_pinned, entries, entry
from statewalk.checker.diary.play import answers, change, execute, output, shown_in
from statewalk.checker.liveness import kernels
from statewalk.checker.verdict import spec_text
from statewalk.dsl import inputs
from statewalk.dsl.errors import RunError, StatewalkError
from statewalk.dsl.source import texts

Tell = Callable[[str], object]

DIARY = Path("/home/diary")  # where the page's worker unpacks it
WORK = Path("/home/work")
_PAGE = ".page.html"
_LIMITED = ("check", "compare")
_BLOCK = "  checking "  # in the first line of the display of progress
_NO_PAGE = "--html"
_MISTAKE = re.compile(r"(\S+: )?SW\d{3} ")
_KNOWN = (
    "check", "compare", "explain", "export", "models", "replay", "show", "simulate", "test",
)  # fmt: skip
kernels.SMALL = sys.maxsize  # nothing is compiled here


def answer(request: str, tell: Tell) -> str:
    """Return the reply to a request; ``tell`` gets lines of progress meanwhile."""
    asked: dict[str, Any] = json.loads(request)
    _forget()
    with _told(tell):
        try:
            return json.dumps(_KINDS[asked["kind"]](asked))
        except StatewalkError as error:
            return json.dumps({"lines": str(error).splitlines(), "mistake": True})


def _forget() -> None:
    """Forget the texts of files: the reader changed them."""
    linecache.clearcache()
    for module in (spec_text, texts, inputs):
        for found in vars(module).values():
            if hasattr(found, "cache_clear"):
                found.cache_clear()


class _Progress(io.StringIO):
    """Standard error, as if it were a terminal: blocks of progress are told, the rest is kept."""

    def __init__(self, tell: Tell) -> None:
        super().__init__()
        self.block = tell

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if _BLOCK in text.partition("\n")[0]:
            self.block(text)
        elif not text.startswith("\x1b["):
            super().write(text)
        return len(text)


@contextmanager
def _told(tell: Tell) -> Iterator[None]:
    before, sys.stderr = sys.stderr, _Progress(tell)
    try:
        yield
    finally:
        sys.stderr = before


def _run(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Run a command below the cells of an entry up to it, or beside the files of the playground."""
    one, here = _place(asked)
    if one is not None:
        cells = one.cells()
        for number, cell in enumerate(cells[: asked["cell"]]):
            if cell.kind == "file":
                change(one, cell, here, asked["texts"].get(str(number)))
    for name, text in asked.get("files", {}).items():
        (here / name).write_text(text, encoding="utf-8")
    limits = asked["limits"]
    found: list[str] = []

    def limited(words: list[str], folder: Path) -> str:
        if words[0] not in _KNOWN:
            raise RunError(
                "SW381", f"This page does not run statewalk {words[0]}.",
                why=f"In a browser there are {', '.join(_KNOWN)}.",
                help="Install statewalk for the others.",
            )  # fmt: skip
        more = []
        if words[0] in _LIMITED:
            for name in ("--max-states", "--timeout"):
                if not any(word.partition("=")[0] == name for word in words):
                    more += [name, str(limits[name])]
        page = folder / _PAGE
        page.unlink(missing_ok=True)
        shown = words[0] in _LIMITED and _NO_PAGE not in words
        printed = execute([*words, *more, *[_NO_PAGE, _PAGE] * shown], folder)
        if shown and not page.exists() and _NO_PAGE in printed:  # of several checks there is none
            printed = execute([*words, *more], folder)
        if page.exists() and not _MISTAKE.match(printed):  # of a mistake it shows no more
            found.append(page.read_text(encoding="utf-8"))
        return printed

    lines = output(one or Entry(Path("playground"), ""), asked["command"], here, limited)
    places = dict(_places(one, asked, here)) if one is not None else {}
    return {"lines": lines, "page": found[-1] if found else None, "places": places}


def _places(one: Entry, asked: Mapping[str, Any], here: Path) -> Iterator[tuple[int, Any]]:
    """Yield, by cell, which of its lines shows which one of its file."""
    for number, cell in enumerate(one.cells()[: asked["cell"]]):
        file = here / cell.name.removesuffix("+").rstrip()
        if cell.kind == "file" and file.is_file():
            text = asked["texts"].get(str(number), "\n".join(cell.lines))
            yield number, shown_in(text, file.read_text(encoding="utf-8"))


def _place(asked: Mapping[str, Any]) -> tuple[Entry | None, Path]:
    """Return the entry that a page shows, and the folder where its commands run."""
    if "entry" not in asked:
        WORK.mkdir(parents=True, exist_ok=True)
        return None, WORK
    for folder in DIARY.glob("[0-9][0-9]"):
        copy_pinned(folder, WORK / folder.name)
    one = entry(entries(DIARY), asked["entry"])
    here = WORK / one.number
    here.mkdir(parents=True, exist_ok=True)
    return one, here


def _judge(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Judge a solution as `statewalk diary check` does."""
    one, here = _place(asked)
    if one is None or not one.exercises:
        raise RunError("SW380", "There is no exercise that is checked.")
    mine = here / f"my{Path(one.exercises[0].spec).suffix}"
    mine.write_text(asked["text"], encoding="utf-8")
    rows = [
        {"command": command.replace(str(mine), mine.name), "lines": printed.splitlines(), "ok": ok}
        for exercise in one.exercises
        for command, printed, ok in answers(one, exercise, mine)
    ]
    return {"rows": rows, "solved": all(row["ok"] for row in rows)}


def _constants(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the constants of a spec with their values, and which of them it names values for."""
    _, here = _place(asked)
    file = here / asked["name"]
    file.write_text(asked["text"], encoding="utf-8")
    spec = declared_within(file)
    return {
        "constants": {name: str(value) for name, value in spec.constants.items()},
        "choices": {"MUTANT": ["none", *(one.name for one in spec.declared.mutants)]},
    }


_KINDS = {"run": _run, "judge": _judge, "constants": _constants}
