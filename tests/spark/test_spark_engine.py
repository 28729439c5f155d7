"""The Spark engine gives what the native engine gives, state for state, and really distributes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checker.engine import SearchOptions
from checker.native import explore as explore_natively
from checker.spark import explore, unable
from checker.spark.session import find_java, java_version
from dsl.errors import RunError
from dsl.loader import load

MODELS = Path(__file__).parents[2] / "models"
# spec, constants, tasks, native until, keep going
CASES: list[tuple[str, dict[str, Any], int, int, bool]] = [
    ("toys/two_phase_commit.py", {"RMS": 4}, 2, 200, True),
    ("kafka/init_pid.py", {}, 3, 33, True),
    ("kafka/init_pid.py", {"BROKERS": 1, "MUTANT": "no_epoch_bump"}, 2, 5, False),
    ("toys/counters.py", {"ATOMIC": False, "PROCESSES": 3}, 1, 12, True),
]


@pytest.mark.spark
@pytest.mark.parametrize(("spec", "constants", "tasks", "native_until", "keep_going"), CASES)
def test_spark_equals_native(
    spec: str, constants: dict[str, Any], tasks: int, native_until: int, keep_going: bool
) -> None:
    model = load(MODELS / spec, constants)
    options = SearchOptions(keep_going=keep_going)
    native = explore_natively(model, options)

    found = explore(model, options, buckets=8, tasks=tasks, native_until=native_until)

    assert native.counts == found.counts
    assert native.levels == found.levels
    assert native.findings == found.findings
    assert native.witnesses == found.witnesses
    assert native.fired == found.fired
    assert native.fresh == found.fresh
    assert native.stopped == found.stopped
    assert found.statistics["shuffled_bytes"] > 0


@pytest.mark.spark
def test_bounds_stop_at_the_same_state() -> None:
    model = load(MODELS / "kafka/init_pid.py")
    options = SearchOptions(max_depth=9)
    found = explore(model, options, buckets=4, tasks=2, native_until=25)

    assert explore_natively(model, options).counts == found.counts
    assert found.stopped == "depth"


def test_what_it_cannot_do_is_said_before_it_starts() -> None:
    model = load(MODELS / "toys/token_ring.py")

    assert "steps" in unable(model, SearchOptions())
    assert "64 bits" in unable(model, replace(SearchOptions(), fingerprint_bits=128))
    assert not unable(load(MODELS / "toys/die_hard.py"), SearchOptions())


def test_java_is_found_without_a_system_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setenv("PATH", "")
    home, version = find_java()

    assert version >= 17
    assert java_version(home) == version


def test_a_cluster_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    from checker.spark import session

    class Builder:
        def __getattr__(self, name: str) -> Any:
            return lambda *args: self

        def getOrCreate(self) -> Any:  # noqa: N802
            raise RuntimeError("no route")

    import pyspark.sql

    monkeypatch.setattr(pyspark.sql.SparkSession, "builder", Builder())
    with pytest.raises(RunError, match="There is no Spark at spark"):
        session.cluster_session("spark://nowhere:7077")
