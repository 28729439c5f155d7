"""Properties of steps in the long run, and assumptions, as a spec states them."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk import check, load, replay
from statewalk.checker.verdict.run import Run
from statewalk.dsl.errors import SpecError

SPEC = """
from statewalk import *

class Box(State):
    n: int = 0
    up: bool = True

    @action(fair="weak")
    def tick(self) -> None:
        require(self.up)
        self.n = (self.n + 1) % 3

    @action
    def toggle(self) -> None:
        self.up = not self.up

box = Box()
"""
WRAPS = """
@always
@eventually
@on_step
def wraps() -> bool:
    return old(box.n) == 2 and box.n == 0
"""
ONLY_TICKS = """
@eventually
@always
@on_step
def only_ticks() -> bool:
    return old(box.up) == box.up
"""
STAYS_UP = "\n@assume\n@eventually\n@always\ndef stays_up() -> bool:\n    return box.up\n"
IS_UP = "\n@assume\n@always\n@eventually\ndef is_up() -> bool:\n    return box.up\n"
NO_TOGGLE = ONLY_TICKS.replace("\n@eventually", "\n@assume\n@eventually").replace("only_", "just_")
ENGINES = ("reference", "native")


def found(folder: Path, text: str, engine: str = "reference") -> Run:
    (folder / "spec.py").write_text(SPEC + text)
    return check(folder / "spec.py", engine=engine, keep_going=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("assumed", "wraps", "ticks"),
    [
        ("", "violated", "violated"),
        (IS_UP, "violated", "violated"),  # up and down for ever, no tick
        (STAYS_UP, "holds", "holds"),  # then ticking is all there is, and fair
        (NO_TOGGLE, "violated", "holds"),  # it may stay down
        (IS_UP + NO_TOGGLE, "holds", "holds"),
    ],
)
def test_assumptions_leave_out_behaviors(
    assumed: str, wraps: str, ticks: str, engine: str, tmp_path: Path
) -> None:
    run = found(tmp_path, assumed + WRAPS + ONLY_TICKS, engine)

    assert (wraps, ticks) == tuple(run.result.of(n).verdict for n in ("wraps", "only_ticks"))
    for trace in run.traces.values():
        assert replay(trace, str(tmp_path / "spec.py")).reproduced


def test_a_trace_that_an_assumption_excludes_is_no_counterexample_any_more(tmp_path: Path) -> None:
    trace = found(tmp_path, WRAPS).traces["wraps"]
    (tmp_path / "spec.py").write_text(SPEC + WRAPS + STAYS_UP)

    again = replay(trace, str(tmp_path / "spec.py"))

    assert not again.reproduced
    assert "it does not satisfy the assumption stays_up" in again.why


def test_the_report_says_what_is_assumed(tmp_path: Path) -> None:
    run = found(tmp_path, WRAPS + IS_UP)

    assert ("is_up (always eventually)",) == run.evidence.fairness["assumed"]


def test_the_report_names_the_choices_that_are_fair(tmp_path: Path) -> None:
    model = load(Path(__file__).parent / "specs" / "single_option.py")

    assert ("each choice of pick",) == check(model).evidence.fairness["strong"]


def test_an_assumption_that_nothing_satisfies_is_an_error(tmp_path: Path) -> None:
    never = IS_UP.replace("return box.up", "return box.n == 7")
    with pytest.raises(SpecError) as raised:
        found(tmp_path, WRAPS + IS_UP.replace("is_up", "also") + never)

    assert "SW507" == raised.value.code
    assert "the assumption 'is_up'" in raised.value.message


def test_a_violation_is_reported_before_it(tmp_path: Path) -> None:
    never = IS_UP.replace("return box.up", "return box.n == 7")
    run = found(tmp_path, WRAPS + never + "\n@always\ndef low() -> bool:\n    return box.n < 2\n")

    assert "violated" == run.result.of("low").verdict
    assert "SW507" in dict(run.evidence.unchecked)["wraps"]


def test_assumptions_that_exclude_each_other_are_an_error(tmp_path: Path) -> None:
    down = STAYS_UP.replace("stays_up", "stays_down").replace("box.up", "not box.up")
    with pytest.raises(SpecError) as raised:
        found(tmp_path, WRAPS + IS_UP + down)

    assert "the assumptions 'is_up' and 'stays_down'" in raised.value.message


@pytest.mark.parametrize("decorators", ["@assume", "@assume\n@eventually", "@assume\n@on_step"])
def test_what_is_no_assumption_about_behaviors_is_refused(decorators: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="SW113"):
        found(tmp_path, f"\n{decorators}\ndef up() -> bool:\n    return box.up\n")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_property_of_steps_that_raises_is_shown_with_its_step(
    engine: str, tmp_path: Path
) -> None:
    run = found(tmp_path, WRAPS.replace("box.n == 0", "1 // box.n == 0"), engine)

    assert "error" == run.result.verdict
    assert "ZeroDivisionError" in str(run.evidence.failure)
