"""Comparisons from Python, and how they show themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk import Comparison, compare, load
from statewalk.dsl.errors import RunError, StatewalkError

DIE_HARD = "toys/die_hard"


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare(DIE_HARD, vary={"GOAL": [4, 6]}, engine="reference")


def test_a_constant_is_varied_or_specs_are_named(found: Comparison) -> None:
    again = compare(load(DIE_HARD, {"GOAL": 6}), load(DIE_HARD, {"GOAL": 6}), engine="reference")

    assert ["GOAL=4", "GOAL=6"] == [side.name for side in found.sides]
    assert ["violated", "holds"] == [side.run.verdict for side in found.sides]
    assert ["holds", "holds"] == [side.run.verdict for side in again.sides]


def test_a_comparison_shows_itself_without_scripts(found: Comparison) -> None:
    shown = found._repr_html_()

    assert "violated at 6" in str(found)
    assert "Again" not in str(found)
    assert '#17784a; font-weight: 600">holds · fixed</td>' in shown
    assert "goal_not_reached is violated with GOAL=4" in shown
    assert "<script" not in shown
    assert found._repr_markdown_().startswith("### GOAL=6 beside GOAL=4")
    assert "<iframe" in found.explore()._repr_html_()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("others", "options"),
    [
        ((), {}),
        ((DIE_HARD,), {"vary": {"GOAL": [4, 6]}}),
        ((), {"vary": {"GOAL": [4]}}),
        ((), {"vary": {"GOAL": [4, 6], "BIG": [5, 6]}}),
    ],
)
def test_what_cannot_be_compared_is_said(others: tuple[str, ...], options: Any) -> None:
    with pytest.raises(RunError, match="SW361"):
        compare(DIE_HARD, *others, **options)


def test_a_constant_goes_to_the_sides_that_have_it(tmp_path: Path) -> None:
    text = (
        "from statewalk import *\ndeadlock(False)\n{name}: Constant[int] = 1\n"
        "class M(Role):\n    v: int = 0\n    @action\n    def up(self) -> None:\n"
        "        require(self.v < {name})\n        self.v += 1\nm = M()\n"
    )
    paths = [tmp_path / "one.py", tmp_path / "two.py"]
    for path, name in zip(paths, ("ONE", "TWO"), strict=True):
        path.write_text(text.format(name=name), encoding="utf-8")

    for name, counts in (("ONE", [3, 2]), ("TWO", [2, 3])):
        found = compare(*paths, constants={name: 2}, engine="reference")
        assert counts == [side.run.counts.distinct for side in found.sides]
    with pytest.raises(StatewalkError, match="no constant NONE"):
        compare(*paths, constants={"NONE": 2}, engine="reference")
