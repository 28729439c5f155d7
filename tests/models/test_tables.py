"""Delta Lake, Hudi and Iceberg give what their configurations state, under both engines.

The counts of D-1, D-3, D-4, H-1, H-2 and H-8, and the lengths of D-5, H-3, H-4 and H-6, are those
that TLC gives for the public specifications.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import Exploration, SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.declared import Configuration
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from tests.cases import slow
from tests.declared import declared
from tests.places import ROOT

FOLDER = ROOT / "models" / "tables"
SPECS = ("delta", "hudi", "iceberg")
# Of each format one that holds and one that does not.
QUICK = (
    *("D-1", "free-name-taken"),
    *("H-3-one-operation", "H-4-one-value"),
    *("I-1-two-operations", "no-files-exist-check"),
)


@cache
def configurations(spec: str) -> dict[str, Configuration]:
    return declared(FOLDER / f"{spec}.py")


def cases() -> list[Any]:
    """The rows of all formats, most as slow tests."""
    return [
        (spec, name) if name in QUICK else slow(spec, name)
        for spec in SPECS
        for name in configurations(spec)
    ]


@lru_cache(maxsize=2)
def model_of(spec: str, name: str) -> Model:
    return load(FOLDER / f"{spec}.py", configurations(spec)[name].constants)


def explored(spec: str, name: str, *, engine: Any = native) -> Exploration:
    found: Exploration = engine.explore(model_of(spec, name), SearchOptions(keep_going=True))
    assert not [f for f in found.findings if f.error is not None]
    return found


def violated(found: Exploration) -> dict[str, int]:
    return {f.property: f.length for f in found.findings}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("spec", "name"), cases())
def test_a_row_finds_what_it_states(spec: str, name: str) -> None:
    expect = configurations(spec)[name].expect
    assert expect is not None

    found = explored(spec, name)

    counts = found.counts
    assert (expect.distinct or expect.states) == counts.distinct
    assert (expect.generated or counts.generated) == counts.generated
    assert (expect.depth or counts.depth) == counts.depth
    assert set(expect.properties) == set(violated(found))
    assert expect.lengths.items() <= violated(found).items()
    witnesses = {p.name for p in model_of(spec, name).properties if p.kind == "exists"}
    assert witnesses == {f.property for f in found.witnesses}


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "name"), [(s, n) for s in SPECS for n in configurations(s)])
def test_the_reference_engine_agrees(spec: str, name: str) -> None:
    native_one, slow_one = explored(spec, name), explored(spec, name, engine=reference)

    assert (slow_one.counts, slow_one.levels) == (native_one.counts, native_one.levels)
    assert violated(slow_one) == violated(native_one)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("spec", SPECS)
def test_each_mutant_has_a_row_that_breaks_something(spec: str) -> None:
    broken = [c for c in configurations(spec).values() if c.expect and c.expect.properties]

    (name,) = (c.name for c in broken if c.name in QUICK)

    assert set(model_of(spec, name).mutants) == {
        c.constants["MUTANT"] for c in broken if "MUTANT" in c.constants
    }
