"""A folder of runs: each is followed alone, and what they show is added up."""

from __future__ import annotations

import json
import xml.etree.ElementTree as Xml
from pathlib import Path

import pytest

from statewalk import conform
from statewalk.checker.cli import main
from tests.cases import slow
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


@pytest.mark.thorough
def test_processes_change_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "README.txt").write_text("runs of today", encoding="utf-8")
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


def test_the_share_of_a_graph(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = ["conform", SPEC, str(folder)]
    for path in (folder / "d").iterdir():
        path.unlink()  # they do not conform
    graph = str(folder.parent / f"{folder.name}.graph")
    main(["check", SPEC, "--graph", graph, "--keep-going", "--out", f"{graph}.run"])
    other = str(folder.parent / f"{folder.name}.other")
    main(
        [
            "check",
            SPEC,
            "--graph",
            other,
            "--keep-going",
            "--set",
            "GOAL=3",
            "--out",
            f"{other}.run",
        ]
    )
    capsys.readouterr()

    assert main([*runs, "--graph", graph]) == 0
    said = capsys.readouterr().out
    # fill_big, then poured; fill_small, then empty; fill_small, fill_big: with the initial state 5
    assert "graph       5 of 16 states shown, 31.2 %" in said
    assert "1 of 2 at 2" not in said
    assert main([*runs, "--graph", other]) == 2
    assert "is of other constants" in capsys.readouterr().err
    assert main(["conform", SPEC, str(folder / "a.jsonl"), "--graph", graph]) == 2
    assert "this is one" in capsys.readouterr().err


def test_guards_that_stopped_nothing_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a").write_text('{"action": "begin", "with": {"txn": 0}}\n')
    spec = ROOT / "examples/transactions/spec.py"
    main(["conform", str(spec), str(tmp_path / "runs"), "--json"])
    found = json.loads(capsys.readouterr().out)["guards"]

    lines = spec.read_text(encoding="utf-8").splitlines()
    required = {f"spec.py:{n}" for n, line in enumerate(lines, 1) if "  require(" in line}
    assert required == {Path(name).name for name in found}
    assert 0 in found.values()
    assert 1 in found.values()


@pytest.mark.parametrize("jobs", ["1", slow("2")])
def test_a_file_that_is_no_log_stops_no_other_run(
    jobs: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "README.txt").write_text("runs of today", encoding="utf-8")
    (folder / "z.jsonl").write_text('{"action": "fill_b', encoding="utf-8")
    file = folder.parent / f"{folder.name}.xml"
    command = ["conform", SPEC, str(folder), "--jobs", jobs, "--set", "GOAL=3"]

    assert main([*command, "--max-hidden", "2", "--junit", str(file)]) == 2

    said = capsys.readouterr().out
    assert "3 of 6 runs conform" in said
    assert "MISTAKE           SW390" in said
    assert f"conform {SPEC} --set GOAL=3 --max-hidden 2 {folder}/d/one.jsonl" in said
    suite = Xml.fromstring(file.read_text(encoding="utf-8"))
    assert ("1", "2") == (suite.get("failures"), suite.get("errors"))
    file.unlink()
    assert main([*command, "--watch", "bigg"]) == 2
    assert "SW393" in capsys.readouterr().err


def test_a_graph_of_what_no_digest_tells(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = folder.parent / f"{folder.name}.py"
    text = Path(SPEC).read_text(encoding="utf-8")
    monkeypatch.setenv("GOAL_NOW", "4")
    text = text.replace("from statewalk import", "import os\n\nfrom statewalk import", 1)
    spec.write_text(text.replace("= 4\n", '= int(os.environ["GOAL_NOW"])\n', 1), encoding="utf-8")
    graph = str(folder.parent / f"{folder.name}.graph")
    main(["check", str(spec), "--graph", graph, "--keep-going", "--out", f"{spec}.run"])
    capsys.readouterr()

    assert main(["conform", str(spec), str(folder), "--graph", graph]) == 2
    assert "reads more than files" in capsys.readouterr().err
