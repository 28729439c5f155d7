"""After a search with Spark the graph is the one that the native engine writes."""

from __future__ import annotations

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
from tests.checker.graph.test_dataset import SPECS
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


def test_the_rows_of_a_search_with_spark_are_the_same(tmp_path: Path) -> None:
    path, constants = SPECS["choices"]
    both(load(ROOT / path, constants), tmp_path, native_until=1, tasks=2, buckets=8)
