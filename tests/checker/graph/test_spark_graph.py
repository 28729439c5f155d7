"""Spark writes the graph that the native engine writes."""

from __future__ import annotations

import textwrap
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from statewalk.checker import native, spark
from statewalk.checker.api import load
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.graph.dataset import read_about
from statewalk.checker.graph.write import write_graph
from statewalk.dsl.model import Model
from tests.cases import some
from tests.checker.graph.test_dataset import CUT, SPECS
from tests.places import ROOT

pytestmark = pytest.mark.spark


def sorted_rows(folder: Path, table: str) -> list[Any]:
    rows = [tuple(row.values()) for row in pq.read_table(folder / table).to_pylist()]
    return sorted(rows, key=lambda row: tuple((v is None, str(v)) for v in row))


def both(model: Model, folder: Path, **settings: Any) -> None:
    """Write the graph with either engine, and compare the rows."""
    for name, engine in (("native", native), ("spark", spark)):
        own = settings if name == "spark" else {}
        options = SearchOptions(keep_going=True, threads=2, engine_settings=own)
        write_graph(model, options, engine.explore(model, options), folder / name)
    one, other = (read_about(folder / name) for name in ("native", "spark"))

    assert one.columns == other.columns
    assert (one.states, one.transitions) == (other.states, other.transitions)
    for table in ("states", "transitions"):
        assert sorted_rows(folder / "native", table) == sorted_rows(folder / "spark", table)
        schemas = [
            pq.read_schema(next((folder / name / table).glob("*.parquet")))
            for name in ("native", "spark")
        ]
        assert schemas[0] == schemas[1]


@pytest.mark.parametrize(
    ("name", "native_until"),
    some(product(["two_phase_commit", "choices", "init_pid"], [20, 1]), every=3),
)
def test_the_rows_are_the_same(name: str, native_until: int, tmp_path: Path) -> None:
    path, constants = SPECS[name]
    both(load(ROOT / path, constants), tmp_path, native_until=native_until, tasks=3, buckets=8)


def test_constraints_refuse_the_same_steps(tmp_path: Path) -> None:
    spec = tmp_path / "cut.py"
    spec.write_text(textwrap.dedent(CUT), encoding="utf-8")
    both(load(spec), tmp_path, native_until=1, tasks=2, buckets=8)
