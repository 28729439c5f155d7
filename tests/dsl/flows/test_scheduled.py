"""Generated flows, with calls that give way anywhere in them, against Python's own generators."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cases import some
from tests.dsl.flows.scheduled import compare

MANY = int(os.environ.get("SCHEDULED_SPECS", "2000"))


@pytest.mark.thorough
@pytest.mark.parametrize("seeds", some([range(at, at + 5) for at in range(0, 20, 5)], every=4))
def test_flows_end_where_generators_end(seeds: range, tmp_path: Path) -> None:
    small = [compare(tmp_path, seed) for seed in seeds]

    assert any(small)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(20, MANY, 50))
def test_many_flows_end_where_generators_end(first: int, tmp_path: Path) -> None:
    small = [compare(tmp_path, seed) for seed in range(first, first + 50)]

    assert any(small)
