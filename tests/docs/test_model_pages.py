"""Pages on models show what statewalk prints; `docs/models/generate.py` brings them up to date."""

from __future__ import annotations

import re
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.loader import load
from tests.cases import slow
from tests.places import ROOT

FOLDER = ROOT / "docs" / "models"
PAGES = sorted(FOLDER.glob("*.md"))
KINDS = [
    "configurations",
    "matrices",
    "counts",
    "formats",
    "flows",
]
LONG = ["fields", "figures", "graphs", "traces", "stories", "comparisons"]
LOADED_OFTEN = (
    "kafka-coordinator",
    "kafka-transactions",
    "paimon",
    "tables",
)  # pages with many flows of large models
CONFIGURED = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
CONFIGURATIONS = re.compile(r"^<!-- configurations: (\S+)", re.MULTILINE)
NAMED = re.compile(r"^<!-- matrix: (\S+) -->\n\n(.*?\n)(?=\n|\Z)", re.MULTILINE | re.DOTALL)


def parts() -> list[Any]:
    """Each kind of each page; what takes long is slow."""
    quick = [(p, k) for p in PAGES for k in KINDS if k != "flows" or p.stem not in LOADED_OFTEN]
    return [slow(p, k) if (p, k) not in quick else (p, k) for p in PAGES for k in [*KINDS, *LONG]]


@pytest.fixture(scope="module")
def generate() -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / "generate.py"))


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("page", "kind"), parts(), ids=lambda v: v.stem if isinstance(v, Path) else v
)
def test_generated_parts_are_fresh(generate: dict[str, Any], page: Path, kind: str) -> None:
    text = page.read_text(encoding="utf-8")

    assert generate["fresh"](text, [kind]) == text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_shows_its_configurations_and_a_trace(
    generate: dict[str, Any], page: Path
) -> None:
    text = page.read_text(encoding="utf-8")

    assert any(found(generate, kind, text) for kind in ("traces", "flows"))
    tables = ("configurations", "counts", "formats", "matrices")
    assert any(found(generate, kind, text) for kind in tables)


@cache
def rows() -> set[str]:
    """The names of all configurations, from the specs and the tables that the pages have."""
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    declared = runpy.run_path(str(FOLDER / "generate.py"))["_configurations"]
    specs = {spec for text in texts for spec in CONFIGURATIONS.findall(text)}
    tables = [
        part for text in texts for part in text.split("<!-- ")[1:] if part[:3] in ("con", "cou")
    ]
    return {
        *(row.name for spec in specs for row in declared(spec)),
        *(name for table in tables for name in CONFIGURED.findall(table)),
    }


def names(text: str) -> set[str]:
    """The configurations that a text names: as code, by a command, or by their numbers."""
    words = re.findall(r"`([^`\s]+)`|--config (\S+)|\b([A-Z]+-\d[\w-]*)", text)
    return {
        row
        for word in map("".join, words)
        for row in rows()
        if word == row or (word.endswith("…") and row.startswith(word[:-1]))
    }


def claims(text: str) -> list[str]:
    """Return what a page says in bold, each with its sentence's paragraph, or its line of a table.

    A trace or a drawing that follows belongs to it; what is generated from rows is left out.
    """
    told = re.sub(r"^```mermaid.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    told = re.sub(r"^```console\n(.*?)\n.*?^```$", r"\1", told, flags=re.MULTILINE | re.DOTALL)
    told = re.sub(r"^<!-- flow: \S+ (\S+).*?-->", r"`\1`", told, flags=re.MULTILINE | re.DOTALL)
    told = re.sub(r"^<!-- .*?-->\n\n(\|.*?\n)+", "", told, flags=re.MULTILINE | re.DOTALL)
    parts = re.split(r"\n\n+|\n(?=[|*-] ?)", told)
    return [
        f"{part}\n{after}" if part.endswith(":") else part
        for part, after in zip(parts, [*parts[1:], ""], strict=True)
        if "**" in part
    ]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_claim_in_bold_is_a_row(page: Path) -> None:
    assert [] == [claim for claim in claims(page.read_text("utf-8")) if not names(claim)]


def found(generate: dict[str, Any], kind: str, text: str) -> bool:
    return re.search(generate["KINDS"][kind], text, re.MULTILINE | re.DOTALL) is not None


def test_what_is_marked_as_generated_is_generated(generate: dict[str, Any]) -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        parts = sum(
            len(re.findall(kind, text, re.MULTILINE | re.DOTALL))
            for kind in generate["KINDS"].values()
        )

        assert text.count("<!-- ") + text.count("```console") == parts, page.stem


def in_matrices() -> list[Any]:
    """Each configuration that a matrix names, with the properties it is named for."""
    rows: dict[tuple[str, str], set[str]] = {}
    for page in PAGES:
        for spec, table in NAMED.findall(page.read_text(encoding="utf-8")):
            head, _, *lines = (line[1:-1].split("|") for line in table.splitlines())
            for line in lines:
                for column, cell in zip(head[1:], line[1:], strict=True):
                    if cell.strip() and "`" in column:
                        name = cell.split("`")[1]
                        rows.setdefault((spec, name), set()).add(column.split("`")[1])
    return [slow(spec, name, of) for (spec, name), of in rows.items()]


@pytest.mark.parametrize(("spec", "name", "properties"), in_matrices())
def test_cells_of_matrices_are_what_a_search_finds(
    spec: str, name: str, properties: set[str]
) -> None:
    row = next(c for c in load(ROOT / spec).configurations if c.name == name)
    assert row.expect is not None

    found = reference.explore(
        load(ROOT / spec, dict(row.constants)), SearchOptions(keep_going=True)
    )

    broken = {f.property: f.length for f in found.findings if f.property in properties}
    assert {p: n for p, n in row.expect.lengths.items() if p in properties} == broken
    assert (row.expect.states or row.expect.distinct) == found.counts.distinct


@pytest.mark.thorough
def test_a_begin_commit_graph_shows_the_cycle(generate: dict[str, Any]) -> None:
    """As on the page of the stores, for fewer states: who has written does not see it."""
    drawn = generate["graph"]("models/stores/snapshot.py", "own-write-missed").splitlines()

    assert '  subgraph A2["A2: r x"]' in drawn
    assert ["  A1b --> A1c", "  A2b --> A2c", "  A2b ==>|rw x| A1c", "  A1c ==>|so| A2b"] == [
        line for line in drawn if "--" in line or "==" in line
    ]
