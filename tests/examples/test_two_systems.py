"""PostgreSQL's own log beside KIP-939's model; `make test-postgres` runs what needs a server."""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from statewalk import Conformance, load
from statewalk.checker.conform.logs import reader_of
from statewalk.checker.conforming import Question
from tests.places import ROOT

FOLDER = ROOT / "examples/two_systems"
CONSTANTS = {
    "VARIANT": "kip939", "DATABASE": True, "DELAYED_PRODUCE": False, "ZOMBIES": True,
    "PRODUCERS": 4, "TXNS": 12, "MAX_EPOCH": 99,
}  # fmt: skip
# A transaction that both decide; one that is promised only; the next instance aborts that one.
SERVER = """\
1000.001 [unknown] LOG:  database system is ready to accept connections
1000.004 producer-0 LOG:  duration: 0.044 ms  statement: BEGIN
1000.005 producer-0 LOG:  duration: 0.177 ms  statement: PREPARE TRANSACTION 'kafka-0-1-0'
1000.006 producer-0 LOG:  duration: 0.276 ms  statement: COMMIT PREPARED 'kafka-0-1-0'
1000.015 producer-0 LOG:  duration: 0.177 ms  statement: PREPARE TRANSACTION 'kafka-0-1-1'
1000.020 producer-1 LOG:  duration: 0.305 ms  statement: ROLLBACK PREPARED 'kafka-0-1-1'
1000.021 producer-1 LOG:  duration: 0.834 ms  statement: UPDATE owner SET instance = 1 WHERE tid = 0
1000.050 producer-0 ERROR:  prepared transaction with identifier "kafka-0-1-1" does not exist
"""
APPLICATION = [
    (2, "begin", 0, ""), (3, "send", 0, ""), (8, "commit", 0, ""), (12, "begin", 0, ""),
    (13, "send", 0, ""), (25, "recover", 1, "Aborting"), (30, "repeat_end", 1, "Ready"),
]  # fmt: skip


@pytest.fixture(scope="module")
def question() -> Question:
    hidden = ["complete", "receive_marker"]
    model = load("kafka/exactly_once", constants=CONSTANTS)
    return Question(model, reader_of(f"{FOLDER}/logs.py:event"), hidden)


def asked(question: Question, folder: Path, server: str, state: str = "Aborting") -> Conformance:
    lines = []
    for at, action, number, after in APPLICATION:
        who = f"Producer#{number}"
        event: dict[str, Any] = {"action": action, "time": 1_000_000 + at}
        event |= {"with": {"producer": who}} if action == "recover" else {"actor": who}
        event |= {"after": {f"{who}.state": after.replace("Aborting", state)}} if after else {}
        lines.append(json.dumps(event))
    (folder / "application").write_text("\n".join(lines), encoding="utf-8")
    (folder / "server").write_text(server, encoding="utf-8")
    return question.ask([str(folder / "application"), str(folder / "server")])


@pytest.mark.thorough
def test_what_the_server_logs_is_followed(question: Question, tmp_path: Path) -> None:
    answer = asked(question, tmp_path, SERVER)

    assert answer.conforms, answer
    assert (9, {"Database.commit": 1, "take_over": 1}) == (
        answer.events,
        {name: answer.coverage.fired[name] for name in ("Database.commit", "take_over")},
    )


@pytest.mark.thorough
def test_what_is_decided_after_another_took_over_is_refused(
    question: Question, tmp_path: Path
) -> None:
    late = "1000.050 producer-0 LOG:  duration: 0.2 ms  statement: COMMIT PREPARED 'kafka-0-1-1'\n"
    answer = asked(question, tmp_path, SERVER.replace(SERVER.splitlines()[-1] + "\n", late))

    assert ("parts", 9) == (answer.verdict, answer.accepted)
    assert "producer.index == coordinator.owner" in answer.report


@pytest.mark.thorough
def test_a_recovery_that_finds_another_row_is_refused(question: Question, tmp_path: Path) -> None:
    answer = asked(question, tmp_path, SERVER, state="Committing")

    assert ("parts", 7) == (answer.verdict, answer.accepted)
    assert "Producer#1.state is 'Aborting'" in answer.report


@pytest.mark.postgres
@pytest.mark.skipif("STATEWALK_POSTGRES" not in os.environ, reason="no server is named")
@pytest.mark.parametrize("fault", ["", "unfenced", "row-after"])
def test_a_real_server(
    fault: str, question: Question, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    application = importlib.import_module("application")
    server = Path(os.environ["STATEWALK_POSTGRES_DATA"]) / "log"
    verdicts = set()
    for seed in range(10):
        begin = server.stat().st_size
        application.run(os.environ["STATEWALK_POSTGRES"], tmp_path / "application", seed, fault)
        with server.open(encoding="utf-8") as log:
            log.seek(begin)
            (tmp_path / "server").write_text(log.read(), encoding="utf-8")
        answer = question.ask([str(tmp_path / "application"), str(tmp_path / "server")])
        assert fault or answer.conforms, answer
        verdicts.add(answer.verdict)

    assert ({"conforms", "parts"} if fault else {"conforms"}) == verdicts
