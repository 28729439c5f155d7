"""Generated specs with flows and blocks of the embedded language: a naive interpreter of the text,
the reference and the native engine.

`FLOW_SPECS=5000 pytest -m slow tests/dsl/flows/test_own_flows.py` looks at so many.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cases import examples
from tests.dsl.flows.own_search import OwnSearch
from tests.dsl.flows.own_source import source
from tests.dsl.flows.test_fizz_flows import MANY, compare


def agree(random: Random, folder: Path, most: int) -> bool:
    """Return whether a random spec was small enough to compare everything."""
    text = source(random)
    path = folder / "spec.py"
    path.write_text(text)
    return compare(path, OwnSearch(text), random, most)


@pytest.mark.thorough
@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))  # pyright: ignore[reportArgumentType]
@given(random=st.randoms(use_true_random=False))
def test_generated_specs_with_flows(
    random: Random, tmp_path_factory: pytest.TempPathFactory
) -> None:
    agree(random, tmp_path_factory.mktemp("flow"), 150)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_many_generated_specs_with_flows(block: int, tmp_path: Path) -> None:
    share = -(-MANY // 20)
    for seed in range(block * share, (block + 1) * share):
        agree(Random(seed), tmp_path, 1000)
