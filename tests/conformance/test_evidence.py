"""Each row of evidence.md: what others count is found, with liveness where they ask it."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

from statewalk import check
from tests.cases import some
from tests.conformance import plain
from tests.places import ROOT

PAGE = runpy.run_path(str(ROOT / "docs" / "explanation" / "evidence.py"))
ROWS: list[Any] = list(PAGE["rows"]())
EXAMPLES = sorted((ROOT / "specs" / "examples").rglob("*.py"))
SMALL = 1000  # states
# What differs, and why, stands on the page.
PLAIN = {"lamp-unknown": plain.lamp, "spanning_tree.py": plain.tree, "ewd840.py": plain.ring}


def named(row: Any) -> str:
    return f"{row.spec.rpartition('/')[2]}-{row.config}"


def small(row: Any) -> bool:
    return bool(row.counts) and row.counts["distinct"] <= SMALL


def cases() -> list[Any]:
    """A few that are small; the others are slow."""
    large = [pytest.param(row, marks=pytest.mark.slow) for row in ROWS if not small(row)]
    return [*some([row for row in ROWS if small(row)], every=20), *large]


@pytest.mark.parametrize("row", cases(), ids=named)
def test_a_row_is_found(row: Any) -> None:
    expect = PAGE["expected"](row)

    found = check(ROOT / row.spec, config=row.config, symmetry=row.orbits, liveness=row.liveness)

    if row.length is not None:
        assert row.length in expect.lengths.values()
        assert row.length in {p.length for p in found.properties if p.verdict == "violated"}
        return
    assert found.verdict in ("holds", "bounded")
    counts = {name: getattr(found.counts, name) for name in row.counts}
    own = {name: getattr(expect, name) for name in row.counts}
    assert counts == (row.counts if row.orbits else own)
    differing = {name for name in counts if counts[name] != row.counts[name]}
    assert differing == ({"depth"} & {*row.remarks}) | (
        {"generated"} if "two ways" in row.remarks else set()
    )
    if row.liveness:
        lasting = [p for p in found.properties if not p.of_kind.searched]
        assert lasting
        assert {"holds"} == {p.verdict for p in lasting}


@pytest.mark.parametrize("row", [r for r in ROWS if "depth" in r.remarks], ids=named)
def test_plain_python_agrees_where_depths_differ(row: Any) -> None:
    expect = PAGE["expected"](row)
    by = PLAIN.get(row.config) or PLAIN[row.spec.rpartition("/")[2]]

    assert by() == (expect.distinct, expect.generated, expect.depth)


@pytest.mark.slow
@pytest.mark.parametrize("row", [r for r in ROWS if small(r)], ids=named)
def test_the_reference_engine_agrees(row: Any) -> None:
    found = check(
        ROOT / row.spec,
        config=row.config,
        symmetry=row.orbits,
        liveness=False,
        engine="reference",
    )

    assert row.counts["distinct"] == found.counts.distinct


def test_the_page_is_fresh() -> None:
    assert PAGE["PAGE"].read_text(encoding="utf-8") == PAGE["page"](ROWS)


def test_the_readme_says_how_many() -> None:
    counted = [row for row in ROWS if row.group == "tlaplus" and row.counts]
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())

    assert (
        f"(docs/explanation/evidence.md) on {len(counted)} configurations of public examples"
        in readme
    )


def test_each_example_is_a_row() -> None:
    shown = {row.spec for row in ROWS}

    assert len(EXAMPLES) >= 25
    assert [] == [str(p) for p in EXAMPLES if p.relative_to(ROOT).as_posix() not in shown]
