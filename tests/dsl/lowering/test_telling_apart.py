"""A helper or a turn of a loop that asks whether two things are the same one is not answered for by
others that hold the same.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.loader import load
from tests.cases import slow

SPEC = """
from statewalk import *
class Job(Record):
    stage: int = 0
class N(State):
    x: int = 0
    todo: set[Job] = {Job(1)}
    done: set[Job] = set()
    rows: list[tuple[int, list[int]]] = [(1, [5])]
    @action
    def go(self) -> None:
        require(self.x == 0)
        self.x = 1
        self.done = {Job(1)}
        self.rows.append((2, [5]))
n = N()
deadlock(False)
def same(a: object, b: object) -> bool:
    return a is b and n.x >= 0
def by_way(a: object, b: object) -> bool:
    return same(a, b) and n.x >= 0
def turns(a: object, others: list[object]) -> int:
    found = 0
    for b in others:
        if same(a, b):
            return found
        found = 1
    return 2
"""
ASKED = {
    "a call": "same(a, a) and (b is None or not same(a, b))",
    "a call by way of another": "by_way(a, a) and (b is None or not by_way(a, b))",
    "turns of a loop": "turns(a, [a]) == 0 and turns(a, [b]) == 2",
}
TAKEN = {
    "of two sets": "next(iter(n.todo)), next(iter(n.done), None)",
    "of two tuples": "n.rows[0][1], (n.rows[1][1] if n.x else None)",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", [slow(reference), native])
@pytest.mark.parametrize("taken", TAKEN)
@pytest.mark.parametrize("asked", ASKED)
def test_what_holds_the_same_is_not_the_same_one(
    asked: str, taken: str, engine: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "spec.py"
    said = f"@always\ndef p() -> bool:\n    a, b = {TAKEN[taken]}\n    return {ASKED[asked]}\n"
    path.write_text(SPEC + said)

    assert () == engine.explore(load(path), SearchOptions()).findings
