"""Networks with faults have the states that plain Python finds, in every engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk import check
from tests.cases import some
from tests.conformance.networks import Counts, small, spec

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


@pytest.mark.parametrize("seed", some(SEEDS, every=40))
def test_generated_networks_have_the_states_of_plain_python(seed: int, tmp_path: Path) -> None:
    found, expected = counted(seed, tmp_path, engine="reference")

    assert found == expected


@pytest.mark.parametrize("seed", some(SEEDS, every=200))
def test_natively_too(seed: int, tmp_path: Path) -> None:
    found, expected = counted(seed, tmp_path, engine="native", threads=1)

    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_with_spark_too(seed: int, tmp_path: Path) -> None:
    found, expected = counted(seed, tmp_path, engine="spark")

    assert found == expected


@pytest.mark.parametrize("seed", some(SEEDS, every=200))
def test_symmetry_keeps_verdicts_and_lengths(seed: int, tmp_path: Path) -> None:
    found, expected = counted(seed, tmp_path, engine="native", threads=1, symmetry=True)

    assert (found.depth, found.broken) == (expected.depth, expected.broken)
    assert found.distinct <= expected.distinct
