"""SQL of others can harm no graph and no file, and keeps nobody waiting."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from tests.cases import slow
from tests.checker.machine.hanging import busy
from tests.places import ROOT

DIE_HARD = str(ROOT / "models/toys/die_hard.py")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph in a folder whose name is a pattern."""
    folder = tmp_path_factory.mktemp("graphs") / "a*[b]?'c"
    main(["check", DIE_HARD, "--graph", str(folder / "g"), "--out", str(folder / "run")])
    return folder / "g"


def start(graph: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "statewalk", "query", str(graph), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=graph.parent,
    )


WRITES = "COPY (SELECT 1 AS a) TO '{0}' (FORMAT parquet, USE_TMP_FILE FALSE)"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "sql",
    [
        f"EXPLAIN ANALYZE {WRITES}",
        f"/* ä */ EXPLAIN (ANALYZE) {WRITES}",
        f"EXPLAIN {WRITES}",
        f"WITH t AS ({WRITES}) SELECT 1",
        f"SELECT (WITH t AS ({WRITES}) SELECT 1)",
        f"EXPLAIN WITH t AS ({WRITES}) SELECT 1",
        "WITH t AS (DELETE FROM states) SELECT 1",
        "EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1",
        "EXPLAIN ANALYZE SELECT 1",
        "SELECT * FROM read_text('.tmp/secret.txt')",
        "SELECT * FROM '{0}'",
        "ATTACH '{0}' AS other",
        "PRAGMA database_list",
        "CALL pragma_version()",
        "EXPORT DATABASE '.tmp'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET threads = 1",
        "SELECT * FROM enable_logging(storage = 'file')",
        "SELECT * FROM sys",
    ],
)
def test_only_what_looks_is_run(
    graph: Path,
    sql: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    secret = tmp_path / ".tmp/secret.txt"
    secret.parent.mkdir()
    secret.write_text("kept", encoding="utf-8")
    part = next((graph / "states").iterdir())
    before = part.read_bytes()
    question = sql.replace("{0}", str(part).replace("'", "''"))

    for arguments in ([question], ["--where", f"(({question}) IS NULL)"]):
        assert main(["query", str(graph), *arguments]) == 2
        assert "SW352" in capsys.readouterr().err
    assert part.read_bytes() == before
    assert [secret] == list(secret.parent.iterdir())


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "sql",
    [
        "EXPLAIN SELECT count(*) FROM states",
        "-- ä\nEXPLAIN (SELECT 1)",
        "DESCRIBE states",
        "FROM states",
        "VALUES (1)",
        "SELECT * FROM range(3), (SUMMARIZE states)",
        "WITH RECURSIVE t AS (SELECT 1 AS n UNION SELECT n + 1 FROM t WHERE n < 3) FROM t",
        "SELECT 1 UNION SELECT 2 ORDER BY 1",
        "SELECT unnest([1, 2])",
    ],
)
def test_what_only_looks_is_run(graph: Path, sql: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["query", str(graph), sql])

    assert (0, "") == (code, capsys.readouterr().err)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "arguments",
    [
        ["--timeout", "1", "SELECT sleep_ms(60000)"],
        slow(["--max-memory", "500M", "SELECT list(range) FROM range(30000000)"]),
    ],
)
def test_limits_hold_wherever_a_question_is(graph: Path, arguments: list[str]) -> None:
    asked = start(graph, *arguments)
    out, err = asked.communicate(timeout=60)

    assert (3, "") == (asked.returncode, out), err
    assert "--timeout" in err or "memory" in err


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, slow(signal.SIGTERM)])
def test_a_question_is_interrupted(graph: Path, number: signal.Signals) -> None:
    asked = start(graph, "SELECT sleep_ms(60000)")
    time.sleep(2 * busy())
    asked.send_signal(number)
    _, err = asked.communicate(timeout=30)

    assert asked.returncode == 3, err
    assert "interrupt" in err


@pytest.mark.thorough
def test_a_mistake_is_all_that_is_said(graph: Path) -> None:
    _, err = start(graph, "SELEC 1").communicate(timeout=60)

    assert err.startswith("SW352")
    assert "nanobind" not in err


def test_a_pipe_in_a_graph_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tmp_path / "g"
    main(["check", DIE_HARD, "--graph", str(graph), "--out", str(tmp_path / "run")])
    os.mkfifo(graph / "states/zz.parquet")
    capsys.readouterr()

    assert main(["query", str(graph), "SELECT 1"]) == 2
    assert "SW351" in (err := capsys.readouterr().err)
    assert "not a regular file" in err
