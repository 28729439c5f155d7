"""The graph that a check writes while it searches is the one that one more search finds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from statewalk import check
from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.graph import write
from statewalk.checker.graph.dataset import read_about
from statewalk.checker.graph.write import write_graph
from statewalk.dsl.loader import load
from tests.cases import slow
from tests.places import ROOT


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("spec", "constants", "options"),
    [
        ("models/toys/die_hard.py", {}, {}),
        ("specs/toys/choices.fizz", {}, {}),
        ("models/kafka/init_pid.py", {}, {"max_depth": 6}),
        slow("models/toys/die_hard.py", {}, {"keep_going": True}),
        slow("models/toys/counters.py", {"ATOMIC": False}, {}),
        slow("models/kafka/transactions.py", {}, {"max_depth": 9}),
    ],
)
def test_it_is_that_of_one_more_search(
    spec: str, constants: dict[str, Any], options: dict[str, Any], tmp_path: Path
) -> None:
    run = check(ROOT / spec, constants, graph=str(tmp_path / "one"), engine="native", **options)
    model = load(ROOT / spec, constants)
    asked = SearchOptions(**options)
    found = native.explore(model, asked)
    about = write_graph(model, asked, found, tmp_path / "other")

    assert run.evidence.graph is not None
    assert run.evidence.graph.problem is None
    assert about == replace(read_about(tmp_path / "one"))
    for table in ("states", "transitions"):
        one, other = (pq.read_table(tmp_path / name / table) for name in ("one", "other"))
        assert one.equals(other)
    assert {"one", "other"} == {path.name for path in tmp_path.iterdir()}


def test_a_full_disk_costs_the_graph_and_not_the_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    spec = ROOT / "models/toys/token_ring.py"
    for name in ("state_table", "step_table"):
        with monkeypatch.context() as patch:
            patch.setattr(write, name, fails)
            run = check(spec, graph=str(tmp_path / "graph"), engine="native")

        assert run.evidence.graph is not None
        assert "No space left" in str(run.evidence.graph.problem)
        assert run.result.verdict == "holds"
        assert [] == list(tmp_path.iterdir())


def test_a_search_that_is_ended_inside_a_level_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text("action Init:\n  n = 0\n\natomic action Up:\n  n = n + 3 // (3 - n)\n")
    run = check(path, graph=str(tmp_path / "graph"), engine="native")

    assert run.evidence.graph is not None
    assert "SW354" in str(run.evidence.graph.problem)
    assert ["spec.fizz"] == [p.name for p in tmp_path.iterdir()]
