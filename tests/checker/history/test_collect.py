"""Recording: real databases in this process keep what they promise, and nothing recorded is lost.

PostgreSQL has its own file, test_postgres. These cannot show what other drivers do on errors.
"""

import json
import signal
import sqlite3
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.history.collect import Recorder
from statewalk.checker.history.collect.database import Database
from statewalk.checker.history.collect.databases import DATABASES, database_of
from statewalk.checker.history.collect.driver import WorkloadRun, collect
from statewalk.checker.history.collect.workloads import WORKLOADS, Shape
from statewalk.checker.history.decide.check import check, check_levels, summary
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.explain.anomaly import explain
from statewalk.checker.history.formats import read
from statewalk.checker.history.formats.jsonl import from_records, lines_of, parse
from tests.cases import some

PROMISED = {"duckdb": "strong-si", "sqlite": "strict-serializable"}


def database(name: str, tmp_path: Path) -> Database:
    return DATABASES[name]("" if name == "duckdb" else str(tmp_path / "db.sqlite"), None)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "workload"), some(product(PROMISED, WORKLOADS), every=33))
def test_a_database_keeps_what_it_promises(name: str, workload: str, tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    run = WorkloadRun(workload, 120, Shape(6, 30, 4), seed=1, pause=0.001)
    counts = collect(database(name, tmp_path), run, path)
    history = read(path)

    assert 120 == len(history) == sum(counts.values())
    assert counts["info"] == 0 < counts["ok"]
    assert 4 == len(history.sessions)
    assert check(history, PROMISED[name]).holds


def test_duckdb_has_write_skew_and_loses_no_update(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    collect(database("duckdb", tmp_path), WorkloadRun("write-skew", 40), path)
    history = read(path)
    verdicts = check_levels(history)

    assert (["strong-si"], ["serializable"]) == summary(verdicts)
    found = explain(history, verdicts["serializable"])
    assert ("write-skew", 2) == (found.name, len(found.transactions))


def fields(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_transaction_is_on_file_before_its_commit_is_sent(tmp_path: Path) -> None:
    path, seen = tmp_path / "h.jsonl", list[list[dict[str, Any]]]()

    class Watching(sqlite3.Connection):
        def commit(self) -> None:
            seen.append(fields(path))
            super().commit()

    connection = sqlite3.connect(tmp_path / "db", factory=Watching)
    connection.execute("CREATE TABLE t (k PRIMARY KEY, v)")
    with Recorder(path) as recorder, recorder.wrap(connection).transaction() as t:
        t.execute("INSERT INTO t VALUES (?, ?)", ("x", 1))
        t.wrote("x", 1)
    connection.close()

    assert ["info"] == [r["status"] for r in seen[0][1:]]
    intent, outcome = fields(path)[1:]
    assert [["w", "x", 1]] == intent["ops"]
    assert (intent["id"], "ok") == (outcome["completes"], outcome["status"])
    assert intent["begin"] < outcome["end"]
    assert [0] == read(path).status.tolist()


class Broken:
    """A connection whose commit raises; `alive` says whether it answers afterwards."""

    def __init__(self, alive: bool) -> None:
        self.alive = alive

    def cursor(self) -> "Broken":
        return self

    def execute(self, sql: str) -> "Broken":
        if not self.alive:
            raise OSError(sql)
        return self

    def fetchall(self) -> list[Any]:
        return []

    def commit(self) -> None:
        raise OSError("commit")

    def rollback(self) -> None:
        self.execute("rollback")


@pytest.mark.parametrize(("alive", "status"), [(True, 1), (False, 2)])
def test_a_commit_without_an_answer_is_indeterminate(
    alive: bool, status: int, tmp_path: Path
) -> None:
    with Recorder(tmp_path / "h.jsonl") as recorder:
        connection = recorder.wrap(Broken(alive))
        connection.wrote("x", 1)
        with pytest.raises(OSError, match="commit"):
            connection.commit()
        connection.saw("x", None)
        connection.rollback() if alive else connection._finish(connection._record(), "ok", False)
    history = read(tmp_path / "h.jsonl")

    assert status == history.status[0]
    assert (1 if alive else 2) == len(history.sessions)


class Unsure(Broken):
    """A database that answers, and says that it does not know how the commit ended."""

    def commit(self) -> None:
        error = OSError("commit")
        error.sqlstate = "40003"  # type: ignore[attr-defined]
        raise error


def test_a_database_that_does_not_know_how_a_commit_ended_is_believed(tmp_path: Path) -> None:
    with Recorder(tmp_path / "h.jsonl") as recorder:
        connection = recorder.wrap(Unsure(alive=True))
        connection.wrote("x", 1)
        with pytest.raises(OSError, match="commit"):
            connection.commit()

    assert [2] == read(tmp_path / "h.jsonl").status.tolist()


def test_a_url_says_which_database_it_is() -> None:
    urls = ("", "a/file", "postgres://h/x", "postgresql://h/x", "mysql://h/x", "mariadb://h/x")

    assert ["duckdb"] * 2 + ["postgres"] * 2 + ["mysql"] * 2 == [database_of(u) for u in urls]
    assert {"postgres"} == {database_of(u) for u in ("POSTGRES://h/x", "host=h password = x")}


@pytest.mark.parametrize("url", ["jdbc:postgresql://h/x", "pg://u:secret@h", "u:secret@h"])
def test_what_only_looks_like_a_url_is_no_name_of_a_file(url: str) -> None:
    with pytest.raises(HistoryError, match="of no known database") as caught:
        database_of(url)

    assert "secret" not in str(caught.value)


class Lost(sqlite3.Connection):
    """The commit takes effect, but the answer does not arrive."""

    def commit(self) -> None:
        super().commit()
        self.close()
        raise OSError("connection lost")


def test_a_commit_whose_answer_is_lost_counts_when_it_was_read(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "db") as setup:
        setup.execute("CREATE TABLE t (k PRIMARY KEY, v)")
    setup.close()

    def write(recorder: Recorder) -> None:
        with recorder.wrap(sqlite3.connect(tmp_path / "db", factory=Lost)).transaction() as t:
            t.wrote("x", 1)
            t.execute("INSERT INTO t VALUES ('x', 1)")

    with Recorder(tmp_path / "h.jsonl") as recorder:
        with pytest.raises(OSError, match="lost"):
            write(recorder)
        reader = recorder.wrap(sqlite3.connect(tmp_path / "db"))
        with reader.transaction():
            reader.saw("x", reader.execute("SELECT v FROM t WHERE k = ?", ("x",)).fetchone()[0])
        reader.close()
    history = read(tmp_path / "h.jsonl")
    verdict = check(history, "strict-serializable")

    assert [2, 0] == history.status.tolist()
    assert (True, 4) == (verdict.holds, len(verdict.order))


def test_a_block_that_raises_is_rolled_back_and_recorded_as_aborted(tmp_path: Path) -> None:
    connection = sqlite3.connect(":memory:")

    def work(recorder: Recorder) -> None:
        with recorder.wrap(connection).transaction() as t:
            t.wrote("x", 1)
            raise ZeroDivisionError

    with Recorder(tmp_path / "h.jsonl") as recorder, pytest.raises(ZeroDivisionError):
        work(recorder)
    connection.close()

    assert [1] == read(tmp_path / "h.jsonl").status.tolist()


def test_a_file_that_exists_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    path.write_text("mine")

    with pytest.raises(HistoryError, match="SW707"):
        Recorder(path)
    assert "mine" == path.read_text()


def test_a_database_that_cannot_be_prepared_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "db").write_text("this is not a database, and long enough to be looked at" * 40)

    with pytest.raises(sqlite3.Error):
        collect(
            DATABASES["sqlite"](str(tmp_path / "db"), None), WorkloadRun("bank", 1), tmp_path / "h"
        )
    assert not (tmp_path / "h").exists()


@pytest.mark.thorough
@pytest.mark.parametrize("name", PROMISED)
def test_a_collector_that_is_killed_leaves_a_history_that_can_be_checked(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "h.jsonl"
    url = [] if name == "duckdb" else ["--url", str(tmp_path / "db")]
    command = [sys.executable, "-m", "statewalk", "history", "collect", str(path), "--database",
               name, *url, "--workload", "bank", "--transactions", "1000000"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not (path.exists() and path.stat().st_size > 20_000):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    history = read(path)

    assert len(history) > 50
    assert check(history, PROMISED[name]).holds
    if name == "sqlite":  # all that is in the database is in the file
        connection = sqlite3.connect(tmp_path / "db")
        stored = connection.execute("SELECT k, v FROM statewalk_register WHERE v > 0").fetchall()
        connection.close()
        written = {tuple(op[1:]) for r in fields(path) for op in r.get("ops", ()) if op[0] == "w"}
        assert stored
        assert set(stored) <= written


def test_a_last_line_that_is_cut_off_is_left_out_and_said() -> None:
    whole = b'{"session": 1, "ops": [["w", "x", 1]]}\n'
    history = parse([whole, b'{"session": 1, "ops": [["r", '], "here")

    assert 1 == len(history)
    assert ("Line 2, the last one, is cut off and left out",) == history.notes
    with pytest.raises(HistoryError, match="line 1"):
        parse([b'{"session": 1, "ops": [["r", \n', whole], "here")


@pytest.mark.parametrize("end", ["1e999", "NaN", "9" * 5000, "1]", "[" * 101 + "]" * 101])
def test_a_whole_last_line_that_is_wrong_is_not_left_out(end: str) -> None:
    whole = b'{"session": 1, "ops": [["w", "x", 1]]}\n'

    with pytest.raises(HistoryError, match="line 2"):
        parse([whole, f'{{"session": 2, "ops": [["r", "x", 1]], "end": {end}}}'.encode()], "here")


@pytest.mark.parametrize("at", range(1, 60))
def test_a_last_line_may_be_cut_off_anywhere(at: int) -> None:
    line = '{"session": 1, "ops": [["w", "ä}", {"a": 1}]], "end": 1.25e3}'.encode()
    whole = b'{"session": 1, "ops": [["w", "x", 1]]}\n'

    assert "cut off" in parse([whole, line[:at]], "here").notes[0]


def test_an_outcome_completes_an_indeterminate_transaction() -> None:
    begun = {"session": 1, "id": "a", "status": "info", "begin": 3, "ops": [["w", "x", 1]]}
    history = from_records([begun, {"completes": "a", "status": "ok", "end": 9}])

    assert (0, 9 - history.origin) == (history.status[0], history.end[0])
    assert '"end": 9' in list(lines_of(history))[1]
    assert "completes" not in "".join(lines_of(history))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"completes": "b", "status": "ok"}, "completes 'b'"),
        ({"completes": "a", "status": "info"}, "the outcome is 'info'"),
        ({"completes": "a"}, "the outcome is None"),
        ({"completes": "a", "status": "ok", "ops": []}, "unknown field 'ops'"),
    ],
)
def test_an_outcome_of_nothing_is_an_error(record: dict[str, Any], message: str) -> None:
    with pytest.raises(HistoryError, match=message):
        from_records([{"session": 1, "id": "a", "status": "info", "ops": []}, record])
