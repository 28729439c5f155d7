"""The pages of a diary for browsers: an index with a search, and a page for each entry.

A page is one file that loads nothing. Its style and the script of the search are let in by their
hashes.
"""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from statewalk.checker.diary.entry import DATED, copy_pinned, text_of
from statewalk.checker.diary.markup import markdown, to_html
from statewalk.checker.machine.files import write_text
from statewalk.checker.page.html import asset, hashed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from statewalk.checker.diary.entry import Entry
    from statewalk.checker.diary.play import Played

_ASSETS = Path(__file__).parent / "assets"


def write_site(played: Sequence[Played], found: Sequence[Entry], folder: Path) -> None:
    """Write the pages of some of the entries into a folder, and the index if it is all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in played:
        at = found.index(one.entry)
        around = _around(found, at)
        body = f'<article>{to_html(one)}</article><nav class="around">{around}</nav>'
        write_text(folder / page_name(one.entry), _page(one.entry.title, found, at, body))
        if one.entry.pinned.is_dir():  # its files are linked to
            copy_pinned(one.entry.pinned, folder / one.entry.number)
    if len(played) == len(found):
        write_text(folder / "index.html", _page(_name_of(found), found, None, _index(played)))


def page_name(entry: Entry) -> str:
    """The file of an entry's page."""
    return entry.path.with_suffix(".html").name


def _name_of(found: Sequence[Entry]) -> str:
    readme = found[0].path.parent / "README.md"
    text = text_of(readme) if readme.exists() else ""
    title = re.search(r"^# +(.*)$", text, re.MULTILINE)
    return title[1] if title else "Diary"


def _index(played: Sequence[Played]) -> str:
    """The README of the folder up to its first section, the entries, and the words in them."""
    readme = played[0].entry.path.parent / "README.md"
    text = text_of(readme) if readme.exists() else "# Diary\n"
    opening = markdown({}).render(text.partition("\n## ")[0])
    rows = "".join(
        f'<li><a href="{page_name(p.entry)}"><b>{p.entry.number}</b> {escape(p.entry.title)}</a>'
        f" <small>{p.entry.date}</small><p>{markdown({}).renderInline(_opening(p.text))}</p></li>"
        for p in played
    )
    words = json.dumps([p.text.lower() for p in played]).replace("<", "\\u003c")
    return (
        f"<article>{opening}"
        '<p class="search" hidden><input type="search" placeholder="Search the entries" '
        'aria-label="Search the entries"> <span aria-live="polite"></span></p>'
        f'<ol class="entries">{rows}</ol></article>'
        f'<script type="application/json" id="words">{words}</script>'
        f"<script>{script()}</script>"
    )


def _opening(text: str) -> str:
    """The first paragraph below the title."""
    parts = [p.strip() for p in DATED.sub("", text).split("\n\n")]
    return next((" ".join(p.split()) for p in parts if p and p[0] not in "#<>`|"), "")


def _around(found: Sequence[Entry], at: int) -> str:
    """Links to the entries before and after."""
    links = ""
    for word, other in (("Before", at - 1), ("Next", at + 1)):
        if 0 <= other < len(found):
            one = found[other]
            links += f'<a href="{page_name(one)}"><small>{word}</small>{escape(one.title)}</a>'
    return links


def _page(title: str, found: Sequence[Entry], at: int | None, body: str) -> str:
    links = "".join(
        f'<li><a href="{page_name(one)}"{" aria-current=page" if n == at else ""}>'
        f"<b>{one.number}</b> {escape(one.title)}</a></li>"
        for n, one in enumerate(found)
    )
    brand = f'<a class="brand" href="index.html">{escape(_name_of(found))}</a>'
    return page(title, brand, links, "Entries", body)


def page(title: str, brand: str, links: str, what: str, body: str) -> str:
    """A page: the ``links`` to all are beside it, or fold where there is no room."""
    policy = f"default-src 'none'; style-src '{hashed(_style())}'; script-src '{hashed(script())}'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_style()}</style>\n</head>\n<body>\n"
        f'<nav class="all">{brand}<details><summary>{what}</summary><ol>{links}</ol></details>'
        f"<ol>{links}</ol></nav>\n<main>{body}</main>\n</body>\n</html>\n"
    )


@cache
def _style() -> str:
    own = (_ASSETS / "diary.css").read_text(encoding="utf-8")
    return "\n".join([asset("colours.css"), asset("lanes.css"), asset("graph.css"), own])


@cache
def script() -> str:
    """The search."""
    return (_ASSETS / "search.js").read_text(encoding="utf-8")
