"""Networks with faults have the states that plain Python finds, in every engine."""

from __future__ import annotations

from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest

from statewalk import check
from tests.cases import some
from tests.conformance.networks import Case, Counts, dead_letters, explored, leases, small, spec
from tests.conformance.test_specs import SPECS, cases

SEEDS = range(200)


def counted(seed: int, folder: Path, **options: Any) -> tuple[Counts, Counts]:
    """Return what statewalk counts, and what plain Python does."""
    case, expected = small(seed)
    path = folder / "network.py"
    path.write_text(spec(case))
    run = check(path, keep_going=True, liveness=False, **options)
    counts = run.counts
    broken = {name: len(trace.steps) for name, trace in run.traces.items()}
    return Counts(counts.distinct, counts.generated, counts.depth, broken), expected


@pytest.mark.thorough
@pytest.mark.parametrize("seed", some(SEEDS, every=100))
def test_generated_networks_have_the_states_of_plain_python(seed: int, tmp_path: Path) -> None:
    found, expected = counted(seed, tmp_path, engine="reference")

    assert found == expected


@pytest.mark.thorough
@pytest.mark.parametrize("seed", some(SEEDS, every=200))
def test_natively_too(seed: int, tmp_path: Path) -> None:
    found, expected = counted(seed, tmp_path, engine="native", threads=1)

    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_with_spark_too(seed: int, tmp_path: Path) -> None:
    found, expected = counted(seed, tmp_path, engine="spark")

    assert found == expected


@pytest.mark.thorough
@pytest.mark.parametrize("seed", some(SEEDS, every=200))
def test_symmetry_keeps_verdicts_and_lengths(seed: int, tmp_path: Path) -> None:
    found, expected = counted(seed, tmp_path, engine="native", threads=1, symmetry=True)

    assert (found.depth, found.broken) == (expected.depth, expected.broken)
    assert found.distinct <= expected.distinct


def said(name: str) -> list[tuple[dict[str, Any], dict[str, int]]]:
    """Return the constants of the lines in a spec's header, and what they say is found."""
    return [
        ({n: literal_eval(v) if n != "KIND" else v for n, v in case.constants}, dict(case.counts))
        for case in cases(SPECS / "toys" / f"{name}.py")
    ]


def test_each_fault_has_a_spec_with_the_counts_of_plain_python() -> None:
    for given, counts in said("network"):
        names = ("LOSS", "DUPLICATES", "REORDER", "PARTITIONS")
        loss, duplicates, reorder, partitions = (given.get(name, False) for name in names)
        case = Case(
            given["KIND"], loss, duplicates, reorder, partitions, 1, 2, 2, False, True, False,
            "set", False, False,
        )  # fmt: skip
        found = explored(case, most=10_000)
        assert found is not None
        assert counts == {name: getattr(found, name) for name in counts}


def test_so_have_sessions_that_end_and_clocks() -> None:
    names = ("distinct", "generated", "depth")
    assert said("dead_letters") == [({}, dict(zip(names, dead_letters(), strict=True)))]
    for given, counts in said("leases"):
        if "length" not in counts:
            found = leases(given["SKEW"], given["MARGIN"])
            assert counts == dict(zip(names, found, strict=True))
