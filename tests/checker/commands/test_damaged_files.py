"""Files of others that hold what they should not: a clear error that names the file, no crash."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.cli import main
from statewalk.checker.commands.explore import _trace_in
from tests.cases import slow
from tests.places import ROOT

DIE_HARD = str(ROOT / "models/toys/die_hard.py")
DEEP = "[" * 100_000


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run, with a graph beside it."""
    here = ["--out", str(tmp_path / "run"), "--graph", str(tmp_path / "g")]
    main(["check", DIE_HARD, "--engine", "native", *here])
    return tmp_path / "run"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"spec": "\0"}, "no file can have this name"),
        ({"spec": "\ud800"}, "request.json"),
        ({"schema": 99}, "its schema is 99"),
        ({"options": {"timeout": float("inf")}}, "timeout cannot be inf"),
        ({"options": {"timeout": 1e300}}, "timeout cannot be"),
        ({"options": {"threads": 100_000}}, "threads cannot be 100000"),
        ({"options": {"max_states": 10**30}}, "request.json"),
        ({"options": {"properties": []}}, "properties cannot be"),
        ({"constants": 5}, "request.json"),
        (None, "request.json"),
    ],
)
def test_a_request(
    run: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any] | None, said: str
) -> None:
    file = run / "request.json"
    about = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(DEEP if change is None else json.dumps({**about, **change}), encoding="utf-8")
    capsys.readouterr()

    assert main(["resume", str(run)]) == 2
    err = capsys.readouterr().err
    assert "SW342" in err
    assert said in err


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "change",
    [
        {"values": []},
        {"values": ["\0"], "files": {"\0": [1, ""]}},
        {"values": ["level-0000.npz"]},
        {"depth": -1},
        {"depth": "1"},
        {"files": {"level-0000.npz": 5}},
        {"run": None},
    ],
)
def test_a_manifest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any]
) -> None:
    run = tmp_path / "run"
    main(["check", DIE_HARD, "--engine", "native", "--max-depth", "3", "--out", str(run)])
    for file in (run / "checkpoint").glob("manifest*"):
        about = json.loads(file.read_text(encoding="utf-8").partition(" ")[2])
        text = json.dumps({**about, **change})
        file.write_text(f"{zlib.crc32(text.encode()):08x} {text}\n", encoding="utf-8")
    capsys.readouterr()

    assert main(["resume", str(run)]) == 2
    assert "SW343" in capsys.readouterr().err


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "change", [{"columns": 5}, {"constants": []}, {"states": "1"}, {"depth": None}, None]
)
def test_a_graph(
    run: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any] | None
) -> None:
    file = run.parent / "g/graph.json"
    about = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(DEEP if change is None else json.dumps({**about, **change}), encoding="utf-8")
    capsys.readouterr()

    assert main(["query", str(run.parent / "g")]) == 2
    assert "SW351" in (err := capsys.readouterr().err)
    assert "graph.json" in err


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "actor",
    [
        {"#record": ["Jugs", 0]},
        {"#record": [[], {}]},
        {"#role": [{}, 0]},
        {"#bag": [[1, 1_000_000_000_000]]},
        {"#bag": 5},
        {"#dict": [[1]]},
        {"#bytes": "!"},
        {"#enum": [1, []]},
    ],
)
@pytest.mark.parametrize(
    "command", [["show"], slow(["replay"]), slow(["export", "--format", "itf"])]
)
def test_a_trace(
    run: Path, capsys: pytest.CaptureFixture[str], command: list[str], actor: Any
) -> None:
    file = next(run.glob("*.trace.json"))
    about = json.loads(file.read_text(encoding="utf-8"))
    about["steps"][0]["actor"] = actor
    file.write_text(json.dumps(about), encoding="utf-8")
    capsys.readouterr()

    assert main([command[0], str(file), *command[1:]]) == 2
    assert "SW401" in capsys.readouterr().err


def test_a_trace_of_a_spec_that_no_file_can_be(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = next(run.glob("*.trace.json"))
    about = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**about, "spec": "\0"}), encoding="utf-8")
    capsys.readouterr()

    assert main(["replay", str(file)]) == 2
    assert "no file can have this name" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        "{:type [1 2], :process 0, :f :txn, :value []}",
        "{:type {}, :process 0, :f :txn, :value []}",
        "{:type :ok, :process 0, :value [[[:r] 1 2]]}",
        "{:type :ok, :process 0, :value [[:r [1] 2]]}",
        "{:type :ok, :process 0, :value {1 2}}",
        "{:type :ok, :process 0, :time [1], :value [[:r 1 2]]}",
    ],
)
def test_a_history(tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str) -> None:
    file = tmp_path / "history.edn"
    file.write_text(line + "\n", encoding="utf-8")

    assert main(["history", "check", str(file)]) == 2
    assert "history.edn" in capsys.readouterr().err


def test_a_password_is_in_no_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urls = ["postgresql://me:hidden@here/db", "host=here password='hid den' user=me"]
    monkeypatch.setattr("sys.argv", ["statewalk", "history", "collect", "--url", *urls])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("statewalk.checker.cli._guarded", lambda parsed: 1 / 0)

    assert main(["models"]) == 70
    text = next(tmp_path.glob("statewalk-*.txt")).read_text(encoding="utf-8")
    assert "hid" not in text.replace("hidden.py", "")
    assert "me:***@here/db" in text


@pytest.mark.parametrize("result", ["3", "null", '{"properties": [1]}', '{"properties": 3}'])
def test_a_result_beside_traces(tmp_path: Path, result: str) -> None:
    (tmp_path / "a.trace.json").touch()
    (tmp_path / "result.json").write_text(result, encoding="utf-8")

    assert tmp_path / "a.trace.json" == _trace_in(tmp_path)
