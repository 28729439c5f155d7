"""The native engine says what the reference says, of toys and of generated models."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statewalk.checker import native, replaying
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference, table
from statewalk.checker.engines.table import SmallFirst
from statewalk.checker.native import search
from statewalk.dsl.model import Model
from tests.cases import slow
from tests.checker.native.agreement import told
from tests.checker.native.generated import generate
from tests.checker.native.hand import two_phase_commit


def agree(model: Model, options: SearchOptions) -> None:
    expected = told(reference.explore(model, options))
    for threads in (1, 2):
        found = told(native.explore(model, _with_threads(options, threads)))

        assert expected == found
    assert expected == told(SmallFirst(native).explore(model, options))
    assert expected == told(replaying.explore(model, options))


def _with_threads(options: SearchOptions, threads: int) -> SearchOptions:
    from dataclasses import replace

    return replace(options, threads=threads)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize("split", [False, True])
def test_two_phase_commit(n: int, broken: bool, split: bool) -> None:
    agree(two_phase_commit(n, broken=broken, split=split), SearchOptions())


@pytest.mark.thorough
@pytest.mark.parametrize("bits", [64, 128])
def test_keeping_on_after_a_violation(bits: int) -> None:
    agree(two_phase_commit(3, broken=True), SearchOptions(keep_going=True, fingerprint_bits=bits))


@settings(deadline=None)
@given(
    random=st.randoms(use_true_random=False),
    keep_going=st.booleans(),
    view=st.booleans(),
    bits=st.sampled_from([64, 128]),
    max_depth=st.sampled_from([None, 3]),
)
def test_generated_models(
    random: Random, keep_going: bool, view: bool, bits: int, max_depth: int | None
) -> None:
    options = SearchOptions(
        keep_going=keep_going,
        view=view,
        max_states=200,
        max_depth=max_depth,
        fingerprint_bits=bits,
    )
    agree(generate(random), options)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("states", [0, 1, 30, 10_000])
@pytest.mark.parametrize("broken", [False, True])
def test_going_over_to_the_native_engine_changes_nothing(
    broken: bool, states: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "STATES", states)
    monkeypatch.setattr(table, "SECONDS", 1000.0)
    model = two_phase_commit(3, broken=broken)
    expected = native.explore(model, SearchOptions())
    found = SmallFirst(native).explore(model, SearchOptions())

    assert "native" == found.engine
    assert (states > 30) == ("small" in found.statistics)
    assert told(expected) == told(found)


def test_a_slow_search_goes_over_before_its_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "SECONDS", 0.0)
    found = SmallFirst(native).explore(two_phase_commit(3), SearchOptions())

    assert "small" not in found.statistics
    assert 288 == found.counts.distinct


@pytest.mark.thorough
@settings(deadline=None)
@given(random=st.randoms(use_true_random=False), rows=st.integers(1, 3), view=st.booleans())
def test_generated_models_in_batches_of_few_states(random: Random, rows: int, view: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_MAX_ROWS", rows)
        agree(generate(random), SearchOptions(keep_going=True, max_states=200, view=view))


@pytest.mark.thorough
@pytest.mark.parametrize("rows", [slow(1), slow(7), 40])
def test_two_phase_commit_in_small_batches(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_MAX_ROWS", rows)
    agree(two_phase_commit(3, broken=True), SearchOptions(keep_going=True))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_many_generated_models(block: int) -> None:
    for seed in range(1000 * block, 1000 * (block + 1)):
        random = Random(seed)
        model = generate(random)
        options = SearchOptions(
            keep_going=random.random() < 0.5,
            view=random.random() < 0.3,
            max_states=random.choice([50, 400]),
            fingerprint_bits=random.choice([64, 128]),
        )
        expected = told(reference.explore(model, options))
        found = told(native.explore(model, _with_threads(options, 1 + seed % 2)))

        assert expected == found, f"seed {seed}"


def test_two_phase_commit_with_seven_managers() -> None:
    found = native.explore(two_phase_commit(7), SearchOptions())

    assert (296448, 2744706, 23) == (
        found.counts.distinct,
        found.counts.generated,
        found.counts.depth,
    )
