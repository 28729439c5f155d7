"""PostgreSQL keeps the promises of each level in its histories: `make test-postgres`.

Anomalies are made to happen: two sessions read, wait for each other, and write. It cannot show
that an anomaly never happens where none was made.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.history.collect import Recorder
from statewalk.checker.history.collect.applications import APPLICATIONS
from statewalk.checker.history.collect.databases import Postgres
from statewalk.checker.history.collect.driver import WorkloadRun, collect
from statewalk.checker.history.collect.workloads import Shape
from statewalk.checker.history.data import INFO, WRITE, History
from statewalk.checker.history.decide.check import Verdict, check, check_levels, summary
from statewalk.checker.history.explain.anomaly import Explanation, explain
from statewalk.checker.history.formats import read
from tests.checker.history import postgres_server
from tests.checker.history.own_server import amid

SERVER = os.environ.get(postgres_server.URL, "")
pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(not SERVER, reason=f"{postgres_server.URL} names no server "
                       "(`make test-postgres` starts one)"),
]  # fmt: skip


def recorded(tmp_path: Path, isolation: str, workload: str, n: int = 80, **more: Any) -> History:
    path = tmp_path / f"{isolation}-{workload}.jsonl"
    run = WorkloadRun(workload, n, Shape(4, 20, 4), **more)
    collect(Postgres(SERVER, isolation), run, path)
    return read(path)


def explained(history: History, verdict: Verdict) -> Explanation:
    return explain(history, verdict)


def test_repeatable_read_is_snapshot_isolation_and_has_write_skew(tmp_path: Path) -> None:
    history = recorded(tmp_path, "repeatable read", "write-skew")
    verdicts = check_levels(history)

    assert (["strong-si"], ["serializable"]) == summary(verdicts)
    found = explained(history, verdicts["serializable"])
    assert ("write-skew", 2) == (found.name, len(found.transactions))


def test_serializable_has_no_write_skew(tmp_path: Path) -> None:
    history = recorded(tmp_path, "serializable", "write-skew")

    assert (["strict-serializable"], []) == summary(check_levels(history))
    assert (history.status == 1).any()  # those that would have been part of one were aborted


def test_read_committed_loses_updates_and_the_transactions_are_named(tmp_path: Path) -> None:
    history = recorded(tmp_path, "read committed", "lost-update")
    verdicts = check_levels(history)
    held, failed = summary(verdicts)

    assert "strong-session-prefix" in held
    assert ["parallel-si"] == failed
    found = explained(history, verdicts["parallel-si"])
    assert ("lost-update", 2) == (found.name, len(found.transactions) - ("wr" in kinds(found)))
    assert all(history.name(t).startswith("t") for t in found.transactions)


def kinds(found: Explanation) -> set[str]:
    return {step.kind for step in found.cycle}


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_higher_levels_lose_no_update(isolation: str, tmp_path: Path) -> None:
    history = recorded(tmp_path, isolation, "lost-update")

    assert check(history, "strong-si").holds


@pytest.mark.parametrize(
    "workload", ["blindw-rw", "blindw-rm", "rmw", "append", "range", "bank", *APPLICATIONS]
)
@pytest.mark.parametrize(
    ("isolation", "level"),
    [("read committed", "strong-session-monotonic-atomic-view"),
     ("repeatable read", "strong-si"), ("serializable", "strict-serializable")],
)  # fmt: skip
def test_every_workload_keeps_the_level_that_is_promised(
    workload: str, isolation: str, level: str, tmp_path: Path
) -> None:
    history = recorded(tmp_path, isolation, workload, 150, pause=0.001)

    assert check(history, level).holds
    assert 150 == len(history)


def test_a_connection_in_autocommit_mode_is_recorded_in_transactions(tmp_path: Path) -> None:
    import psycopg

    database = Postgres(SERVER, None)
    database.prepare([(0, 0)])
    with Recorder(tmp_path / "h.jsonl", initial=[(0, 0)]) as recorder:
        for end in ("rollback", "commit"):
            connection = recorder.wrap(psycopg.connect(SERVER, autocommit=True))
            database.read(connection, 0)
            database.write(connection, 0, 1)
            getattr(connection, end)()
            connection.close()

    assert check(read(tmp_path / "h.jsonl"), "strict-serializable").holds


@pytest.fixture
def slow_commit() -> Iterator[None]:
    """Commits of writes to registers take a second: time to do something to them."""
    import psycopg

    Postgres(SERVER, None).prepare([(0, 0), (1, 0)])
    with psycopg.connect(SERVER, autocommit=True) as admin:
        admin.execute("CREATE OR REPLACE FUNCTION statewalk_slow() RETURNS trigger AS "
                      "'BEGIN PERFORM pg_sleep(1); RETURN NULL; END' LANGUAGE plpgsql")  # fmt: skip
        admin.execute("CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON statewalk_register "
                      "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW "
                      "EXECUTE FUNCTION statewalk_slow()")  # fmt: skip
    yield
    Postgres(SERVER, None).prepare([])


@pytest.mark.usefixtures("slow_commit")
def test_a_connection_that_is_killed_in_its_commit_is_indeterminate(tmp_path: Path) -> None:
    import psycopg

    database, path = Postgres(SERVER, "serializable"), tmp_path / "killed.jsonl"
    with Recorder(path, initial=[(0, 0), (1, 0)]) as recorder:
        raw = database.connect()
        connection = recorder.wrap(raw)
        victim = raw.info.backend_pid

        def kill() -> None:
            time.sleep(0.4)
            with psycopg.connect(SERVER, autocommit=True) as admin:
                admin.execute("SELECT pg_terminate_backend(%s)", (victim,))

        killer = threading.Thread(target=kill)
        killer.start()

        def write() -> None:
            with connection.transaction():
                database.begin(connection)
                database.read(connection, 0)
                database.write(connection, 0, 1)

        with pytest.raises(psycopg.Error):
            write()
        killer.join()
        again = recorder.wrap(database.connect())
        with again.transaction():
            database.begin(again)
            database.read(again, 0)
        again.close()
    history = read(path)

    assert [INFO, 0] == history.status.tolist()
    assert {"ok": 1, "fail": 0, "info": 1} == recorder.counts
    assert (["strict-serializable"], []) == summary(check_levels(history))


def test_a_commit_that_the_server_turns_into_a_rollback_is_aborted(tmp_path: Path) -> None:
    import psycopg

    database = Postgres(SERVER, None)
    database.prepare([])
    with Recorder(tmp_path / "h.jsonl") as recorder:
        connection = recorder.wrap(psycopg.connect(SERVER))
        database.write(connection, 0, 1)
        with pytest.raises(psycopg.Error):
            connection.execute("SELECT 1 / 0")
        connection.commit()
        database.read(connection, 0)
        connection.commit()
        connection.close()

    assert [1, 0] == read(tmp_path / "h.jsonl").status.tolist()


def test_a_collector_that_is_killed_leaves_all_that_is_in_the_database(tmp_path: Path) -> None:
    import psycopg

    path = tmp_path / "h.jsonl"
    command = [sys.executable, "-m", "statewalk", "history", "collect", str(path), "--database",
               "postgres", "--url", SERVER, "--workload", "bank", "--isolation", "serializable",
               "--transactions", "1000000"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not (path.exists() and path.stat().st_size > 20_000):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    process.wait()
    time.sleep(0.5)  # the server ends what it was asked before
    history = read(path)
    with psycopg.connect(SERVER) as connection:
        rows = connection.execute("SELECT k, v FROM statewalk_register WHERE v > 0").fetchall()
    written = {(history.keys[k], history.values[v])
               for k, v, kind in zip(history.key, history.value, history.kind, strict=True)
               if kind == WRITE}  # fmt: skip

    assert rows
    assert set(rows) <= written
    assert check(history, "strict-serializable").holds


def test_a_server_that_restarts_is_waited_for(tmp_path: Path) -> None:
    if postgres_server.DATA not in os.environ:
        pytest.skip("only a server that the tests started may be restarted")
    path = tmp_path / "restarted.jsonl"

    run = WorkloadRun("bank", 1000, Shape(4, 20, 4), pause=0.005)
    database = Postgres(SERVER, "repeatable read")
    counts = collect(database, run, path, running=amid(postgres_server.restart))
    history = read(path)

    assert 1000 == len(history) == sum(counts.values())
    assert len(history.sessions) > 4
    assert check(history, "strong-si").holds
