"""The documentation as pages for browsers: guides, models, diary, errors, decisions. Nothing runs.

The results that stand in the pages are shown as they stand; tests see to it that they are true.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from statewalk.checker.diary.markup import markdown
from statewalk.checker.diary.site import page, script
from statewalk.checker.machine.files import write_text

NAME = "statewalk"
_SPECS = (".py", ".fizz", ".tla", ".cfg", ".patch")
_SECTIONS = (
    ("", "Start here"),
    ("tutorial", "Tutorial"),
    ("how-to", "How-to guides"),
    ("reference", "Reference"),
    ("explanation", "Explanation"),
    ("diary", "Diary"),
    ("models", "Models"),
    ("errors", "Errors"),
    ("decisions", "Decisions"),
)


@dataclass(frozen=True)
class Page:
    """A Markdown file, and where its page is: both below the folder of all."""

    source: Path
    text: str

    @property
    def target(self) -> Path:
        name = "index" if self.source.name == "README.md" else self.source.stem
        return self.source.with_name(f"{name}.html")

    @property
    def title(self) -> str:
        found = re.search(r"^# +(.*)$", self.text, re.MULTILINE)
        return found[1].replace("`", "") if found else self.source.stem


def read(folder: Path) -> list[Page]:
    """The pages of a folder, section by section, each with its opening page first."""
    found: list[Page] = []
    for name, _ in _SECTIONS:
        files = sorted((folder / name).glob("*.md"), key=lambda p: (p.name != "README.md", p.name))
        found += [Page(p.relative_to(folder), p.read_text(encoding="utf-8")) for p in files]
    return found


def write(folder: Path, site: Path) -> Path:
    """Write the pages of a folder; the file to begin with."""
    pages = read(folder)
    specs = [file for file in (folder / "diary").glob("*/*") if file.suffix in _SPECS]
    specs += folder.glob("*/*.ipynb")
    known = {one.source for one in pages} | {file.relative_to(folder) for file in specs}
    for file in specs:
        copied = site / file.relative_to(folder)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copied)
    for one in pages:
        text = str(markdown({}, partial(_link, one, known)).render(one.text))
        if one.source == Path("README.md"):
            text = text.replace("</h1>", f"</h1>{_search(pages)}", 1)
        top = os.path.relpath(".", one.target.parent)
        body = f"<article>{text}</article>"
        file = site / one.target
        file.parent.mkdir(parents=True, exist_ok=True)
        brand = f'<a class="brand" href="{top}/index.html">{NAME}</a>'
        write_text(file, page(one.title, brand, _all(pages, one), "Pages", body))
    return site / "index.html"


def _link(one: Page, known: set[Path], target: str) -> str | None:
    """Where a link leads in the site; what is not part of it is not linked to."""
    parts = urlsplit(target)
    if parts.scheme or not parts.path:
        return target
    path = Path(os.path.normpath(one.source.parent / parts.path))
    if path not in known and path / "README.md" in known:
        path /= "README.md"
    if path not in known:
        return None
    leads = Page(path, "").target if path.suffix == ".md" else path
    away = os.path.relpath(leads, one.source.parent)
    return Path(away).as_posix() + (f"#{parts.fragment}" if parts.fragment else "")


def _all(pages: Sequence[Page], here: Page) -> str:
    """Links to all pages; the sections that one is not in are folded."""
    found = ""
    for name, title in _SECTIONS:
        mine = [p for p in pages if p.source.parent == Path(name)]
        rows = "".join(_row(p, here) for p in mine)
        opened = " open" if here in mine else ""
        if mine:
            found += (
                f"<li><details{opened}><summary>{title}</summary><ol>{rows}</ol></details></li>"
            )
    return found


def _row(one: Page, here: Page) -> str:
    away = os.path.relpath(one.target, here.target.parent)
    current = " aria-current=page" if one == here else ""
    return f'<li><a href="{Path(away).as_posix()}"{current}>{escape(one.title)}</a></li>'


def _search(pages: Sequence[Page]) -> str:
    rows = "".join(
        f'<li><a href="{one.target.as_posix()}">{escape(one.title)}</a></li>' for one in pages
    )
    words = json.dumps([one.text.lower() for one in pages]).replace("<", "\\u003c")
    return (
        '<p class="search" hidden><input type="search" placeholder="Search the pages" '
        'aria-label="Search the pages"> <span aria-live="polite"></span></p>'
        f'<ol class="entries found">{rows}</ol>'
        f'<script type="application/json" id="words">{words}</script><script>{script()}</script>'
    )
