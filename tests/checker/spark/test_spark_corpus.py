"""Every spec of the corpus gives with Spark what it gives natively, state for state."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.contract.search import Finding, SearchOptions
from statewalk.checker.native import explore as explore_natively
from statewalk.checker.spark import explore
from statewalk.dsl.loader import load
from tests.places import ROOT

SPECS = sorted(
    [
        *(ROOT / "specs").rglob("*.fizz"),
        *(ROOT / "specs").rglob("*.py"),
        *(ROOT / "models" / "toys").glob("[a-z]*.py"),
    ]
)
SAME = ("counts", "levels", "witnesses", "fired", "fresh", "stopped", "complete", "cut", "queue")


def _told(findings: tuple[Finding, ...]) -> list[tuple[object, ...]]:
    """Findings with the text of exceptions in the place of the exceptions."""
    return [(f.property, f.kind, f.initial, f.steps, f.failing, str(f.error)) for f in findings]


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_corpus(spec: Path) -> None:
    model = load(spec)
    options = SearchOptions(keep_going=True, max_depth=10)
    native = explore_natively(model, options)
    found = explore(model, options, buckets=8, tasks=3, native_until=1)

    assert {f: getattr(native, f) for f in SAME} == {f: getattr(found, f) for f in SAME}
    assert _told(native.findings) == _told(found.findings)
    assert found.statistics["jobs"] > 0
