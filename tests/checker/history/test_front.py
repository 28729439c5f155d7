"""A store of keys and values records itself: what is put comes back, and the history is right.

It cannot show what an application does beside the front.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.history.collect import Front
from statewalk.checker.history.data import FAIL
from statewalk.checker.history.decide.check import check, check_levels, summary
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.formats import read


def front(tmp_path: Path, **more: Any) -> Front:
    return Front(tmp_path / "h.jsonl", str(tmp_path / "db"), database="sqlite", **more)


def test_values_come_back_and_the_history_is_one_of_tags(tmp_path: Path) -> None:
    with front(tmp_path, initial={"x": 5}) as store:
        with store.transaction() as t:
            before = t.get("x"), t.get("y"), t.get(1, "none")
            t.put("x", before[0])  # the same value again is another version
            t.put(1, {"a": [None, "é"]})
            t.put("1", 2.5)
            t.delete("y")
        with store.transaction() as t:
            after = t.get("x"), t.get(1), t.get("1"), t.get("y", "deleted")
    history = read(tmp_path / "h.jsonl")

    assert (5, None, "none") == before
    assert (5, {"a": [None, "é"]}, 2.5, "deleted") == after
    shown = [[history.show(op) for op in history.operations(t)] for t in (0, 1)]
    assert ["r(x) = 0", "r(y) = nil", "r(1) = nil"] == shown[0][:3]
    assert ["r(x) = 1", "r(1) = 2", "r(1) = 3", "r(y) = 4"] == shown[1]
    assert (["strict-serializable"], []) == summary(check_levels(history))


def test_what_raises_is_rolled_back_and_recorded_as_aborted(tmp_path: Path) -> None:
    with front(tmp_path, initial={"x": 5}) as store:

        def work() -> None:
            with store.transaction() as t:
                t.put("x", 6)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            work()
        with store.transaction() as t:
            assert 5 == t.get("x")
    assert [FAIL, 0] == read(tmp_path / "h.jsonl").status.tolist()


def test_a_transaction_that_met_an_error_is_not_committed_whoever_catches_it(
    tmp_path: Path,
) -> None:
    with front(tmp_path, initial={"x": 5}) as store:

        def work() -> None:
            with store.transaction() as t:
                t.put("x", 6)
                t._connection.execute("DROP TABLE statewalk_pairs")
                with suppress(sqlite3.Error):
                    t.put("y", 7)

        with pytest.raises(sqlite3.Error):
            work()
        with store.transaction() as t:
            assert 5 == t.get("x")
    assert [FAIL, 0] == read(tmp_path / "h.jsonl").status.tolist()


def test_threads_are_sessions_and_duckdb_keeps_snapshots(tmp_path: Path) -> None:
    with Front(tmp_path / "h.jsonl", initial=dict.fromkeys("abc", 0)) as store:

        def count(key: str) -> None:
            for _ in range(20):
                try:
                    with store.transaction() as t:
                        t.put(key, t.get(key) + 1)
                        t.get("c")
                except Exception as error:  # DuckDB refuses the second writer
                    assert "onflict" in str(error)  # noqa: PT017

        threads = [threading.Thread(target=count, args=(key,)) for key in "aabc"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    history = read(tmp_path / "h.jsonl")

    assert (80, 4) == (len(history), len(history.sessions))
    assert check(history, "strong-si").holds


def test_a_transaction_within_another_is_refused(tmp_path: Path) -> None:
    with front(tmp_path) as store, store.transaction() as t:
        t.put("x", 1)
        with pytest.raises(HistoryError, match="within a transaction"), store.transaction():
            pass


def test_what_cannot_be_begun_leaves_no_history(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="no isolation level"):
        front(tmp_path, isolation="si")
    with pytest.raises(TypeError):
        front(tmp_path, initial={"x": object()})
    assert not (tmp_path / "h.jsonl").exists()
