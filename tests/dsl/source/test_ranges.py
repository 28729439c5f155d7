"""Over which values parameters range: what is looked up once, and what cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk import Run, check
from statewalk.checker.cli import main

HEAD = """
from statewalk import *
N: Constant[int] = 3
class Box(Role):
    n: int = 0
    items: set[int] = {1, 2}
    SIZES = (1, 2)
    @action
    def put(self%s) -> None:
        self.n = 1
        self.items = {self.n}
"""
TAIL = """
box = Box()
def sizes() -> list[int]:
    return [box.n, 3]
@action
def take(%s) -> None:
    box.n = 2
@always
def small(%s) -> bool:
    return box.n < 3
"""


def spec(
    folder: Path, *, put: str = "", take: str = "", small: str = "", more: str = "", head: str = ""
) -> str:
    file = folder / "spec.py"
    put = f", {put}" if put else ""
    file.write_text(HEAD % put + head + TAIL % (take, small) + more)
    return str(file)


STATE = ["box.items", "range(box.n)", "sizes()", "sorted(box.items)"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("over", STATE)
@pytest.mark.parametrize("where", ["take", "small"])
def test_what_depends_on_the_state_is_chosen_in_the_body(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], over: str, where: str
) -> None:
    code = main(["check", spec(tmp_path, **{where: f"i: int = any_of({over})"})])
    err = capsys.readouterr().err

    assert code == 2
    assert "SW112 The values of 'i'" in err
    assert f"Choose in the body: i = any_of({over})" in err


@pytest.mark.parametrize("over", ["self.items", "box.items", "items", "n"])
def test_a_method_says_so_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], over: str
) -> None:
    code = main(["check", spec(tmp_path, put=f"i: int = any_of({over})")])
    err = capsys.readouterr().err

    assert code == 2
    assert "SW112" in err
    assert f"Choose in the body: i = any_of({over})" in err


@pytest.mark.parametrize("over", ["1 / 0", "3", "NONE", "[require(False)]"])
def test_values_that_cannot_be_found_are_a_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], over: str
) -> None:
    code = main(["check", spec(tmp_path, take=f"i: int = any_of({over})")])

    assert code == 2
    assert "SW112 The values of 'i' of the action 'take' cannot be found" in capsys.readouterr().err


def result(file: str) -> Run:
    return check(file, engine="reference")


def fired(file: str) -> dict[str, int]:
    return {a.name: a.fired for a in result(file).actions}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("over", ["range(0)", "[]", "range(N - 3)", "x for x in ()"])
def test_an_action_without_values_never_happens_and_is_warned_of(tmp_path: Path, over: str) -> None:
    file = spec(tmp_path, take=f"i: int = any_of({over})")

    assert ["put"] == list(fired(file))
    assert any("SW609" in w and "'take' never happens" in w for w in result(file).warnings)


@pytest.mark.parametrize(
    ("over", "values"), [("range(N)", 3), ("{1, 2}", 2), ("SIZES", 2), ("LATER", 4)]
)
def test_names_of_the_module_and_of_the_class_are_known(
    tmp_path: Path, over: str, values: int
) -> None:
    file = spec(tmp_path, put=f"i: int = any_of({over})", more="LATER = (1, 2, 3, 4)\n")

    assert 4 * values == fired(file)["put"]


def test_maybe_is_a_range(tmp_path: Path) -> None:
    assert 8 == fired(spec(tmp_path, put="i: bool = maybe()"))["put"]


MISTAKES = {
    "a choice on module level": {"more": "k = any_of([1, 2])\n"},
    "a guard on module level": {"more": "require(N > 3)\n"},
    "fairness of a parameter": {"take": "i: int = any_of([1], fair='weak')"},
    "a parameter by keyword only": {"take": "*, i: int = any_of([1])"},
    "any number of parameters": {"take": "*i: int"},
    "a default of a helper": {"more": "def help(i: int = any_of([1])) -> int:\n    return i\n"},
    "a default of @init": {
        "more": "@init\ndef start(i: int = any_of([1, 2])) -> None:\n    box.n = i\n"
    },
}


@pytest.mark.parametrize("wrong", [pytest.param(v, id=k) for k, v in MISTAKES.items()])
def test_what_would_not_be_gone_through_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: dict[str, str]
) -> None:
    code = main(["check", spec(tmp_path, **wrong)])
    err = capsys.readouterr().err

    assert code == 2
    assert "spec.py:" in err


UNPLAYED = """
class Other(Role):
    a: int = 0
    @action
    def go(self) -> None:
        self.a = 1
@always
def fine(other: Other) -> bool:
    return other.a < 1
"""


def test_a_role_that_nobody_plays_is_warned_of(tmp_path: Path) -> None:
    warnings = result(spec(tmp_path, more=UNPLAYED)).warnings

    assert 2 == sum("SW609" in w and "other = Other()" in w for w in warnings)


def test_a_role_that_is_made_in_other_numbers_is_not(tmp_path: Path) -> None:
    more = UNPLAYED + "others = [Other() for _ in range(N - 3)]\n"
    warnings = result(spec(tmp_path, more=more)).warnings

    assert not any("SW609" in w for w in warnings)


def test_a_spec_of_roles_that_nobody_plays_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "none.py").write_text("from statewalk import *\n" + UNPLAYED)
    code = main(["check", str(tmp_path / "none.py")])

    assert code == 2
    assert "no Other is created" in capsys.readouterr().err


def test_a_value_that_is_there_twice_is_one(tmp_path: Path) -> None:
    twice = spec(
        tmp_path,
        take="n: int = any_of([1, True, 1, 2]), m: Literal[1, 2] | Literal[2, 3] = 1",
        small="n: int = any_of([1, 1, 2])",
        head="from typing import Literal\n",
    )

    run = check(twice)

    assert 2 == sum(p.name.startswith("small") for p in run.properties)
