"""A check gives its states and steps as tables of Arrow, pandas and DuckDB."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from statewalk import Graph, Run, check
from statewalk.dsl.errors import RunError

DIE_HARD = "toys/die_hard"


@pytest.fixture(scope="module")
def run() -> Run:
    return check("toys/two_phase_commit", engine="reference")


def test_all_states_and_steps_are_rows(run: Run) -> None:
    states, steps = run.states(), run.steps()

    assert run.counts.distinct == len(states) == states.to_arrow().num_rows
    assert run.counts.generated - run.counts.initial == len(steps) == len(steps.to_pandas())
    assert "ResourceManager_0_state" in states.columns


def test_fingerprints_are_whole_beside_missing_ones(run: Run) -> None:
    """Through floats nearly no parent would be found, or too many."""
    states, steps = run.states().to_pandas(), run.steps().to_pandas()
    rows = run.states().to_arrow().to_pylist()
    parents = {row["parent"] for row in rows if row["parent"] is not None}

    assert parents == set(states.parent.dropna())
    assert len(states) - 1 == states.parent.isin(states.fingerprint).sum()
    assert len(parents) == states.fingerprint.isin(states.parent).sum()
    assert len(states) - 1 == len(states.merge(states, left_on="parent", right_on="fingerprint"))
    assert steps.source.isin(states.fingerprint).all()
    assert steps.target.isin(states.fingerprint).all()


def test_further_sql_asks_both_tables(run: Run) -> None:
    asked = run.steps().to_duckdb().aggregate("count(DISTINCT source) AS n")

    assert [(run.counts.distinct,)] == asked.fetchall()


def test_a_search_that_stopped_has_the_states_it_saw() -> None:
    run = check(DIE_HARD, engine="reference")

    assert ("violated", run.counts.distinct) == (run.verdict, len(run.states()))
    assert "was not exhaustive" in str(run.graph())


@pytest.mark.thorough
def test_a_graph_without_a_folder_is_gone_with_the_last_who_had_it(tmp_path: Path) -> None:
    graph = check(DIE_HARD, engine="reference").graph()
    place = graph.folder
    assert place.is_dir()
    del graph
    gc.collect()

    assert not place.parent.exists()


def test_a_graph_is_kept_in_a_folder_and_opened_again(run: Run, tmp_path: Path) -> None:
    run.graph(tmp_path / "graph")

    assert run.counts.distinct == len(Graph(tmp_path / "graph").states())


def test_merged_states_and_errors_give_no_tables(tmp_path: Path) -> None:
    spec = tmp_path / "a.py"
    spec.write_text(
        "from statewalk import *\n\n\nclass Box(State):\n    x: int = 0\n\n    @action\n"
        "    def a(self) -> None:\n        self.x = 1 // self.x\n\n\nbox = Box()\n"
    )
    merged = check("toys/two_phase_commit", engine="reference", symmetry=True)

    with pytest.raises(RunError, match="SW353"):
        merged.states()
    with pytest.raises(RunError, match="SW354"):
        check(spec, engine="reference").states()


@pytest.mark.thorough
def test_a_notebook_shows_tables_and_small_graphs(run: Run) -> None:
    small = check(DIE_HARD, engine="reference").graph()
    shown = run.states()

    assert '<svg style="max-width: none"' in small._repr_html_()  # type: ignore[attr-defined]
    assert 11 == shown._repr_html_().count("<tr>")  # type: ignore[attr-defined]
    assert 12 == shown._repr_markdown_().count("\n")  # type: ignore[attr-defined]
    assert 12 == len(repr(shown).splitlines())
    assert "<svg" not in run.graph()._repr_html_()  # type: ignore[attr-defined]
