"""Random walks meet nothing that a check of the same spec does not: bounds, constraints, starts."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from statewalk import check
from statewalk.checker.behaviours.random_walk import Simulation
from statewalk.checker.behaviours.simulate import simulate
from statewalk.checker.cli import main
from statewalk.checker.verdict.run import Run
from statewalk.dsl.loader import load
from tests.cases import some

SPEC = """
from statewalk import *

class C(State):
    n: int = 0

    @action
    def up(self) -> None:
        require({up})
        self.n = (self.n + any_of({by})) % {size}

    @action
    def back(self) -> None:
        require({back})
        self.n = max(self.n - 1, -3)

c = C()

@init
def start() -> None:
    c.n = any_of({starts})

@constraint
def region() -> bool:
    return {region}

@constraint
@on_step
def moves() -> bool:
    return {moves}

@always
def a() -> bool:
    return {always}

@on_step
def s() -> bool:
    return {on_step}

@exists
def w() -> bool:
    return {exists}
"""
PLAIN = {
    "up": "True", "by": [1, 2], "size": 4, "back": "False", "starts": [0], "region": "True",
    "moves": "True", "always": "True", "on_step": "True", "exists": "False",
}  # fmt: skip


def both(folder: Path, **parts: object) -> tuple[Simulation, Run]:
    """A simulation and a check of the same spec."""
    (folder / "spec.py").write_text(SPEC.format(**{**PLAIN, **parts}), encoding="utf-8")
    model = load(folder / "spec.py")
    return simulate(model, runs=30, depth=12), check(model, engine="reference", keep_going=True)


def violated(run: Run) -> set[str]:
    return {p.name for p in run.properties if p.verdict == "violated" and p.kind != "exists"}


def test_a_state_whose_steps_are_all_refused_is_no_deadlock(tmp_path: Path) -> None:
    found, run = both(tmp_path, by=[1], size=9, region="c.n < 4", up="c.n < 8")

    assert "Deadlock" not in violated(run)
    assert {} == found.findings
    assert 30 == found.ended == found.cut["region"]


def test_no_walk_goes_on_from_an_initial_state_that_is_refused(tmp_path: Path) -> None:
    found, run = both(
        tmp_path, starts=[0, 3], region="c.n < 3", by=[1], on_step="old(c.n) != 3", always="True"
    )

    assert set() == violated(run)
    assert {} == found.findings


def test_what_a_step_constraint_refuses_is_judged(tmp_path: Path) -> None:
    found, run = both(tmp_path, moves="c.n != 2", always="c.n != 2", exists="c.n == 2")

    assert {"a"} == violated(run)
    assert {"a"} == set(found.findings)
    assert 1 == found.witnesses["w"]
    assert "holds" == run.of("w").verdict


def test_a_walk_goes_on_in_another_way_than_the_refused_one(tmp_path: Path) -> None:
    found, _ = both(tmp_path, moves="c.n != 2", exists="c.n == 3", by=[1, 2, 3])

    assert 12 == found.longest
    assert 30 == found.witnesses["w"]


BOUNDED = """---
options:
  max_actions: 5
---
action Init:
    n = 0

atomic action Up:
    n = (n + 1) % 10

always assertion Small:
    return n < {limit}
"""


@pytest.mark.parametrize(("limit", "code"), [(5, 1), (6, 3), (9, 3)])
def test_a_walk_keeps_to_the_bound_of_the_spec(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], limit: int, code: int
) -> None:
    (tmp_path / "spec.fizz").write_text(BOUNDED.format(limit=limit), encoding="utf-8")
    path = str(tmp_path / "spec.fizz")

    assert code == main(["simulate", path])
    assert "by the spec's bound on depth 6" in capsys.readouterr().out
    assert code == main(["check", path, "--engine", "reference", "--out", str(tmp_path / "run")])


@pytest.mark.parametrize("seed", some(range(60), every=15))
def test_whatever_walks_meet_a_check_finds(tmp_path: Path, seed: int) -> None:
    random = Random(seed)

    def condition(*words: str) -> str:
        word = random.choice([*words, "c.n"])
        return random.choice(
            ["True", f"{word} != {random.randrange(7)}", f"{word} < {random.randint(1, 7)}",
             f"{word} % 3 != {random.randrange(3)}"]
        )  # fmt: skip

    of_step = ("old(c.n)", "c.n + old(c.n)", "c.n - old(c.n)")
    found, run = both(
        tmp_path, up=condition(), back=condition("-c.n"), by=random.sample(range(4), 2),
        size=random.randint(2, 7), starts=random.sample(range(7), random.randint(1, 3)),
        region=condition(), moves=condition(*of_step), always=condition("-c.n"),
        on_step=condition(*of_step), exists=f"c.n == {random.randrange(7)}",
    )  # fmt: skip

    assert set(found.findings) <= violated(run)
    assert not found.witnesses["w"] or run.of("w").verdict == "holds"
