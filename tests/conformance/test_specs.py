"""Every spec of the corpus gives, with every engine, what its header says."""

import sys
from pathlib import Path

import pytest

from checker import check
from dsl.constants import GivenText

sys.path.insert(0, str(Path(__file__).parent))
from headers import SPECS, Case, all_specs, cases

sys.path.pop(0)

ENGINES = ("reference", "native")
CASES = [case for path in all_specs() for case in cases(path)]


@pytest.mark.parametrize("path", all_specs(), ids=lambda p: p.relative_to(SPECS).as_posix())
def test_every_spec_says_what_to_expect(path: Path) -> None:
    assert cases(path)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=[pytest.mark.slow] if c.slow else []) for c in CASES], ids=str
)
def test_spec_gives_what_its_header_says(case: Case, engine: str) -> None:
    constants = {name: GivenText(value) for name, value in case.constants}
    expected = dict(case.counts)

    result = check(
        str(case.path),
        constants,
        engine=engine,
        liveness=False,
        fizzbee_counts="unique" in expected,
        symmetry=False,
    )

    assert case.verdict == result.verdict
    violated = {p.name: p.length for p in result.properties if p.verdict == "violated"}
    assert set(case.properties) <= set(violated)
    counts = {
        "distinct": result.counts.distinct,
        "generated": result.counts.generated,
        "depth": result.counts.depth,
        "unique": result.counts.fizzbee_unique,
        "length": violated.get(case.properties[0]) if case.properties else None,
    }
    assert expected == {name: counts[name] for name in expected}
