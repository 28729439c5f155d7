"""Conditions that are always true are refused: functions that are not called, generators,
lambdas.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.dsl.errors import SpecErrors
from statewalk.dsl.loader import load

SPEC = """
from statewalk import *
import math

def helper() -> bool:
    return False

chosen = helper if math.pi > 3 else None

class Box(State):
    n: int = 0
    others: list[int] = []

    def ready(self) -> bool:
        return self.n == 0

    @property
    def shut(self) -> bool:
        return self.n == 0

    def asked(self, given: object = None, helped: bool = False) -> bool:
        BODY

    @action
    def go(self) -> None:
        require(self.asked())
        self.n = 1

box = Box()
boxes = [box]

@always
def p() -> bool:
    RESULT
"""
BODIES = [
    "require(helper)",
    "require(self.ready and self.n == 0)",
    "assert helper",
    "assert not self.ready",
    "x = 1 if helper else 2",
    "while math.isqrt: pass",
    "x = any(helper for _ in range(2))",
    "x = all([box.ready for box in boxes])",
    "x = [n for n in self.others if helper]",
    "x = bool(helper)",
    "x = helper or 3",
    "if self.n == 0 or len: pass",
    "if NotImplemented: pass",
    "if (n > 1 for n in self.others): pass",
    "assert lambda: self.n == 0",
]
RESULTS = [
    "return helper",
    "return box.ready",
    "return (b.n == 0 for b in boxes)",
    "return box.n == 0 and helper",
    "return helper if box.n else True",
    "return NotImplemented",
    "return lambda: box.n == 0",
]
RIGHT = [
    "require(self.shut)",
    "assert helper()",
    "x = given or helper",
    "x = given and given()",
    "x = [helper]",
    "if helped: pass",
    "x = any(map(helper, []))",
    "x = min([1], key=abs)",
    "if self.others: pass",
    "x = chosen and chosen()",
    "len = self.n; x = 1 if len else 2",
]


def errors(tmp_path: Path, body: str = "pass", result: str = "return box.n < 2") -> list[str]:
    path = tmp_path / "spec.py"
    text = SPEC.replace("BODY", f"{body}\n        return True").replace("RESULT", result)
    path.write_text(text)
    try:
        load(path)
    except SpecErrors as found:
        return [error.code for error in found.errors]
    return []


@pytest.mark.sampled(4)
@pytest.mark.parametrize("body", BODIES)
def test_what_is_always_true_is_not_asked(body: str, tmp_path: Path) -> None:
    assert ["SW128"] == errors(tmp_path, body)


@pytest.mark.parametrize("result", RESULTS)
def test_what_is_always_true_is_no_property(result: str, tmp_path: Path) -> None:
    assert ["SW128"] == errors(tmp_path, result=result)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("body", RIGHT)
def test_what_may_be_false_is_asked(body: str, tmp_path: Path) -> None:
    assert [] == errors(tmp_path, body)


@pytest.mark.parametrize(
    "result", ["helper", "len", "not helper", "s == 1 and helper", "any([helper for _ in [1]])"]
)
def test_an_assertion_of_a_text_spec_calls_its_functions(result: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(
        "action Init:\n  s = 1\n\nfunc helper():\n  return False\n\natomic action Go:\n  s = 2\n\n"
        f"always assertion P:\n  return {result}\n"
    )

    with pytest.raises(SpecErrors) as caught:
        load(path)

    [error] = caught.value.errors
    assert "SW128" == error.code
    assert error.at is not None
    assert 11 == error.at.line
