"""`history from-trace` as users run it: what it writes, and what it refuses.

That the history is the right one is tested with the store models.
"""

import json
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from tests.places import ROOT

SNAPSHOT = ROOT / "models" / "stores" / "snapshot.py"
DIE_HARD = ROOT / "models" / "toys" / "die_hard.py"


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    main(["check", str(SNAPSHOT), "--config", "own-write-missed", "--out", str(folder)])
    return folder / "strong_session_si.trace.json"


def run(*args: str | Path) -> int:
    return main(["history", *map(str, args)])


def test_what_is_written_is_a_history_that_can_be_checked(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "h.jsonl"

    assert 0 == run("from-trace", trace, "--spec", SNAPSHOT, "--out", file)
    assert f"{file}: 2 transactions in 6 steps" in capsys.readouterr().out
    assert 0 == run("check", file, "--level", "si")
    assert 1 == run("check", file, "--level", "strong-session-si")
    assert "stale-read-session" in capsys.readouterr().out


@pytest.mark.thorough
def test_without_a_file_it_goes_to_standard_output(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == run("from-trace", trace, "--spec", SNAPSHOT)

    header, *lines = map(json.loads, capsys.readouterr().out.splitlines())
    assert {"statewalk-history": 1} == header
    assert [("A1", [["w", "x", "A1.1"]]), ("A2", [["r", "x", None]])] == [
        (line["id"], line["ops"]) for line in lines
    ]


def test_the_spec_that_a_trace_names_is_not_run(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == run("from-trace", trace)
    assert "--spec" in capsys.readouterr().err


@pytest.mark.thorough
def test_a_trace_of_another_spec_is_refused(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == run("from-trace", trace, "--spec", DIE_HARD)
    assert "SW405" in capsys.readouterr().err


@pytest.mark.thorough
def test_a_trace_that_does_not_happen_gives_no_history(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = tmp_path / "changed.trace.json"
    changed.write_text(trace.read_text().replace("A1.1", "A1.7"))

    assert 5 == run("from-trace", changed, "--spec", SNAPSHOT)
    printed = capsys.readouterr()
    assert "statewalk-history" not in printed.out
    assert "A1.7" in printed.err


def test_operations_of_a_model_are_a_history_of_an_object(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, file = ROOT / "models" / "stores" / "chain.py", tmp_path / "h.jsonl"
    main(["check", str(spec), "--config", "stale_read", "--out", str(tmp_path / "run")])
    trace = tmp_path / "run" / "is_linearizable.trace.json"

    assert 0 == run("from-trace", trace, "--spec", spec, "--out", file)
    assert f"{file}: 3 operations in 5 steps" in capsys.readouterr().out
    assert 1 == run("check", file, "--object", "register", "--set", "INITIAL=0")
    assert "read() → 0  (client Client#0, line 4-5) fits nowhere." in capsys.readouterr().out


SETS = """
from typing import Any

from statewalk import State, action, always, require


class History(State):
    events: list[Any] = []

    @action
    def run(self) -> None:
        require(not self.events)
        client = ("client", 1)
        self.events = [
            ("call", client, "add", (1, 2)), ("return", client),
            ("call", client, "read"), ("return", client, frozenset([(1, 2)])),
        ]


history = History()


@always
def is_empty() -> bool:
    return not history.events


def recorded_operations() -> list[Any]:
    return list(history.events)
"""


def test_answers_of_operations_are_written_as_a_history_has_them(tmp_path: Path) -> None:
    spec, file = tmp_path / "sets.py", tmp_path / "h.jsonl"
    spec.write_text(SETS)
    main(["check", str(spec), "--out", str(tmp_path / "run")])

    trace = tmp_path / "run" / "is_empty.trace.json"
    assert 0 == run("from-trace", trace, "--spec", spec, "--out", file)
    assert [[1, 2]] == json.loads(file.read_text().splitlines()[-1])["answer"]
    assert 0 == run("check", file, "--object", "set")
