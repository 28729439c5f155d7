"""A search from disk says what one in memory says, wherever it leaves memory and however little of
it there is.
"""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statewalk.checker import native
from statewalk.checker.contract.search import Exploration, SearchOptions
from statewalk.checker.disk.saving import explore
from statewalk.checker.disk.search import Limits
from statewalk.checker.native import search
from statewalk.dsl.model import Model
from tests.cases import examples, slow, some
from tests.checker.native.agreement import told
from tests.checker.native.generated import generate
from tests.checker.native.hand import two_phase_commit

EVER = 1 << 40


def limits(
    after: int, held: int = EVER, slice: int = EVER, rows: int = 1 << 16, memory: int = EVER
) -> Limits:
    return Limits(memory, after, held, slice, rows)


def agree(model: Model, options: SearchOptions, *given: Limits) -> list[Exploration]:
    expected = told(native.explore(model, options))
    found = [explore(model, options, each) for each in given]
    for exploration in found:
        assert expected == told(exploration)
    return found


FEW = [limits(0), limits(30, 10, 8, 15), limits(60, 1, 5, 40), limits(EVER)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("broken", "threads", "bits"), some(product((False, True), (1, 2), (64, 128)), every=5)
)
def test_two_phase_commit(broken: bool, threads: int, bits: int) -> None:
    options = SearchOptions(
        keep_going=broken, threads=threads, fingerprint_bits=bits, max_states=10_000
    )
    found = agree(two_phase_commit(3, broken=broken), options, *FEW)

    assert [1, None] == [found[0].statistics["disk"][0], found[-1].statistics.get("disk")]


@pytest.mark.parametrize("rows", [slow(1), slow(2), 9])
def test_memory_is_left_in_the_middle_of_a_level(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_MAX_ROWS", rows)
    monkeypatch.setattr(search, "_MIN_ROWS", rows)
    model = two_phase_commit(2, broken=True)
    cases = [limits(after, 20, 30, 14) for after in range(0, 40, 7)]
    agree(model, SearchOptions(keep_going=True), *cases)


@settings(deadline=None, max_examples=examples(20))
@given(
    random=st.randoms(use_true_random=False),
    keep_going=st.booleans(),
    view=st.booleans(),
    bits=st.sampled_from([64, 128]),
    max_depth=st.sampled_from([None, 3]),
    after=st.integers(0, 60),
    held=st.integers(1, 40),
    slice=st.integers(1, 40),
    rows=st.integers(1, 40),
)
def test_generated_models(
    random: Random, keep_going: bool, view: bool, bits: int, max_depth: int | None,
    after: int, held: int, slice: int, rows: int,
) -> None:  # fmt: skip
    options = SearchOptions(
        keep_going=keep_going, view=view, max_states=200, max_depth=max_depth, fingerprint_bits=bits
    )
    agree(generate(random), options, limits(after, held, slice, rows))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_generated_models(block: int) -> None:
    for seed in range(200 * block, 200 * (block + 1)):
        random = Random(seed)
        model = generate(random)
        options = SearchOptions(
            keep_going=random.random() < 0.5,
            view=random.random() < 0.3,
            max_states=random.choice([50, 400]),
            fingerprint_bits=random.choice([64, 128]),
            threads=random.choice([1, 2]),
        )
        drawn = [random.choice([1, 3, 10, 50, 1000]) for _ in range(4)]
        agree(model, options, limits(drawn[0] - 1, *drawn[1:]))
