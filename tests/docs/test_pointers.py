"""References in docstrings, comments and pages exist: modules, names, files, headings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.places import ROOT

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "tests/README.md"]
DOTTED = re.compile(r"`(?:statewalk\.)?((?:dsl|checker|models)(?:\.\w+)+)`")
TWIN = re.compile(r"twin[^:]*:\s+statewalk\.(\w+(?:\.\w+)*)")
LINK = re.compile(r"\]\(([^)#\s:]*)(?:#([^)\s]+))?\)")


@cache
def defined(file: Path) -> dict[str, ast.AST]:
    """Return what a module defines, by name; members as ``Class.name``."""
    found: dict[str, ast.AST] = {}

    def collect(node: ast.AST, prefix: str) -> None:
        for child in ast.walk(node) if prefix else ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef) and child is not node:
                found[prefix + child.name] = child
                if isinstance(child, ast.ClassDef) and not prefix:
                    collect(child, f"{child.name}.")
            elif isinstance(child, ast.Assign | ast.AnnAssign):
                targets = child.targets if isinstance(child, ast.Assign) else [child.target]
                for target in targets:
                    name = getattr(target, "id", getattr(target, "attr", None))
                    found[f"{prefix}{name}"] = child

    collect(ast.parse(file.read_text("utf-8")), "")
    return found


def leads_somewhere(dotted: str) -> bool:
    at, parts = ROOT, dotted.split(".")
    while parts and (at / parts[0]).is_dir():
        at /= parts.pop(0)
    if parts and (at / f"{parts[0]}.py").is_file():
        file = at / f"{parts.pop(0)}.py"
    else:
        file = at / "__init__.py"
    return not parts or (file.is_file() and ".".join(parts) in defined(file))


def sources() -> Iterator[tuple[str, str]]:
    for folder in ("dsl", "checker", "models"):
        for file in (ROOT / folder).rglob("*.py"):
            yield file.relative_to(ROOT).as_posix(), file.read_text("utf-8")


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_dotted_name_in_the_sources_leads_somewhere() -> None:
    said = [
        (path, n) for path, text in sources() for n in DOTTED.findall(text) + TWIN.findall(text)
    ]

    assert [] == [(path, name) for path, name in said if not leads_somewhere(name)]


def test_every_link_of_a_page_leads_somewhere() -> None:
    lost = []
    for page in PAGES:
        for target, anchor in LINK.findall(page.read_text("utf-8")):
            file = (page.parent / target).resolve() if target else page
            if not file.exists() or (anchor and anchor not in anchors(file)):
                lost.append(f"{page.relative_to(ROOT)}: {target}#{anchor}")

    assert [] == lost
