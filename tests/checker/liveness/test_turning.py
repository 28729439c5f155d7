"""States excluded before the search for cycles are part of none."""

from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest

from statewalk import check
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.liveness.collect import collect
from statewalk.checker.liveness.graph import StateGraph
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model, Property
from tests.cases import some
from tests.checker.native.generated import generate
from tests.places import ROOT

TOYS = ROOT / "models" / "toys"
NEVER = Property("never", "eventually", (), lambda: False)


def graph_of(model: Model) -> StateGraph | None:
    return collect(model, SearchOptions(max_states=300), (NEVER,))


def on_cycles(graph: StateGraph) -> set[int]:
    """The labels of steps that change the state and from whose end a way leads back."""
    after = [set(graph.targets[a:b].tolist()) for a, b in pairwise(graph.offsets.tolist())]
    reach = []
    for start in range(graph.n):
        found: set[int] = set()
        new = after[start]
        while new := new - found:
            found |= new
            new = set().union(*(after[s] for s in new))
        reach.append(found)
    sources = np.repeat(np.arange(graph.n), np.diff(graph.offsets)).tolist()
    steps = zip(sources, graph.targets.tolist(), graph.labels.tolist(), strict=True)
    return {label for s, t, label in steps if s in reach[t]}


@pytest.mark.parametrize("block", some(range(8), every=8))
def test_steps_of_cycles_turn_in_generated_models(block: int) -> None:
    cycles = settled = 0
    for number in range(25):
        graph = graph_of(generate(Random(f"turning/{block}/{number}")))
        if graph is None:
            continue
        assert graph.turns is not None
        turning = set(np.flatnonzero(graph.turns).tolist())
        cycles += bool(on_cycles(graph))
        settled += not graph.turns.all()

        assert on_cycles(graph) <= turning
    assert cycles
    assert settled


def test_what_only_grows_does_not_turn() -> None:
    commit = graph_of(load(TOYS / "transaction_commit.py"))
    jugs = graph_of(load(TOYS / "die_hard.py"))

    assert commit is not None
    assert jugs is not None
    assert commit.turns is not None
    assert jugs.turns is not None
    assert (False, True) == (bool(commit.turns.any()), bool(jugs.turns.all()))


RAISES = """
from statewalk import *

class It(Role):
    at: int = 0

    @action(fair="weak")
    def go(self) -> None:
        require(self.at < 3)
        self.at += 1

it = It()

@eventually
def there() -> bool:
    return 1 // (2 - it.at) < 0
"""


def test_a_property_that_raises_is_told_as_without_a_kept_graph(tmp_path: Path) -> None:
    (tmp_path / "raises.py").write_text(RAISES)
    kept, again = (
        check(tmp_path / "raises.py", engine="native", max_memory=limit)
        for limit in (None, 1 << 40)
    )

    assert again.counts == kept.counts
    assert again.verdict == kept.verdict == "error"
    assert [p.verdict for p in again.properties] == [p.verdict for p in kept.properties]
