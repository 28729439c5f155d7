"""Generated specifications with blocks, in both languages: equal counts, with both engines, and
with and without the rewriting that makes locality visible. And what the embedded one does is, step
by step, what a naive interpreter of the .fizz text does.
"""

import os
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.reference import explore
from statewalk.checker.native import explore as explore_natively
from statewalk.dsl.loader import load
from statewalk.dsl.view import Endless
from tests.cases import examples
from tests.dsl.flows.bisimilar import difference
from tests.dsl.flows.engines import graph_of
from tests.dsl.flows.pairs import Pairs
from tests.dsl.flows.search import Search, TooMany

MANY = int(os.environ.get("BLOCK_SPECS", "400"))


@pytest.mark.thorough
@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))  # pyright: ignore[reportArgumentType]
@given(seed=st.integers(0, 2**32))
def test_generated_blocks_mean_what_they_mean_in_fizz_text(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("pair")
    texts = dict(zip(("spec.fizz", "spec.py"), Pairs(Random(seed)).write(), strict=True))
    options = SearchOptions(keep_going=True, max_states=3000)
    counts = []
    for name, text in texts.items():
        (folder / name).write_text(text)
        try:
            counts.append(explore(load(folder / name), options).counts)
        except Endless:
            return
    plain = load(folder / "spec.py", optimize=False)
    counts += [explore(plain, options).counts]
    counts += [explore_natively(load(folder / "spec.py"), options).counts]

    assert counts[1:] == counts[:-1]


def as_read_naively(seed: int, folder: Path, most: int) -> bool:
    """Return whether a pair was small enough to compare all that can happen, and in which
    states.
    """
    fizz, own = Pairs(Random(seed)).write()
    path = folder / "spec.py"
    path.write_text(own)
    naive = Search(fizz)
    naive.most_starts = None
    try:
        found = naive.run(most)
    except TooMany:
        return False

    assert not difference(found.graph, graph_of(load(path))), own
    return True


@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))  # pyright: ignore[reportArgumentType]
@given(seed=st.integers(0, 2**32))
def test_generated_blocks_are_as_the_text_is_read_naively(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    as_read_naively(seed, tmp_path_factory.mktemp("pair"), 200)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_generated_blocks_are_as_the_text_is_read_naively(block: int, tmp_path: Path) -> None:
    for seed in range(block * MANY // 10, (block + 1) * MANY // 10):
        as_read_naively(seed, tmp_path, 1500)
