"""The same results through Spark Connect, where levels are jobs over DataFrames.

They are slow for the server, a Spark of its own.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.api import check
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.native import explore as explore_natively
from statewalk.checker.spark import explore
from statewalk.checker.spark.session.session import connect_session, is_connect
from statewalk.dsl.errors import RunError
from statewalk.dsl.loader import load
from tests.places import ROOT

MODELS = ROOT / "models"
SETTINGS: dict[str, Any] = {"buckets": 8, "tasks": 2, "native_until": 50}

pytest.importorskip("grpc", reason="the extra `connect` is not installed")


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("connect_server.py"), str(port)],
        cwd=MODELS.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert server.stdin is not None and server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    found = connect_session(f"sc://127.0.0.1:{port}")
    yield found
    found.stop()
    server.stdin.close()
    server.stdout.close()
    server.wait(30)


@pytest.mark.slow
@pytest.mark.spark
def test_connect_equals_native(session: Any, tmp_path: Path) -> None:
    model = load(MODELS / "toys/two_phase_commit.py", {"RMS": 4})
    options = SearchOptions(keep_going=True)
    native = explore_natively(model, options)

    assert is_connect(session)
    found = explore(model, options, session=session, folder=str(tmp_path), **SETTINGS)
    assert native.counts == found.counts
    assert native.levels == found.levels
    assert native.witnesses == found.witnesses
    assert native.fired == found.fired
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.spark
def test_a_session_is_given_from_python(session: Any) -> None:
    spec, constants = MODELS / "kafka/init_pid.py", {"BROKERS": 1, "MUTANT": "no_epoch_bump"}
    model = load(spec, constants)
    native = check(model, engine="native")
    found = check(model, engine="spark", spark={"session": session, **SETTINGS})

    assert native.counts == found.counts
    assert native.properties == found.properties
    assert {n: t.steps for n, t in native.traces.items()} == {
        n: t.steps for n, t in found.traces.items()
    }


@pytest.mark.slow
@pytest.mark.spark
def test_a_search_is_resumed_through_connect(session: Any, tmp_path: Path) -> None:
    model = load(MODELS / "toys/two_phase_commit.py", {"RMS": 4})
    options = SearchOptions(checkpoint=str(tmp_path))
    explore(model, replace(options, max_depth=8), session=session, **SETTINGS)
    found = explore(model, replace(options, resume=True), session=session, **SETTINGS)

    assert explore_natively(model, SearchOptions()).counts == found.counts


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(RunError, match="SW332"):
        connect_session("sc://127.0.0.1:1")
