"""An expectation is held against what --property asks for, and says what it did not look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.cli import main

SPEC = """
from statewalk import *

class Box(State):
    n: int = 0
    @action
    def up(self) -> None:
        require(self.n < 5)
        self.n += 1

box = Box()
deadlock(False)

@always
def below_two() -> bool:
    return box.n < 2

@always
def below_four() -> bool:
    return box.n < 4

@always
def below_nine() -> bool:
    return box.n < 9

config("both", expect=violates({below_two: 2, below_four: 4}))
config("counted", expect=violates(below_four, length=4, states=6))
config("early", expect=violates({below_two: 2, below_four: 3}))
config("any", expect=violates())
config("any-in-two", expect=violates(length=2))
config("all", expect=holds())
config("counts", expect=holds(distinct=6))
config("fewer", expect=holds(distinct=5))
"""
CASES = [
    ("both", "below_two", 0, "as expected, in what --property asks for; of below_four, which"),
    ("both", "below_four", 0, "of below_two, which --property leaves out, nothing is said"),
    ("both", "below_nine", 0, "not compared: the configuration expects something of below_two and"),
    ("counted", "below_two", 1, "not compared: the configuration expects something of below_four"),
    ("counted", "below_four", 0, "as expected"),
    ("early", "below_two", 0, "as expected, in what --property asks for; of below_four"),
    ("early", "below_four", 4, "below_four violated after 3 steps, found 4"),
    ("any", "below_two", 0, "as expected, in what --property asks for"),
    ("any", "below_nine", 3, "cannot be told: the search did not see all that it speaks of; it"),
    ("any-in-two", "below_two", 0, "as expected"),
    ("any-in-two", "below_four", 3, "cannot be told"),
    ("all", "below_nine", 0, "as expected, in what --property asks for"),
    ("all", "below_two", 4, "to hold, but the verdict is 'violated'"),
    ("counts", "below_nine", 0, "as expected, in what --property asks for"),
    ("fewer", "below_nine", 4, "distinct 5, found 6"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("config", "asked", "code", "said"), CASES)
def test_what_an_expectation_says_of_what_was_asked(
    config: str, asked: str, code: int, said: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("spec.py").write_text(SPEC)
    options = ["--config", config, "--property", asked, "--engine", "reference"]
    found = main(["check", "spec.py", *options])
    shown = " ".join(capsys.readouterr().out.split())

    assert code == found
    assert said in shown
