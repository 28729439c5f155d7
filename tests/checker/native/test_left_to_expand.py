"""The queue of a search that ends early: each state that was found and not expanded, once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.contract.stops import StoppedBy
from statewalk.checker.engines import reference
from statewalk.checker.native import explore
from statewalk.checker.native.findings import Stage
from statewalk.checker.native.running import exploration_of, loop_of, run, start
from statewalk.checker.native.search import Loop
from statewalk.checker.native.state import NativeSearch
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from tests.cases import slow

SPEC = """
from statewalk import *

class Box(State):
    a: int = 0
    b: int = 0
    @action
    def up(self, by: int = any_of(range(300))) -> None:
        require(self.a == 0)
        self.a = by + 1
    @action
    def mark(self) -> None:
        require(self.a > 0 and self.b == 0)
        self.b = 1

box = Box()
deadlock(False)
"""


@pytest.fixture
def model(tmp_path: Path) -> Model:
    path = tmp_path / "spec.py"
    path.write_text(SPEC)
    return load(path)


class After:
    """Interrupts when it is asked for the n-th time."""

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize("asked", [2, 3, 4, 5, slow(6), slow(7), slow(8)])
def test_the_reference_counts_what_it_did_not_get_to(asked: int, model: Model) -> None:
    found = reference.explore(model, SearchOptions(interrupted=After(asked)))

    expanded = found.counts.generated - found.counts.distinct  # none comes twice
    assert "interrupt" == found.stopped
    assert 0 == expanded
    assert found.counts.distinct - found.queue == 1 + sum(
        times for index, times in found.fired.items() if model.actions[index].name == "mark"
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("asked", range(2, 6))
def test_so_does_the_native_engine(asked: int, model: Model) -> None:
    found = explore(model, SearchOptions(interrupted=After(asked)))

    if found.stopped:
        marked = sum(
            times for index, times in found.fired.items() if model.actions[index].name == "mark"
        )
        assert found.queue in (found.counts.distinct, found.counts.distinct - 1 - marked)


@dataclass
class Elsewhere:
    """Others that are stopped in the middle of a level, and give nothing of it."""

    search: NativeSearch
    ended: StoppedBy | None = None
    on_disk: tuple[int, int] | None = None

    @property
    def n(self) -> int:
        return self.search.level.n if len(self.search.links) == 2 else 0

    def takes_over(self, expanded: int) -> bool:
        return self.n > 0

    def expand(self, loop: Loop, stage: Stage) -> StoppedBy | None:
        return "time"

    def advance(self, loop: Loop, stage: Stage) -> bool:
        return False

    def save(self) -> bool:
        return True


def test_a_level_that_others_did_not_finish_is_left_once(model: Model) -> None:
    search = start(model, SearchOptions())
    loop = loop_of(search, elsewhere=Elsewhere(search))
    found = exploration_of(loop, run(loop))

    assert ("time", 300) == (found.stopped, found.queue)
