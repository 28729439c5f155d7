"""Random walks: reproducible, honest about what they prove, and as clear as a check."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.cli import main

SPEC = """
from statewalk import Role, action, always, any_of, constraint, deadlock, on_step, require, terminal

class Counter(Role):
    n: int = 0

    @action
    def up(self) -> None:
        require(self.n < 5)
        self.n += any_of([1, 2])
        {action}

counter = Counter()
deadlock(False)

{property}
def judged() -> bool:
    {judge}
    return counter.n >= 0
"""


def simulate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *arguments: str, property: str = "@always",
    action: str = "", judge: str = "",
) -> tuple[int, str]:  # fmt: skip
    text = SPEC.format(property=property, action=action, judge=judge)
    (tmp_path / "spec.py").write_text(text, encoding="utf-8")
    code = main(["simulate", str(tmp_path / "spec.py"), *arguments])
    out, err = capsys.readouterr()
    return code, out + err


def test_equal_seeds_give_equal_walks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    walks = [simulate(tmp_path, capsys, "--seed", seed, "--runs", "20") for seed in "773"]

    assert walks[0] == walks[1]
    assert walks[0][1] != walks[2][1]


def test_it_never_says_that_anything_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, printed = simulate(tmp_path, capsys)

    assert code == 3
    assert "HOLDS" not in printed
    assert "proves nothing" in printed


def test_a_violation_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, printed = simulate(tmp_path, capsys, judge="if counter.n > 3: return False")

    assert code == 1
    assert "counter.n > 3  is true" in printed
    assert "a shortest trace" not in printed


@pytest.mark.parametrize(
    ("property", "where"),
    [
        ("@always", "in the property 'judged'"),
        ("@on_step", "in the property 'judged'"),
        ("@constraint", "in the constraint 'judged'"),
        ("@constraint\n@on_step", "in the constraint 'judged'"),
    ],
)
def test_what_raises_is_named_with_the_way_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], property: str, where: str
) -> None:
    judge = "1 // (0 if counter.n > 2 else 1)"
    code, printed = simulate(tmp_path, capsys, property=property, judge=judge)

    assert code == 2
    assert "SW205 ZeroDivisionError" in printed
    assert where in printed
    assert "Counter#0 · up" in printed


def test_an_action_that_raises(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, printed = simulate(tmp_path, capsys, action="[][self.n - 3] if self.n > 2 else 0")

    assert code == 2
    assert "SW205 IndexError" in printed
    assert "in the action Counter#0 · up" in printed


def test_a_step_that_goes_on_choosing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    action = "\n        while any_of([True, False]): pass"
    code, printed = simulate(tmp_path, capsys, action=action)

    assert code == 2
    assert printed.startswith("SW154")
