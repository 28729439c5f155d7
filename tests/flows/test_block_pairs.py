"""Generated specifications with blocks, in both languages: equal counts, with both engines, and
with and without the rewriting that makes locality visible.
"""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checker.engine import SearchOptions
from checker.native import explore as explore_natively
from checker.reference import explore
from dsl.loader import load
from dsl.view import Endless
from tests.flows.pairs import Pairs


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))  # pyright: ignore[reportArgumentType]
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
