"""A folder of runs on Spark: what is said of it is what processes say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from tests.places import ROOT

SPEC = str(ROOT / "models/toys/die_hard.py")
RUNS: dict[str, list[dict[str, object]]] = {
    "conforms": [{"action": "fill_big"}, {"action": "pour_big_into_small"}],
    "does_not": [{"action": "fill_big", "after": {"big": 4}}],
    "undecided": [{}] * 6,  # any steps
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, events in RUNS.items():
        lines = "\n".join(json.dumps(event) for event in events)
        (tmp_path / name).write_text(lines, encoding="utf-8")
    return tmp_path


@pytest.mark.spark
def test_spark_says_what_processes_say(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["conform", SPEC, str(folder), "--max-states", "4", "--json"]
    assert main(command) == 1
    alone = capsys.readouterr().out

    assert main([*command, "--engine", "spark", "--jobs", "2"]) == 1
    assert alone == capsys.readouterr().out
    verdicts = [run["verdict"] for run in json.loads(alone)["runs"]]
    assert ["conforms", "parts", "undecided"] == verdicts


@pytest.mark.spark
def test_mistakes_are_the_same_on_spark(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "wrong").write_text('{"action": "fil_big"}\n', encoding="utf-8")
    (folder / "unreadable").write_bytes(b"\xff\xfe")
    command = ["conform", SPEC, str(folder)]
    assert main(command) == 2
    alone = capsys.readouterr().out

    assert main([*command, "--engine", "spark", "--jobs", "2"]) == 2
    assert alone == capsys.readouterr().out
    assert "SW391" in alone
    assert "no UTF-8" in alone


def test_spark_is_for_folders(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = ["conform", SPEC, str(folder / "conforms")]

    assert main([*one, "--engine", "spark"]) == 2
    assert "SW326 --engine spark does nothing here." in capsys.readouterr().err
    assert main(["conform", SPEC, str(folder), "--master", "local[2]"]) == 2
    assert "SW326 --master does nothing here." in capsys.readouterr().err
