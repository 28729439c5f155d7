"""Generated .fizz specifications with threads: a naive interpreter of the text, the reference and
the native engine, plain and optimised, one thread and two.

`FLOW_SPECS=5000 pytest -m slow tests/dsl/flows/test_fizz_flows.py` looks at so many.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.native import search as native_search
from statewalk.dsl.loader import load
from tests.cases import examples
from tests.checker.native.agreement import told
from tests.dsl.flows.bisimilar import difference
from tests.dsl.flows.engines import graph_of
from tests.dsl.flows.fizz_source import source
from tests.dsl.flows.search import Search, TooMany

MANY = int(os.environ.get("FLOW_SPECS", "400"))


def agree(random: Random, folder: Path, most: int) -> bool:
    """Return whether a random specification was small enough to compare everything."""
    text = source(random)
    path = folder / "spec.fizz"
    path.write_text(text)
    return compare(path, Search(text), random, most)


def compare(path: Path, naive: Search, random: Random, most: int) -> bool:
    """Return whether a specification was small enough for the naive interpreter to be compared."""
    text = path.read_text()
    optimised, plain = load(str(path), {}), load(str(path), {}, optimize=False)
    counted = optimised.flows is not None and optimised.flows.most_starts is not None
    if not counted:
        naive.most_starts = None
    try:
        found = naive.run(most)
    except TooMany:
        return False
    graph = graph_of(optimised)

    assert not difference(found.graph, graph), text
    assert len(graph.steps) <= len(found.graph.steps), text

    options = SearchOptions(keep_going=True, max_depth=optimised.max_depth)
    expected = told(reference.explore(plain, options))

    assert expected == told(reference.explore(optimised, options)), text
    assert expected == told(native.explore(plain, options)), text
    assert expected == told(native.explore(optimised, options)), text
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native_search, "_MAX_ROWS", random.choice([1, 3, 20]))
        assert expected == told(native.explore(optimised, replace(options, threads=2))), text
    if expected["complete"]:
        assert found.violated == {f[0] for f in expected["findings"]}, text
        assert found.reached == {w[0] for w in expected["witnesses"]}, text
    return True


@pytest.mark.thorough
@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))  # pyright: ignore[reportArgumentType]
@given(random=st.randoms(use_true_random=False))
def test_generated_specs_with_threads(
    random: Random, tmp_path_factory: pytest.TempPathFactory
) -> None:
    agree(random, tmp_path_factory.mktemp("flow"), 150)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_many_generated_specs_with_threads(block: int, tmp_path: Path) -> None:
    share = -(-MANY // 20)
    for seed in range(block * share, (block + 1) * share):
        agree(Random(seed), tmp_path, 1000)
