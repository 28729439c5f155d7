"""The documentation becomes a site whose links lead somewhere, and which asks for nothing else."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from statewalk.checker.diary import site
from tests.cases import slow
from tests.places import ROOT


class Links(HTMLParser):
    """``loads``: what a page does not get, by its policy; styles in an element are part of it."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.ids: set[str] = set()
        self.loads: set[str] = set()
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if tag == "a" and name == "href" and value and not re.match(r"\w+:", value):
                self.targets.add(value)
            if name == "id" and value:
                self.ids.add(value)
            if name in ("src", "style") or tag == "link":
                self.loads.add(str(value))


def broken(site: Path) -> list[str]:
    pages = {page: Links(page) for page in site.rglob("*.html")}
    found = [f"{page}: loads {what}" for page, one in pages.items() for what in one.loads]
    for page, one in pages.items():
        for target in one.targets:
            name, _, part = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            if not file.is_file() or (part and file in pages and part not in pages[file].ids):
                found.append(f"{page}: {target}")
    return found


def small(folder: Path) -> Path:
    pages = {
        "README.md": "# All\n\n[a](guide.md#a-part) [out](../x.md) [d](diary/)\n"
        "[1](how-to/second.md) [2](how-to/first.md)\n",
        "how-to/first.md": "# First\n",
        "how-to/second.md": "# Second\n",
        "guide.md": "# The `guide`\n\n## A part\n\n<script>x</script> [error](errors/SW100.md)\n"
        "\n| a | b |\n|---|--:|\n| c | 1 |\n",
        "errors/SW100.md": "# SW100\n\n[back](../guide.md)\n",
        "diary/README.md": "# Diary\n",
        "diary/00-a.md": "# A\n\n[spec](00/a.py)\n",
        "diary/00/a.py": "x = 1\n",
    }
    for name, text in pages.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def test_a_folder_becomes_a_site(tmp_path: Path) -> None:
    first = site.write(small(tmp_path / "docs"), (tmp_path / "site").resolve())
    text = first.read_text("utf-8")

    assert [] == broken(tmp_path / "site")
    assert 'href="guide.html#a-part"' in text
    assert 'href="diary/index.html"' in text
    assert "<a>out</a>" in text
    assert "&lt;script&gt;" in (tmp_path / "site/guide.html").read_text("utf-8")
    assert "<td>c</td>\n<td class=right>1</td>" in (tmp_path / "site/guide.html").read_text("utf-8")
    assert 'href="00/a.py"' in (tmp_path / "site/diary/00-a.html").read_text("utf-8")
    assert "The guide</a>" in text
    assert text.index("Second</a>") < text.index("First</a>")  # as the README links to them


def test_a_page_has_contents_neighbours_and_links_to_words(tmp_path: Path) -> None:
    folder = small(tmp_path / "docs")
    (folder / "reference").mkdir()
    (folder / "reference/words.md").write_text("# Words\n\n### any_of\n\n### init\n")
    text = "# First\n\n`any_of(x)` `any_of` `other`\n\n## A\n\n## B\n\nFind *me*.\n\n## C\n"
    (folder / "how-to/first.md").write_text(text)
    index = site.write(folder, (tmp_path / "site").resolve()).read_text("utf-8")

    page = (tmp_path / "site/how-to/first.html").read_text("utf-8")

    assert [] == broken(tmp_path / "site")
    assert '<li><a href="#b">B</a></li>' in page
    assert '<a href="second.html"><small>Previous</small>Second</a>' in page
    assert 1 == page.count('href="../reference/words.html#any_of"')
    found = json.loads(re.findall(r'id="sections">(.*?)</script>', index)[0])
    wanted = {"leads": "how-to/first.html#b", "title": "First", "heading": "B", "text": "Find me ."}
    assert wanted in found


CASES = [slow(ROOT / "docs")]


@pytest.mark.parametrize("folder", CASES, ids=["docs"])
def test_the_documentation_is_a_site(folder: Path, tmp_path: Path) -> None:
    assert 0 == main(["docs", "--out", str(tmp_path)])
    assert [] == broken(tmp_path.resolve())
    assert len(list(folder.rglob("*.md"))) == len(list(tmp_path.rglob("*.html")))
