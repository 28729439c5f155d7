"""Strategies of random walks, and shorter ways to what they find."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk import load, replay
from statewalk.checker.behaviours.shrink import shrunk
from statewalk.checker.behaviours.simulate import simulate
from statewalk.checker.behaviours.strategies import NAMES, Name
from statewalk.checker.traces.trace import build
from statewalk.dsl.model import Model
from tests.places import ROOT

FOLDER = ROOT / "benchmarks" / "schedules"


@pytest.fixture(scope="module")
def lease() -> Model:
    return load(FOLDER / "lease.py")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("strategy", NAMES)
def test_equal_seeds_give_equal_walks_whatever_follows(strategy: Name, lease: Model) -> None:
    few, many = (
        simulate(lease, runs=runs, depth=30, seed=7, keep=True, way="plain", strategy=strategy)
        for runs in (3, 5)
    )
    other = simulate(lease, runs=3, depth=30, seed=8, keep=True, way="plain", strategy=strategy)

    assert len(few.walks) == 3
    assert few.walks == many.walks[:3]
    assert few.walks != other.walks


@pytest.mark.thorough
@pytest.mark.parametrize("spec", ["lease", "expiry"])
def test_priorities_find_in_few_walks_what_chance_does_not(spec: str) -> None:
    model = load(FOLDER / f"{spec}.py")
    uniform = simulate(model, runs=40, depth=100, way="plain")
    pct = simulate(model, runs=40, depth=100, strategy="pct")

    assert not uniform.findings
    (found,) = pct.findings.values()
    shorter = shrunk(model, found)
    assert shorter.property == found.property
    assert shorter.length < found.length
    assert replay(build(model, shorter), model).reproduced


COUNTER = """
from statewalk import Role, action, always, any_of, require, terminal

class Counter(Role):
    n: int = 0
    noise: int = 0

    @action
    def up(self) -> None:
        {guard}
        self.n += any_of([1, 2])
        {more}

    @action
    def other(self) -> None:
        require(self.noise < 20)
        self.noise += 1

counter = Counter()

@{property}
def small() -> bool:
    return {holds}
"""
CASES = {
    "a state": ("pass", "pass", "always", "counter.n < 5", "small", 3),
    "an assertion": ("pass", "assert self.n < 5", "always", "True", "Assertion", 3),
    "a deadlock": ("require(self.n < 5)", "pass", "terminal", "counter.n > 5", "Deadlock", 23),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("strategy", NAMES)
def test_a_shrunk_trace_is_one_of_the_fewest_steps(
    case: str, strategy: Name, tmp_path: Path
) -> None:
    guard, more, kind, holds, name, length = CASES[case]
    text = COUNTER.format(guard=guard, more=more, property=kind, holds=holds)
    (tmp_path / "spec.py").write_text(text)
    model = load(tmp_path / "spec.py")
    found = simulate(model, runs=50, depth=60, strategy=strategy)
    shorter = shrunk(model, found.findings[name])

    assert shorter.property == name
    assert length <= shorter.length <= length + 2  # which of 1 and 2 was added stays as it is
    assert replay(build(model, shorter), model).reproduced
