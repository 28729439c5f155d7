"""Fingerprints of 128 bits: the same answers, kept apart by all of their bits."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from statewalk import check, load
from statewalk.checker.cli import main
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.liveness.collect import collect
from statewalk.checker.states.fingerprints import Fingerprints
from statewalk.checker.verdict.run import Run
from statewalk.dsl.errors import RunError
from tests.cases import some
from tests.places import ROOT

MODELS = ROOT / "models"
RING = MODELS / "toys/token_ring.py"
SPECS = ("toys/die_hard.py", "toys/token_ring.py", "toys/two_phase_commit.py")


def told(result: Run) -> Any:
    traces = [(v.property, v.trace.length) for v in result.evidence.violations]
    properties = [(p.name, p.verdict) for p in result.properties]
    return result.verdict, result.counts, properties, traces


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("spec", "engine", "symmetry"),
    some(product(SPECS, ["native", "reference"], [False, True]), every=5),
)
def test_answers_do_not_depend_on_the_bits(spec: str, engine: str, symmetry: bool) -> None:
    some, all_ = (
        check(MODELS / spec, engine=engine, symmetry=symmetry, fingerprint_bits=bits)
        for bits in (64, 128)
    )

    assert told(some) == told(all_)


@pytest.mark.thorough
def test_the_probability_of_a_collision_follows_the_bits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    result = check(RING, fingerprint_bits=128)
    assert result.counts.distinct**2 / 2**129 == result.evidence.collision
    main(["check", str(RING), "--fingerprint-bits", "128"])
    shown = capsys.readouterr().out

    assert f"< {result.evidence.collision:.0e}" in shown


@pytest.mark.thorough
def test_so_many_states_that_64_bits_may_miss_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("statewalk.checker.verdict.conclude._MANY", 10)
    warned = {bits: check(RING, fingerprint_bits=bits).warnings for bits in (None, 64, 128)}

    assert {None: 1, 64: 0, 128: 0} == {bits: len(said) for bits, said in warned.items()}
    assert warned[None][0].startswith("SW347") and "--fingerprint-bits 128" in warned[None][0]


@pytest.fixture
def low_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that tells states apart is in the last 64 of 128 bits."""
    leaf = Fingerprints._leaf

    def low(self: Fingerprints, path: bytes, data: bytes) -> int:
        return leaf(self, path, data) & ((1 << 61) - 1)

    monkeypatch.setattr(Fingerprints, "_leaf", low)


@pytest.mark.sampled(3)
@pytest.mark.usefixtures("low_only")
@pytest.mark.parametrize("spec", SPECS)
def test_the_last_bits_tell_states_apart(spec: str) -> None:
    expected = check(MODELS / spec, engine="reference")

    assert told(expected) == told(check(MODELS / spec, engine="native", fingerprint_bits=128))


@pytest.mark.usefixtures("low_only")
def test_liveness_is_left_to_whole_states_where_numbers_would_not_tell_them_apart() -> None:
    model = load(RING)
    properties = tuple(p for p in model.properties if p.of_kind.liveness)

    assert collect(model, SearchOptions(fingerprint_bits=128), properties) is None


def test_liveness_has_numbers_for_all_states() -> None:
    model = load(RING)
    properties = tuple(p for p in model.properties if p.of_kind.liveness)
    some, all_ = (
        collect(model, SearchOptions(fingerprint_bits=bits), properties) for bits in (64, 128)
    )

    assert some is not None
    assert all_ is not None
    assert len(np.unique(all_.fingerprints)) == all_.n == some.n


@pytest.mark.thorough
def test_a_search_goes_on_with_its_bits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = str(MODELS / "toys/two_phase_commit.py")
    whole = ["check", spec, "--set", "RMS=3", "--fingerprint-bits", "128", "--json", "-"]
    assert 0 == main(whole)
    expected = json.loads(capsys.readouterr().out)["counts"]
    assert 3 == main([*whole, "--out", "run", "--max-depth", "6"])
    capsys.readouterr()
    request = json.loads(Path("run/request.json").read_text())
    assert 128 == request["options"]["fingerprint_bits"]
    del request["options"]["max_depth"]
    Path("run/request.json").write_text(json.dumps(request))

    assert 0 == main(["resume", "run", "--spec", spec, "--json", "-"])
    assert expected == json.loads(capsys.readouterr().out)["counts"]


def test_a_graph_knows_states_by_64_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunError, match=r"64 bits|128") as caught:
        check(RING, fingerprint_bits=128, graph="graph")

    assert "SW353" == caught.value.code
