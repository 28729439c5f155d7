"""inside.md and the glossary name only what there is, and show what the code gives."""

from __future__ import annotations

import doctest
import re
from functools import cache
from importlib import import_module

import pytest

from tests.architecture.sources import sources
from tests.places import ROOT

PAGE = (ROOT / "docs/explanation/inside.md").read_text(encoding="utf-8")
GLOSSARY = (ROOT / "docs/reference/glossary.md").read_text(encoding="utf-8")


def in_code(page: str) -> set[str]:
    """Return what a page sets as code, outside of its blocks."""
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    return set(re.findall(r"`([^`\n]+)`", prose))


def entries() -> set[str]:
    """Return what the glossary says a word is called in code."""
    named = re.findall(r"^- \*\*.*?\*\* \((`.*?)\)", GLOSSARY, re.MULTILINE)
    return {name for names in named for name in re.findall(r"`([^`]+)`", names)}


@cache
def names() -> set[str]:
    """Every name in the sources, and every string that could be one."""
    found = set()
    for source in sources(ROOT):
        for node in source.nodes:
            for part in ("id", "attr", "arg", "name", "value"):
                said = getattr(node, part, None)
                if isinstance(said, str):
                    found.add(said)
    return found


def test_every_path_is_there() -> None:
    said = in_code(PAGE) | in_code(GLOSSARY)
    paths = {code for code in said if "/" in code}
    tests = {code for code in said if re.fullmatch(r"test_\w+\.py", code)}

    assert set() == {path for path in paths if not (ROOT / path).exists()}
    assert set() == tests - {file.name for file in (ROOT / "tests").rglob("test_*.py")}


def test_every_dotted_name_leads_somewhere() -> None:
    dotted = {c for c in in_code(PAGE) if re.fullmatch(r"(statewalk\.)?(dsl|checker)(\.\w+)+", c)}
    for name in sorted(dotted):
        module, _, last = f"statewalk.{name.removeprefix('statewalk.')}".rpartition(".")

        assert hasattr(import_module(module), last), name


@pytest.mark.sampled(2)
@pytest.mark.parametrize("page", ["explanation/inside.md", "reference/glossary.md"])
def test_every_name_occurs_in_the_code(page: str) -> None:
    said = in_code(PAGE) if page == "explanation/inside.md" else entries()

    assert set() == {name for name in said if re.fullmatch(r"[A-Za-z]\w+", name)} - names()


def test_the_example_gives_what_the_page_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = re.sub(r"^```.*$", "", PAGE, flags=re.MULTILINE)
    said: list[str] = []
    example = doctest.DocTestParser().get_doctest(text, {}, "inside.md", "inside.md", 0)
    doctest.DocTestRunner(verbose=False).run(example, out=said.append)

    assert "" == "".join(said)
