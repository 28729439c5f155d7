"""Columns say of each row what a row alone would say, however many values there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from statewalk.checker.graph.columns import Parts, texts
from statewalk.checker.graph.dataset import Table


@pytest.mark.parametrize("many", [3, 5000])
def test_texts_by_number(many: int) -> None:
    shown = [None if n % 7 == 3 else f"t{n % (many // 2)}" for n in range(many)]
    codes = np.random.default_rng(0).integers(-1, many, 900)

    assert [shown[code] for code in codes] == texts(shown, codes).to_pylist()
    assert [] == texts(shown, codes[:0]).to_pylist()


@pytest.mark.parametrize("largest", [3, 1 << 14, (1 << 32) - 1])
def test_a_column_of_many_slots(largest: int) -> None:
    rows = np.random.default_rng(1).integers(0, 3, (500, 6), np.uint32)
    rows[rows == 2] = largest
    tables: Any = [{1: "one", largest: f"x{at}"} for at in range(6)]
    keys = [f"k{at}" for at in range(6)]
    kind = pa.map_(pa.string(), pa.string())
    column = Parts("c", "c", kind, list(range(6)), keys, tables, lambda found: found, [None])
    alone = [column.of(row.reshape(1, -1)).to_pylist()[0] for row in rows]

    assert alone == column.of(rows).to_pylist()


def test_a_file_has_texts_however_they_were_handed_on(tmp_path: Path) -> None:
    table = Table(tmp_path / "x.parquet")
    parts: list[list[str | None]] = [[None, "a", "b"], ["c", "b"], [None], ["a" * 9, "a"]]
    for part in parts:
        table.add(pa.table({"t": texts(part, np.arange(len(part)))}))
    table.close()
    found = pq.read_table(tmp_path / "x.parquet")

    assert pa.string() == found.schema.field("t").type
    assert [t for part in parts for t in part] == found["t"].to_pylist()
