"""MariaDB keeps the promises of each level in its histories: `make test-mariadb`.

Anomalies are made to happen: sessions wait for each other at the places that matter. It cannot
show that an anomaly never happens where none was made.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.history.collect import Front, Recorder
from statewalk.checker.history.collect.applications import APPLICATIONS
from statewalk.checker.history.collect.databases import MySQL
from statewalk.checker.history.collect.driver import WorkloadRun, collect
from statewalk.checker.history.collect.workloads import Shape
from statewalk.checker.history.data import FAIL, INFO, History
from statewalk.checker.history.decide.check import check, check_levels, summary
from statewalk.checker.history.explain.anomaly import explain
from statewalk.checker.history.formats import read
from tests.checker.history import mariadb_server
from tests.checker.history.own_server import amid

SERVER = os.environ.get(mariadb_server.URL, "")
pytestmark = [
    pytest.mark.mariadb,
    pytest.mark.skipif(not SERVER, reason=f"{mariadb_server.URL} names no server "
                       "(`make test-mariadb` starts one)"),
]  # fmt: skip


def recorded(tmp_path: Path, isolation: str, workload: str, n: int = 80, **more: Any) -> History:
    path = tmp_path / f"{isolation}-{workload}.jsonl"
    collect(MySQL(SERVER, isolation), WorkloadRun(workload, n, Shape(4, 20, 4), **more), path)
    return read(path)


# level, workload, the strongest level that holds, the weakest that fails, how that is called
SHOWN = (
    ("read uncommitted", "dirty-read", None, "read-committed", "G1a"),
    ("read committed", "dirty-read", "strict-serializable", None, None),
    ("read committed", "late-append", "strong-session-monotonic-atomic-view", "read-atomic",
     "non-repeatable"),
    ("repeatable read", "late-append", "strong-session-read-committed", "monotonic-atomic-view",
     "fractured-read"),
    ("repeatable read", "lost-update", "strong-session-prefix", "parallel-si", "lost-update"),
    ("repeatable read", "write-skew", "strong-si", "serializable", "write-skew"),
    ("snapshot", "late-append", "strict-serializable", None, None),
    ("snapshot", "lost-update", "strict-serializable", None, None),
    ("snapshot", "write-skew", "strong-si", "serializable", "write-skew"),
    ("serializable", "late-append", "strict-serializable", None, None),
    ("serializable", "lost-update", "strict-serializable", None, None),
    ("serializable", "write-skew", "strict-serializable", None, None),
)  # fmt: skip


@pytest.mark.parametrize(("isolation", "workload", "held", "failed", "name"), SHOWN)
def test_what_a_level_allows_is_seen_and_named(
    isolation: str,
    workload: str,
    held: str | None,
    failed: str | None,
    name: str | None,
    tmp_path: Path,
) -> None:
    history = recorded(tmp_path, isolation, workload)
    verdicts = check_levels(history)

    assert ([held] if held else [], [failed] if failed else []) == summary(verdicts)
    if failed:
        assert name == explain(history, verdicts[failed]).name


PROMISED = {
    "read uncommitted": None,  # nothing, as it turns out
    "read committed": "strong-session-monotonic-atomic-view",
    "repeatable read": "strong-session-read-committed",
    "snapshot": "strong-si",
    "serializable": "strict-serializable",
}


@pytest.mark.parametrize(
    "workload", ["blindw-rw", "blindw-rm", "rmw", "append", "range", "bank", *APPLICATIONS]
)
@pytest.mark.parametrize("isolation", MySQL.levels)
def test_every_workload_keeps_the_level_that_is_promised(
    workload: str, isolation: str, tmp_path: Path
) -> None:
    history = recorded(tmp_path, isolation, workload, 150, pause=0.001)
    level = PROMISED[isolation]

    assert 150 == len(history)
    assert level is None or check(history, level).holds


def test_a_connection_that_is_killed_in_its_transaction_is_another_session(tmp_path: Path) -> None:
    database, path = MySQL(SERVER, "serializable"), tmp_path / "killed.jsonl"
    database.prepare([(0, 0)])
    with Recorder(path, initial=[(0, 0)]) as recorder:
        raw = database.connect()
        connection = recorder.wrap(raw)
        admin = database.connect()

        def write() -> None:
            with connection.transaction():
                database.begin(connection)
                database.write(connection, 0, 1)
                admin.cursor().execute(f"KILL CONNECTION {raw.thread_id()}")
                connection.commit()

        with pytest.raises(database.errors):
            write()
        assert not connection.usable()
        again = recorder.wrap(database.connect())
        with again.transaction():
            database.begin(again)
            database.read(again, 0)
        again.close()
        admin.close()
    history = read(path)

    assert [INFO, 0] == history.status.tolist()
    assert (["strict-serializable"], []) == summary(check_levels(history))


def test_a_front_tells_keys_apart_to_the_letter(tmp_path: Path) -> None:
    with Front(tmp_path / "h.jsonl", SERVER, initial={"a": 1, "A": 2, "á": 3}) as front:
        with front.transaction() as t:
            t.put("Á", "100% “ok” 😀")
        with front.transaction() as t:
            seen = [t.get(key) for key in ("a", "A", "á", "Á")]

    assert [1, 2, 3, "100% “ok” 😀"] == seen
    assert check(read(tmp_path / "h.jsonl"), "strict-serializable").holds


def test_a_deadlock_is_an_abort(tmp_path: Path) -> None:
    history = recorded(tmp_path, "serializable", "write-skew")

    assert FAIL in history.status
    assert INFO not in history.status


def test_a_server_that_restarts_is_waited_for(tmp_path: Path) -> None:
    if mariadb_server.DATA not in os.environ:
        pytest.skip("only a server that the tests started may be restarted")
    path = tmp_path / "restarted.jsonl"

    run = WorkloadRun("bank", 1000, Shape(4, 20, 4), pause=0.005)
    counts = collect(MySQL(SERVER, "snapshot"), run, path, running=amid(mariadb_server.restart))
    history = read(path)

    assert 1000 == len(history) == sum(counts.values())
    assert len(history.sessions) > 4
    assert check(history, "strong-si").holds
