"""A lasso that is replayed: it is one as long as it is fair, and the property fails on it."""

from pathlib import Path

import pytest

from statewalk import check, replay
from statewalk.checker.cli import main
from tests.cases import some
from tests.places import ROOT

SPECS = sorted((ROOT / "tests/checker/liveness/specs").glob("*.py"))
TOGGLE = """
from statewalk import *

class W(State):
    n: int = 0
    m: int = 0

    @action(fair="weak")
    def toggle(self) -> None:
        self.n = 1 - self.n

    @action(fair="weak")
    def mark(self) -> None:
        require(self.n == 1)
        self.m = 1

w = W()

@eventually
def e() -> bool:
    return w.m == 1
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("spec", some(SPECS, every=5), ids=lambda path: path.stem)
def test_what_a_check_finds_is_reproduced(spec: Path, tmp_path: Path) -> None:
    check(spec, engine="reference", keep_going=True, out=tmp_path / "run")

    outcomes = [replay(trace) for trace in (tmp_path / "run").glob("*.trace.json")]

    assert [] == [outcome.why for outcome in outcomes if not outcome.reproduced]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            '"weak")\n    def mark',
            '"strong")\n    def mark',
            "its cycle is not fair: W#0.mark is strongly fair, enabled repeatedly",
        ),
        (
            "require(self.n == 1)",
            "require(self.n >= 0)",
            "mark is weakly fair, enabled continuously",
        ),
        ("w.m == 1", "w.n == 1", "e holds of it now"),
        ("def e()", "def f()", "the spec has no such e"),
        ("return w.m == 1", "return 1 // w.m == 1", "e raises ZeroDivisionError"),
    ],
)
def test_a_lasso_that_is_none_any_more_diverges(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, why: str
) -> None:
    spec, run = tmp_path / "spec.py", tmp_path / "run"
    spec.write_text(TOGGLE, encoding="utf-8")
    check(spec, engine="reference", out=run)
    trace = str(run / "e.trace.json")

    assert 0 == main(["replay", trace, "--spec", str(spec)])
    spec.write_text(TOGGLE.replace(old, new), encoding="utf-8")
    assert 5 == main(["replay", trace, "--spec", str(spec)])
    assert why in " ".join(capsys.readouterr().out.split())


STEP = """
from statewalk import *

class C(State):
    n: int = 0

    @action
    def go(self) -> None:
        require(self.n < 2)
        if self.n == 1:
            assert False
        self.n += 1

c = C()

@on_step
def still() -> bool:
    return c.n == old(c.n)
"""


@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        ("still", "c.n == old(c.n)", "c.n >= old(c.n)", "still holds at the end"),
        ("still", "def still", "def quiet", "the spec has no such still"),
        ("assertion", "assert False", "1 // 0", "raises ZeroDivisionError"),
    ],
)
def test_steps_and_errors_are_asked_about_too(
    tmp_path: Path, name: str, old: str, new: str, why: str
) -> None:
    spec, run = tmp_path / "spec.py", tmp_path / "run"
    spec.write_text(STEP, encoding="utf-8")
    check(spec, engine="reference", keep_going=True, out=run)
    traces = {trace.name.partition(".")[0]: trace for trace in run.glob("*.trace.json")}
    found = next(t for n, t in traces.items() if name.lower() in n.lower())

    assert replay(found).reproduced
    spec.write_text(STEP.replace(old, new), encoding="utf-8")
    assert why in replay(found).why
