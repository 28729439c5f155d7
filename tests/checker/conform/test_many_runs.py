"""A folder of runs: each is followed alone, and what they show is added up."""

from __future__ import annotations

import json
import xml.etree.ElementTree as Xml
from pathlib import Path

import pytest

from statewalk import conform
from statewalk.checker.cli import main
from tests.places import ROOT

SPEC = str(ROOT / "models/toys/die_hard.py")
RUNS = {
    "a.jsonl": ["fill_big", "pour_big_into_small"],
    "b.jsonl": ["fill_small", "empty_small"],
    "c.jsonl": ["fill_small", "fill_big", "fill_small"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, actions in RUNS.items():
        lines = [json.dumps({"action": action}) for action in actions]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "d").mkdir()
    one = {"action": "fill_small", "sent": "m", "after": {"small": 3}}
    other = {"action": "empty_small", "received": "m", "after": {"small": 1}}
    (tmp_path / "d" / "one.jsonl").write_text(json.dumps(one), encoding="utf-8")
    (tmp_path / "d" / "other.jsonl").write_text(json.dumps(other), encoding="utf-8")
    return tmp_path


def test_runs_are_followed_one_by_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder.parent / f"{folder.name}.xml"

    assert main(["conform", SPEC, str(folder), "--json", "--junit", str(file)]) == 1

    found = json.loads(capsys.readouterr().out)
    assert ["conforms", "conforms", "conforms", "parts"] == [r["verdict"] for r in found["runs"]]
    assert (2, 0, 4) == tuple(
        found["actions"][name] for name in ("fill_big", "pour_small_into_big", "fill_small")
    )
    suite = Xml.fromstring(file.read_text(encoding="utf-8"))
    assert ["", "", "", "failure"] == [next((c.tag for c in case), "") for case in suite]
    file.unlink()


def test_processes_change_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["conform", SPEC, str(folder), "--json"])
    alone = capsys.readouterr().out
    main(["conform", SPEC, str(folder), "--json", "--jobs", "2"])

    assert alone == capsys.readouterr().out


def test_from_python(folder: Path) -> None:
    answer = conform(SPEC, folder / "a.jsonl")

    assert answer.conforms
    assert "CONFORMS  2 events" in str(answer)
    assert {"fill_big": 1, "pour_big_into_small": 1} == dict(answer.coverage.fired)
    assert 3 == len(answer.coverage.states)
    parted = conform(SPEC, folder / "d/one.jsonl", folder / "d/other.jsonl")
    assert ("parts", 1, 2) == (parted.verdict, parted.accepted, parted.events)


def test_a_folder_without_logs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", SPEC, str(tmp_path)]) == 2
    assert "holds no logs" in capsys.readouterr().err
