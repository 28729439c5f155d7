"""The pages of a diary for browsers: an index with a search, and a page for each entry.

A page is one file that loads nothing. Its style and the script of the search are let in by their
hashes.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from statewalk.checker.diary.entry import DATED, copy_pinned, text_of
from statewalk.checker.diary.markup import anchor, markdown, to_html
from statewalk.checker.machine.files import write_text
from statewalk.checker.page.html import asset, hashed

if TYPE_CHECKING:
    from statewalk.checker.diary.entry import Entry
    from statewalk.checker.diary.play import Played


_ASSETS = Path(__file__).parent / "assets"


@dataclass(frozen=True)
class Also:
    """The additions to a page: elements of its head and at its end, and the sources that its policy
    lets in for them, by directive.
    """

    head: str = ""
    body: str = ""
    policy: Mapping[str, str] = field(default_factory=dict)


Besides = Callable[[Path, Path], Also]
"""From the source of a page and the way to the top of the site, to what the page has besides"""


def nothing(source: Path, top: Path) -> Also:
    """Return that a page has nothing besides."""
    return Also()


def write_site(
    played: Sequence[Played], found: Sequence[Entry], folder: Path, besides: Besides = nothing
) -> None:
    """Write the pages of some of the entries into a folder, and the index if it is all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in played:
        at = found.index(one.entry)
        around = _around(found, at)
        body = f'<article>{to_html(one)}</article><nav class="around">{around}</nav>'
        also = besides(one.entry.path, Path())
        write_text(folder / page_name(one.entry), _page(one.entry.title, found, at, body, also))
        if one.entry.pinned.is_dir():  # its files are linked to
            copy_pinned(one.entry.pinned, folder / one.entry.number)
    if len(played) == len(found):
        write_text(folder / "index.html", _page(_name_of(found), found, None, _index(played)))


def page_name(entry: Entry) -> str:
    """Return the file of an entry's page."""
    return entry.path.with_suffix(".html").name


def _name_of(found: Sequence[Entry]) -> str:
    readme = found[0].path.parent / "README.md"
    text = text_of(readme) if readme.exists() else ""
    title = re.search(r"^# +(.*)$", text, re.MULTILINE)
    return title[1] if title else "Diary"


def _index(played: Sequence[Played]) -> str:
    """Return the README of the folder up to its first section, the entries, and the words in
    them.
    """
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
        f"<script>{script('search')}</script>"
    )


def _opening(text: str) -> str:
    """Return the first paragraph below the title."""
    parts = [p.strip() for p in DATED.sub("", text).split("\n\n")]
    return next((" ".join(p.split()) for p in parts if p and p[0] not in "#<>`|"), "")


def _around(found: Sequence[Entry], at: int) -> str:
    """Return links to the entries before and after."""
    links = ""
    for word, other in (("Before", at - 1), ("Next", at + 1)):
        if 0 <= other < len(found):
            one = found[other]
            links += f'<a href="{page_name(one)}"><small>{word}</small>{escape(one.title)}</a>'
    return links


def _page(
    title: str, found: Sequence[Entry], at: int | None, body: str, also: Also = Also()
) -> str:
    links = "".join(
        f'<li><a href="{page_name(one)}"{" aria-current=page" if n == at else ""}>'
        f"<b>{one.number}</b> {escape(one.title)}</a></li>"
        for n, one in enumerate(found)
    )
    brand = f'<a class="brand" href="index.html">{escape(_name_of(found))}</a>'
    return page(title, brand, links, "Entries", body, also)


def page(title: str, brand: str, links: str, what: str, body: str, also: Also) -> str:
    """Return a page: the ``links`` to all are beside it, or fold where there is no room."""
    scripts = " ".join(f"'{hashed(script(name))}'" for name in ("search", "find", "copy"))
    rules = {"default-src": "'none'", "style-src": f"'{hashed(_style())}'", "script-src": scripts}
    for directive, more in also.policy.items():
        rules[directive] = f"{rules.get(directive, '')} {more}".strip()
    policy = "; ".join(f"{directive} {sources}" for directive, sources in rules.items())
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_style()}</style>\n{also.head}</head>\n<body>\n"
        f'<nav class="all">{brand}<details><summary>{what}</summary><ol>{links}</ol></details>'
        f"<ol>{links}</ol></nav>\n<main>{body}</main>\n{also.body}</body>\n</html>\n"
    )


@cache
def _style() -> str:
    own = (_ASSETS / "diary.css").read_text(encoding="utf-8")
    return "\n".join([asset("colours.css"), asset("lanes.css"), asset("graph.css"), own])


@cache
def script(name: str) -> str:
    """Return a script: ``search`` of a diary, ``find`` of all pages, or ``copy`` for blocks."""
    return (_ASSETS / f"{name}.js").read_text(encoding="utf-8")


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
    """Return the pages of a folder by section, in the order in which its README links to them."""
    links = (folder / "README.md").read_text(encoding="utf-8")

    def order(page: Path) -> tuple[bool, int, str]:
        at = links.find(f"({page.relative_to(folder).as_posix()})")
        return page.name != "README.md", at if at >= 0 else len(links), page.name

    found: list[Page] = []
    for name, _ in _SECTIONS:
        files = sorted((folder / name).glob("*.md"), key=order)
        found += [Page(p.relative_to(folder), p.read_text(encoding="utf-8")) for p in files]
    return found


def write(
    folder: Path, site: Path, besides: Besides = nothing, own: Mapping[Page, str] | None = None
) -> Path:
    """Write the pages of a folder, and those ``own`` ones whose bodies are given; the file to
    begin with.
    """
    pages = [*read(folder), *(own or {})]
    specs = [file for file in (folder / "diary").glob("*/*") if file.suffix in _SPECS]
    specs += folder.glob("*/*.ipynb")
    known = {one.source for one in pages} | {file.relative_to(folder) for file in specs}
    words = {title for p in pages if p.source == WORDS for title in _HEADING.findall(p.text)}
    for file in specs:
        copied = site / file.relative_to(folder)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copied)
    for one in pages:
        text = (own or {}).get(one) or str(
            markdown({}, partial(_link, one, known)).render(one.text)
        )
        contents = _contents(text)
        if one.source != WORDS:
            text = _with_words(text, one, words)
        if one.source == Path("README.md"):
            text, contents = text.replace("</h1>", f"</h1>{_search(pages)}", 1), ""
        top = Path(os.path.relpath(".", one.target.parent))
        near = [p for p in pages if p.source.parent == one.source.parent]
        body = (
            f'{contents}<article>{text}</article><nav class="around">{_neighbours(near, one)}</nav>'
            f"<script>{script('copy')}</script>"
        )
        file = site / one.target
        file.parent.mkdir(parents=True, exist_ok=True)
        brand = f'<a class="brand" href="{top.as_posix()}/index.html">{NAME}</a>'
        also = besides(folder / one.source, top)
        write_text(file, page(one.title, brand, _all(pages, one), "Pages", body, also))
    return site / "index.html"


def _link(one: Page, known: set[Path], target: str) -> str | None:
    """Return where a link leads in the site; what is not part of it is not linked to."""
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
    """Return links to all pages; the sections that one is not in are folded."""
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
    found = [section for one in pages for section in _sections(one)]
    sections = json.dumps(found, ensure_ascii=False).replace("<", "\\u003c")
    return (
        '<p class="search" hidden><input type="search" placeholder="Search the pages" '
        'aria-label="Search the pages"> <span aria-live="polite"></span></p>'
        '<ol class="entries found"></ol>'
        f'<script type="application/json" id="sections">{sections}</script>'
        f"<script>{script('find')}</script>"
    )


def _sections(one: Page) -> Iterator[dict[str, str]]:
    """Yield the sections of a page as the search shows them: where they are, and their text."""
    parts = re.split(r"^#{2,3} +(.*)$", _FENCE.sub("", one.text), flags=re.MULTILINE)
    for heading, text in zip(["", *parts[1::2]], parts[::2], strict=True):
        title = heading.replace("`", "")
        leads = one.target.as_posix() + (f"#{anchor(title)}" if title else "")
        plain = " ".join(_MARKS.sub(" ", re.sub(r"^# .*$", "", text, flags=re.M)).split())
        yield {"leads": leads, "title": one.title, "heading": title, "text": plain}


def _contents(text: str) -> str:
    """Return links to the sections of a rendered page; empty where there are few."""
    for tag in ("h2", "h3"):
        found = re.findall(rf'<{tag} id="(.*?)">(.*?)</{tag}>', text)
        if len(found) > 2:
            rows = "".join(
                f'<li><a href="#{name}">{re.sub("<.*?>", "", title)}</a></li>'
                for name, title in found
            )
            folded = f"<details><summary>On this page</summary><ol>{rows}</ol></details>"
            return f'<nav class="here">{folded}<b>On this page</b><ol>{rows}</ol></nav>'
    return ""


def _neighbours(pages: Sequence[Page], one: Page) -> str:
    """Return links to the pages of the section before and after."""
    at, links = pages.index(one), ""
    for word, other in (("Previous", at - 1), ("Next", at + 1)):
        if 0 <= other < len(pages):
            near = pages[other]
            links += f'<a href="{near.target.name}"><small>{word}</small>{escape(near.title)}</a>'
    return links


def _with_words(text: str, one: Page, words: set[str]) -> str:
    """Link each word of the language to its reference, where a page has it first."""
    leads = Path(os.path.relpath(Page(WORDS, "").target, one.target.parent)).as_posix()
    left = set(words)

    def linked(found: re.Match[str]) -> str:
        name = (found[2] or "").replace("<wbr>", "")
        if found[1] or name not in left:
            return found[0]
        left.discard(name)
        return f'<a class="word" href="{leads}#{anchor(name)}">{found[0]}</a>'

    return _CODE.sub(linked, text)


WORDS = Path("reference/words.md")
_HEADING = re.compile(r"^### +(\w+)$", re.MULTILINE)
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_MARKS = re.compile(r"[`*|>]|<!--.*?-->|\]\(.*?\)|\[|:?-{3,}:?")
_CODE = re.compile(
    r"(<a\b.*?</a>|<h\d.*?</h\d>|<pre.*?</pre>)|<code>@?((?:\w|<wbr>)+)(?:\([^<]*\))?</code>",
    re.DOTALL,
)
