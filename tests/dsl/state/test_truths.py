"""Laws of Python's containers hold for those in the state, in every engine."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.dsl.errors import place_of
from statewalk.dsl.loader import load
from tests.cases import some

from .truths import truths
from .truths_told import in_python, spec

PARTS = 180


@pytest.mark.parametrize(
    ("part", "optimize"), some(product(range(PARTS), (False, True)), every=361)
)
def test_truths_of_python_are_truths_of_the_state(
    part: int, optimize: bool, tmp_path: Path
) -> None:
    texts = truths()[part::PARTS]
    path = tmp_path / "box.py"
    path.write_text(spec(texts))
    model = load(path, optimize=optimize)
    said = []
    for action in model.actions:
        (outcome,) = model.outcomes(action, model.initial_states[0])
        said.append(outcome.writes["Box", 0, "said"])

    expected = in_python(texts)
    assert [] == [x for x in zip(texts, expected, said, strict=True) if x[1] != x[2]]


@pytest.mark.parametrize("part", some(range(PARTS), every=180))
def test_truths_of_python_are_truths_of_what_is_learned(part: int, tmp_path: Path) -> None:
    texts = truths()[part::PARTS]
    path = tmp_path / "box.py"
    path.write_text(spec(texts, in_python(texts)))
    found = native.explore(load(path), SearchOptions())

    assert [] == [texts[f.steps[-1].action] for f in found.findings]
    assert 1 + len(texts) == found.counts.distinct


CHANGING = """
from statewalk import *

class Box(State):
    s: set[int] = {1, 2}
    d: dict[int, int] = {1: 1}
    left: int = 1
    def drop(self, x: int) -> int:
        self.s.discard(x)
        return x
    @action
    def go(self) -> None:
        require(self.left)
        self.left = 0
        LOOP

box = Box()
deadlock(False)
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("optimize", [False, True], ids=["plain", "lowered"])
@pytest.mark.parametrize(
    "loop",
    [
        "for x in self.s: self.s.add(x + 5)",
        "for x in self.s: self.drop(x)",
        "self.left = len([self.drop(x) for x in self.s])",
        "self.left = sum(self.drop(x) for x in self.s)",
        "for x in self.d: self.d[x + 1] = 1",
        "for x, y in self.d.items(): self.d.pop(x)",
        "for x in self.d.values(): self.d.clear()",
        "for x in self.s: self.drop(x); self.s.add(x + 7)",
    ],
)
def test_what_changes_while_it_is_gone_through_is_an_error_of_the_spec_with_its_place(
    loop: str, optimize: bool, tmp_path: Path
) -> None:
    path = tmp_path / "box.py"
    path.write_text(CHANGING.replace("LOOP", loop))
    error = native.explore(load(path, optimize=optimize), SearchOptions()).findings[0].error

    place = place_of(error, {str(path)}) if error is not None else None
    assert isinstance(error, RuntimeError)
    assert "changed during iteration" in str(error)
    assert place is not None
    assert 15 == place.line
