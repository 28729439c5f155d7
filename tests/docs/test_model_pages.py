"""Pages on models show what statewalk prints; `docs/models/generate.py` brings them up to date."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.places import ROOT

FOLDER = ROOT / "docs" / "models"
PAGES = sorted(FOLDER.glob("*.md"))


@pytest.fixture(scope="module")
def generate() -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / "generate.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tables_of_configurations_are_fresh(generate: dict[str, Any], page: Path) -> None:
    found = generate["TABLE"].findall(page.read_text(encoding="utf-8"))

    assert found
    for spec, table in found:
        assert generate["table"](spec) == table


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_traces_are_fresh(generate: dict[str, Any], page: Path) -> None:
    found = generate["CONSOLE"].findall(page.read_text(encoding="utf-8"))

    assert found
    for command, printed in found:
        assert generate["trace"](command) == printed.rstrip(), command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_graphs_are_fresh(generate: dict[str, Any], page: Path) -> None:
    for spec, config, drawn in generate["GRAPH"].findall(page.read_text(encoding="utf-8")):
        assert generate["graph"](spec, config) == drawn.rstrip()
