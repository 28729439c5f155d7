"""The constants that decide a counterexample, as a page tells them, and what its steps read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk import Run, check
from statewalk.checker.page.data import of_run

SPEC = """
from typing import Literal

from statewalk import Constant, State, action, always, eventually, require

# how the counter goes on
STEP: Constant[
    Literal[
        "by_two",  # it misses odd numbers
        "by_one",  # it takes its time
        "by_three",  # it goes too far
        "down",
    ]
] = "by_two"
GUARDED: Constant[bool] = False  # it stops before the end
LOUD: Constant[bool] = False
SIZE: Constant[int] = 4

STEPS = {"by_two": 2, "by_one": 1, "by_three": 3, "down": -1}
FAR = STEPS[STEP]


class Counter(State):
    n: int = 0
    said: bool = False
    unread: int = 0

    @action
    def go(self) -> None:
        require(not GUARDED or self.n + FAR < SIZE)
        require(0 <= self.n + FAR < 8)
        self.n += FAR
        self.said = LOUD


counter = Counter()


@always
def below() -> bool:
    return counter.n < SIZE
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    file = tmp_path_factory.mktemp("deciding") / "counter.py"
    file.write_text(SPEC)
    return of_run(check(file, engine="reference"))["traces"][0]  # type: ignore[no-any-return]


def test_values_with_which_the_steps_do_no_harm_are_told_with_their_comments(
    path: dict[str, Any],
) -> None:
    step, guarded = path["decided"]  # LOUD changes nothing of the property
    step_1 = "step 1 is not possible: `require(0 <= self.n + FAR < 8)` is false"
    step_2 = "step 2 is not possible: `require(not GUARDED or self.n + FAR < SIZE)` is false"
    assert (step["name"], step["value"], step["doc"]) == (
        "STEP",
        "'by_two'",
        "it misses odd numbers",
    )
    assert step["others"] == [
        ["'by_one'", "it takes its time", "holds", ""],
        ["'by_three'", "it goes too far", "fails", ""],
        ["'down'", "", "", step_1],
    ]
    assert (guarded["name"], guarded["doc"]) == ("GUARDED", "it stops before the end")
    assert guarded["others"] == [["True", "", "stops", step_2]]


def test_a_step_tells_the_fields_that_it_read(path: dict[str, Any]) -> None:
    assert [step["reads"] for step in path["steps"]] == [["Counter.n"]] * 2


def test_a_page_has_the_functions_with_which_its_property_is_judged(path: dict[str, Any]) -> None:
    ((place, lines, values),) = path["judged"]

    assert place.endswith("counter.py:39")
    assert lines == [41]
    assert values[41] == "counter.n = 4 · SIZE = 4 · returns False"


@pytest.mark.thorough
def test_a_mutant_is_told_with_what_comes_of_the_steps_without_it(run: Run) -> None:
    (mutant,) = of_run(run)["traces"][0]["decided"]

    assert (mutant["name"], mutant["value"]) == ("MUTANT", "'no_epoch_bump'")
    assert mutant["doc"].startswith("A request sets the epoch")
    assert mutant["others"] == [["'none'", "", "holds", ""]]


def test_no_constant_decides_what_never_ends(tmp_path: Path) -> None:
    file = tmp_path / "counter.py"
    file.write_text(SPEC.replace("@always", "@eventually").replace("n < SIZE", "n == 1"))
    assert "decided" not in of_run(check(file, engine="reference"))["traces"][0]
