"""Recursion: as deep as Python allows, in a check too; deeper is an error of the spec."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from statewalk import check
from tests.cases import slow

SPEC = """
from statewalk import *

class Chain(State):
    after: dict[int, int] = {AFTER}
    out: int = 0
    @action
    def go(self) -> None:
        require(self.out == 0)
        self.out = depth(0)

def depth(i: int) -> int:
    return 1 + DEEPER if i in chain.after else 1

chain = Chain()
deadlock(False)

@always
def whole() -> bool:
    return chain.out in (0, 301) and depth(0) == 301
"""
DEEPER = [
    "depth(chain.after[i])",
    "sum(depth(j) for j in [chain.after[i]])",
    "sorted([chain.after[i]], key=lambda x: x * depth(x))[0] * 0",
]


def written(folder: Path, after: str, deeper: str) -> Path:
    path = folder / "spec.py"
    path.write_text(SPEC.replace("AFTER", after).replace("DEEPER", deeper))
    return path


@pytest.mark.parametrize("engine", [slow("reference"), "native"])
@pytest.mark.parametrize("deeper", DEEPER[:2])
def test_what_python_bears_is_no_error(deeper: str, engine: str, tmp_path: Path) -> None:
    run = check(written(tmp_path, "i: i + 1 for i in range(300)", deeper), engine=engine)

    assert ("holds", 2) == (run.verdict, run.counts.distinct)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", [slow("reference"), "native"])
@pytest.mark.parametrize("deeper", DEEPER)
def test_what_has_no_end_is_an_error_of_the_spec(
    deeper: str, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a generator that is closed at the limit cannot even say so: Python has no frame left for it
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)

    run = check(written(tmp_path, "0: 0", deeper), engine=engine)

    assert "error" == run.verdict
    assert run.evidence.failure is not None
    assert "RecursionError" in run.evidence.failure.title


MUTANT = """
from statewalk import *

class Log(State):
    end: int = 0
    @action
    def go(self) -> None:
        self.append(1)
    def append(self, n: int) -> None:
        self.end = (self.end + n) % 2

log = Log()

@mutant(Log.append)
def twice(self: Log, n: int) -> None:
    CALL
    self.end = 0

@mutant(Log.append)
def other(self: Log, n: int) -> None:
    deeper(n)

def deeper(n: int) -> int:
    return deeper(n + 1)
"""


@pytest.mark.parametrize("engine", [slow("reference"), "native"])
@pytest.mark.parametrize(
    ("mutant", "call", "said"),
    [
        ("twice", "Log.append(self, n)", True),
        ("twice", "self.append(n)", True),
        ("other", "pass", False),
    ],
)
def test_a_mutant_that_calls_what_it_stands_in_for_is_told_so(
    mutant: str, call: str, said: bool, engine: str, tmp_path: Path
) -> None:
    path = tmp_path / "spec.py"
    path.write_text(MUTANT.replace("CALL", call))

    run = check(path, constants={"MUTANT": mutant}, engine=engine)

    assert run.evidence.failure is not None
    assert "RecursionError" in run.evidence.failure.title
    assert said == ("the mutant twice calls itself" in run.evidence.failure.title)
    assert said == ("stands in for" in run.evidence.failure.why)
