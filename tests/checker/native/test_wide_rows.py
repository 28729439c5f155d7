"""Rows of bytes become wider when a slot has more values than a byte tells apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.native import search
from statewalk.checker.native.states import ids_type
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from tests.checker.native.agreement import told

SPEC = """
from statewalk import Role, action, always, any_of, require

class Counter(Role):
    n: int = 0
    turn: bool = False

    @action
    def jump(self) -> None:
        require(self.n < {until})
        self.n = any_of(range(self.n + 1, min(self.n + {by}, 270) + 1))

    @action
    def flip(self) -> None:
        self.turn = not self.turn

counter = Counter()

@always
def below() -> bool:
    return not (counter.n == 270 and counter.turn)
"""


def model(folder: Path, by: int) -> Model:
    spec = folder / "counting.py"
    spec.write_text(SPEC.format(by=by, until=270 if by < 270 else 1))
    return load(spec)


def widths(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The types that levels have, as they come."""
    met: list[Any] = []
    advance = search.Loop.advance

    def noting(loop: Any, stage: Any) -> None:
        advance(loop, stage)
        kind = loop.search.level.rows.values.dtype
        if kind not in met:
            met.append(kind)

    monkeypatch.setattr(search.Loop, "advance", noting)
    return met


# 270 values in some levels; all at once, in the first batch
@pytest.mark.thorough
@pytest.mark.parametrize("by", [40, 300])
def test_rows_grow_without_a_trace(
    by: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = model(tmp_path, by)
    options = SearchOptions(keep_going=True)
    met = widths(monkeypatch)
    found = native.explore(counting, options)

    assert np.uint16 in met
    assert (met[0] == np.uint8) == (by == 40)
    assert told(reference.explore(counting, options)) == told(found)
    assert told(found) == told(native.explore(counting, replace(options, threads=2)))


@pytest.mark.thorough
def test_a_search_saved_with_bytes_goes_on_with_more(tmp_path: Path) -> None:
    counting = model(tmp_path, 40)
    options = SearchOptions(keep_going=True, checkpoint=str(tmp_path / "saved"))
    native.explore(counting, replace(options, max_depth=3))
    resumed = native.explore(counting, replace(options, resume=True))

    assert told(native.explore(counting, replace(options, checkpoint=None))) == told(resumed)


def test_ids_have_the_least_type_that_holds_them() -> None:
    sizes = {256: 1, 257: 2, 65536: 2, 65537: 4}

    assert sizes == {widest: ids_type(widest).itemsize for widest in sizes}
