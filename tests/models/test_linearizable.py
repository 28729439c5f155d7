"""Registers that replicas keep are linearizable, and a planted stale read shows."""

import pytest

from statewalk import check
from tests.cases import slow


@pytest.mark.parametrize(
    ("spec", "config"),
    [
        ("stores/chain", "stale_read"),
        slow("stores/chain", "three"),
        slow("stores/abd", "stale_read"),
        slow("stores/abd", "one_write"),
    ],
)
def test_configurations_are_as_expected(spec: str, config: str) -> None:
    assert check(spec, config=config)


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "states"), [("stores/abd", 3523), ("stores/chain", 3583)])
def test_symmetry_stands_for_all_states(spec: str, states: int) -> None:
    run = check(spec, symmetry=True)

    assert "holds" == run.verdict
    assert f"orbits stand for {states:,} states" in str(run)
    assert states > run.counts.distinct
