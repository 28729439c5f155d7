"""Liveness of an abstract spec, checked on the spec that refines it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.api import check
from statewalk.checker.behaviours.replay import replay
from statewalk.checker.report.check import report
from statewalk.checker.verdict.run import PropertyResult
from statewalk.dsl.errors import SpecError

JOB = """
from statewalk import *

class Job(Role):
    asked: bool = False
    done: bool = False
    tool: int = 0

    @action
    def ask(self) -> None:
        require(not self.asked)
        self.asked = True

    @action(fair="weak")
    def work(self) -> None:
        require(self.asked and not self.done)
        self.tool = any_of([1, 2])
        self.done = True

job = Job()
served = leads_to(lambda: job.asked, lambda: job.done)
"""
SHOP = """
from typing import Literal
from statewalk import *

FAIRNESS: Constant[Literal["none", "weak"]] = "weak"

class Shop(Role):
    state: int = 0

    @action
    def order(self) -> None:
        require(self.state == 0)
        self.state = 1

    @action(fair=FAIRNESS)
    def sell(self) -> None:
        require(self.state == 1)
        self.state = 2

shop = Shop()

def seen() -> dict[str, object]:
    return {"Job.asked": shop.state > 0, "Job.done": shop.state == 2}

is_a_job = refines("job.py", by=seen)
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "job.py").write_text(JOB, encoding="utf-8")
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    return tmp_path / "shop.py"


def changed(shop: Path, before: str, after: str, name: str = "job") -> None:
    path = shop.parent / f"{name}.py"
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


def found(shop: Path, **options: Any) -> tuple[PropertyResult, tuple[str, ...]]:
    run = check(shop, properties=("is_a_job",), **options)
    return run.result.of("is_a_job"), run.result.warnings


ENGINES = ["native", "reference", pytest.param("spark", marks=pytest.mark.spark)]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_fair_here_does_in_the_end_what_the_other_says(shop: Path, engine: str) -> None:
    assert "holds" == found(shop, engine=engine)[0].verdict


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_not_fair_here_need_not_happen(shop: Path, engine: str) -> None:
    run = check(shop, {"FAIRNESS": "none"}, engine=engine, properties=("is_a_job",))
    trace = run.traces["is_a_job"]
    text = report(run).plain()

    assert (1, 1) == (trace.length, trace.loop)
    assert "seen as job, whose served it violates" in text
    assert "Shop#0.sell: enabled continuously, not fair" in text
    assert replay(trace, shop).reproduced


def test_a_lasso_is_none_once_the_step_is_fair(shop: Path) -> None:
    trace = check(shop, {"FAIRNESS": "none"}, properties=("is_a_job",)).traces["is_a_job"]
    changed(shop, "fair=FAIRNESS", 'fair="weak"', "shop")
    replayed = replay(trace, shop)

    assert not replayed.reproduced
    assert "its cycle is not fair: Shop#0.sell is weakly fair" in replayed.why


def test_a_lasso_is_none_once_the_other_says_nothing_of_the_end(shop: Path) -> None:
    trace = check(shop, {"FAIRNESS": "none"}, properties=("is_a_job",)).traces["is_a_job"]
    changed(shop, "served = leads_to(lambda: job.asked, lambda: job.done)", "")

    assert "job says nothing of the end any more" in replay(trace, shop).why


def test_what_is_hidden_decides_nothing(shop: Path) -> None:
    changed(shop, "lambda: job.done)", "lambda: job.tool == 1)")
    result, warnings = found(shop)

    assert "unknown" == result.verdict
    assert "SW505" in warnings[0]
    assert "served depends on fields that the map leaves out" in warnings[0]


def test_what_is_hidden_may_be_asked_for_where_it_tells_nothing_apart(shop: Path) -> None:
    changed(shop, "lambda: job.done)", "lambda: job.tool in (1, 2))")

    assert "holds" == found(shop)[0].verdict


def test_liveness_of_the_other_can_be_left_out(shop: Path) -> None:
    result, warnings = found(shop, liveness=False)

    assert "holds" == result.verdict
    assert ("is_a_job: liveness of job was left out (--no-liveness)",) == warnings


def test_a_cut_search_says_nothing_of_the_end(shop: Path) -> None:
    changed(shop, "\nis_a_job", "\n@constraint\ndef few() -> bool:\n    return shop.state < 2\n\n"
            "is_a_job", "shop")  # fmt: skip
    result, warnings = found(shop)

    assert "unknown" == result.verdict
    assert any(w.startswith("is_a_job: SW503") for w in warnings)


def test_a_property_of_the_other_that_raises(shop: Path) -> None:
    changed(shop, "lambda: job.done)", "lambda: 1 // job.tool == 1)")

    with pytest.raises(SpecError, match="liveness property of job raises ZeroDivision") as error:
        found(shop)
    assert "SW364" == error.value.code


def test_fairness_of_the_other_is_told_where_it_promises_nothing(shop: Path) -> None:
    changed(shop, "served = leads_to(lambda: job.asked, lambda: job.done)", "")
    result, warnings = found(shop)

    assert "holds" == result.verdict
    assert warnings[0].startswith("SW506 is_a_job: job calls work fair, which is not asked for.")
    assert () == found(shop, liveness=False)[1]


def test_a_fair_choice_of_the_other_is_told_too(shop: Path) -> None:
    changed(shop, "served = leads_to(lambda: job.asked, lambda: job.done)", "")
    changed(shop, '@action(fair="weak")', "@action")
    assert () == found(shop)[1]
    changed(shop, "any_of([1, 2])", 'any_of([1, 2], fair="strong")')

    assert found(shop)[1][0].startswith("SW506 is_a_job: job calls work fair")


def test_liveness_of_its_own_beside_a_refinement(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(JOB, encoding="utf-8")
    own = tmp_path / "own.py"
    own.write_text(f"{JOB}same = refines('job.py')\n", encoding="utf-8")
    run = check(own, engine="replaying")

    assert {"served": "holds", "same": "holds"}.items() <= {
        p.name: p.verdict for p in run.properties
    }.items()
