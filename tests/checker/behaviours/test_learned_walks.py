"""Walks in compiled code are those that plain Python walks: the same steps, counts and findings."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from statewalk.checker.behaviours import learned_walks, simulate
from statewalk.checker.behaviours.random_walk import Chance, Simulation
from statewalk.checker.behaviours.simulate import Way
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from tests.cases import slow, some
from tests.checker.native.agreement import told_finding
from tests.checker.native.generated import generate
from tests.checker.native.spec_source import source
from tests.places import ROOT


def told(found: Simulation) -> dict[str, Any]:
    findings = {name: told_finding(finding) for name, finding in found.findings.items()}
    return {**vars(found), "findings": findings}


def walk(model: Model, way: Way, runs: int = 40, depth: int = 12, seed: int = 0) -> dict[str, Any]:
    return told(simulate.simulate(model, runs=runs, depth=depth, seed=seed, way=way, keep=True))


# 1840: an update that is drawn by chance only raises where nobody has looked at it yet
@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", [1840, *some(range(300), every=30)])
def test_learned_walks_are_plain_walks(seed: int) -> None:
    model = generate(Random(seed))

    assert walk(model, "plain", seed=seed) == walk(model, "learned", seed=seed)


@pytest.mark.parametrize("seed", some(range(20), every=10))
def test_learned_walks_are_plain_walks_of_specs(seed: int, tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(source(Random(seed), 0.1 * (seed % 2)))
    model = load(tmp_path / "spec.py")

    assert walk(model, "plain", 20, seed=seed) == walk(model, "learned", 20, seed=seed)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("spec", "constants"),
    [
        ("models/kafka/init_pid.py", {}),
        ("models/toys/die_hard.py", {}),
        ("specs/toys/blocks.py", {}),
        slow("models/kafka/init_pid.py", {"BROKERS": 1, "MUTANT": "no_epoch_bump"}),
        slow("models/kafka/transactions.py", {}),
        slow("models/tables/paimon.py", {}),
        slow("models/stores/snapshot.py", {}),
        slow("models/toys/counters.py", {"ATOMIC": False}),
    ],
)
def test_learned_walks_are_plain_walks_of_models(spec: str, constants: dict[str, Any]) -> None:
    model = load(ROOT / spec, constants)

    assert walk(model, "plain", 10, 40) == walk(model, "learned", 10, 40)


@pytest.mark.thorough
def test_a_walk_does_not_depend_on_those_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(ROOT / "models/kafka/init_pid.py")
    expected = walk(model, "learned", 30, seed=5)
    monkeypatch.setattr(learned_walks, "_FIRST", 3)
    monkeypatch.setattr(learned_walks, "_BUDGET", 7)
    monkeypatch.setattr(learned_walks, "_STEPS", 100)

    assert expected == walk(model, "learned", 30, seed=5)
    assert expected["walks"][:9] == walk(model, "learned", 9, seed=5)["walks"]


@pytest.mark.thorough
def test_it_goes_over_to_learned_walks_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(ROOT / "models/kafka/init_pid.py")
    expected = walk(model, "plain", 30)
    answers = iter([False, False, True])
    monkeypatch.setattr(simulate, "_is_long", lambda began: next(answers))

    assert expected == walk(model, "auto", 30)


def test_a_long_walk_has_a_violation_where_the_plain_one_has() -> None:
    model = load(ROOT / "models/toys/counters.py", {"ATOMIC": False})
    found, expected = (walk(model, way, 100, 100) for way in ("learned", "plain"))

    assert expected["findings"]
    assert expected == found


def test_each_number_is_as_likely() -> None:
    chance = Chance.of_walk(0, 0)
    drawn = [chance.below(5) for _ in range(10_000)]

    assert all(1_850 < drawn.count(n) < 2_150 for n in range(5))
    assert [] == [n for n in drawn if n not in range(5)]


def test_seeds_and_walks_have_numbers_of_their_own() -> None:
    firsts = {
        Chance.of_walk(seed, walk).below(1 << 32) for seed in (-1, 0, 1, 2) for walk in range(50)
    }

    assert 200 == len(firsts)


def test_who_asks_for_it_is_told_what_was_walked() -> None:
    model = load(ROOT / "models/kafka/init_pid.py")
    found = simulate.simulate(model, runs=10, way="learned", interrupted=lambda: True)

    assert (0, 0, {}) == (found.runs, found.steps, found.findings)
