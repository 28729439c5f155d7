"""Identities of states on Spark: fingerprints of two words, and orbits; as the native engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.native import explore as explore_natively
from statewalk.checker.spark import explore
from statewalk.checker.states.fingerprints import Fingerprints
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load
from tests.checker.symmetry.specs import SPECS, load_text
from tests.checker.symmetry.test_breaking import MUTANTS, RIGHT, SPEC
from tests.places import ROOT

MODELS = ROOT / "models"
SAME = (
    "counts", "levels", "findings", "witnesses", "fired", "fresh", "stopped", "complete", "cut",
    "queue",
)  # fmt: skip
BUG = {"BROKERS": 1, "MUTANT": "no_epoch_bump"}
# spec, constants, bits, symmetry, tasks, native until
CASES: list[tuple[str, dict[str, Any], int, bool, int, int]] = [
    ("kafka/init_pid.py", {"CLIENTS": 3, "BROKERS": 1}, 128, True, 3, 20),
    ("toys/two_phase_commit.py", {"RMS": 4}, 128, False, 2, 9),
    ("toys/two_phase_commit.py", {"RMS": 5}, 64, True, 3, 9),
    ("kafka/init_pid.py", {}, 128, False, 2, 30),
    ("kafka/init_pid.py", {}, 64, True, 2, 5),
    ("kafka/init_pid.py", BUG, 128, True, 2, 3),
    ("kafka/init_pid.py", BUG, 128, False, 1, 3),
    ("../specs/examples/consensus/paxos.py", {}, 64, True, 4, 9),
    ("toys/transaction_commit.py", {}, 64, True, 2, 3),
    ("../specs/toys/threads.fizz", {}, 128, False, 2, 4),
]


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize(("spec", "constants", "bits", "symmetry", "tasks", "native_until"), CASES)
def test_spark_tells_states_apart_as_native(
    spec: str, constants: dict[str, Any], bits: int, symmetry: bool, tasks: int, native_until: int,
) -> None:  # fmt: skip
    model = load(MODELS / spec, constants)
    options = SearchOptions(fingerprint_bits=bits, symmetry=symmetry, keep_going=constants != BUG)
    native = explore_natively(model, options)
    found = explore(model, options, tasks=tasks, buckets=8, native_until=native_until)

    assert {f: getattr(native, f) for f in SAME} == {f: getattr(found, f) for f in SAME}
    assert native.statistics.get("represented") == found.statistics.get("represented")
    assert found.statistics["jobs"] > 0


@pytest.mark.slow
@pytest.mark.spark
def test_first_words_that_are_alike_do_not_make_states_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of the first words three bits are left, so only the second ones tell states apart."""
    plain = Fingerprints.leaves

    def few(self: Fingerprints, path: bytes, value: Any, declared: str | None) -> int:
        return plain(self, path, value, declared) & ~(((1 << 61) - 1) << 64)

    monkeypatch.setattr(Fingerprints, "leaves", few)
    model = load(MODELS / "toys/two_phase_commit.py", {"RMS": 4})
    options = SearchOptions(fingerprint_bits=128)
    native = explore_natively(model, options)
    found = explore(model, options, tasks=3, buckets=8, native_until=5)

    assert found.counts.distinct == 1568  # as with all bits
    assert {f: getattr(native, f) for f in SAME} == {f: getattr(found, f) for f in SAME}


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("name", list(MUTANTS))
def test_what_breaks_the_symmetry_is_found_there_too(name: str, tmp_path: Path) -> None:
    place, line, _ = MUTANTS[name]
    model = load_text(tmp_path, SPEC.format(**{**RIGHT, place: line}))
    with pytest.raises(SpecError) as natively:
        explore_natively(model, SearchOptions(symmetry=True))
    with pytest.raises(SpecError) as caught:
        explore(model, SearchOptions(symmetry=True), tasks=2, native_until=1)

    assert "SW209" == caught.value.code
    assert str(natively.value) == str(caught.value)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("name", list(SPECS))
def test_orbits_are_those_of_native(name: str, tmp_path: Path) -> None:
    model, options = load_text(tmp_path, SPECS[name]), SearchOptions(symmetry=True)
    native, found = explore_natively(model, options), explore(model, options, native_until=2)

    assert {f: getattr(native, f) for f in SAME} == {f: getattr(found, f) for f in SAME}
    assert native.statistics["represented"] == found.statistics["represented"]
