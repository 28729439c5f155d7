"""A folder of histories: each gets a line, whatever becomes of the others."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.cli import main
from statewalk.checker.history.commands import many
from statewalk.checker.history.commands.many import (
    FileChecks,
    Row,
    check_file,
    exit_code,
    histories,
    in_processes,
)
from statewalk.checker.history.decide.check import Options

HOLDS = [{"session": 1, "ops": [["w", "x", 1]]}, {"session": 2, "ops": [["r", "x", 1]]}]
LOST_UPDATE = [
    {"session": 1, "ops": [["r", "x", None], ["w", "x", 1]]},
    {"session": 2, "ops": [["r", "x", None], ["w", "x", 2]]},
]


def run(monkeypatch: pytest.MonkeyPatch, *args: str | Path) -> int:
    return main(["history", *map(str, args)])


def save(path: Path, records: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(r) + "\n" for r in records))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(tmp_path / "a.jsonl", HOLDS)
    (tmp_path / "b.jsonl").write_text('{"session": 1, "ops": 3}\n')
    save(tmp_path / "deep" / "c.jsonl", LOST_UPDATE)
    (tmp_path / "deep" / ".hidden").write_text("not a history")
    (tmp_path / "viper").mkdir()
    (tmp_path / "viper" / "J1.log").write_text('{"value": [["w", 1, 5, true]]}\n')
    return tmp_path


def test_a_folder_has_a_line_for_each_history_and_a_sum(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(monkeypatch, "check", folder, "--jobs", "1")
    out = capsys.readouterr().out.splitlines()

    assert 1 == code
    assert ["a.jsonl", "b.jsonl", "deep/c.jsonl", "viper"] == [s.split()[0] for s in out[1:5]]
    assert "line 1: SW701" in out[2]
    assert "parallel-si fails: lost-update" in out[3]
    assert "4 histories: 2 holds, 1 violated, 1 unreadable" == out[-1]


def test_a_last_line_that_is_cut_off_is_told_of_each_history(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "a.jsonl"
    file.write_text(file.read_text() + '{"session": 1, "op')
    told = "Line 3, the last one, is cut off and left out"
    rows = [check_file(str(file), asked) for asked in (FileChecks(), FileChecks("si"))]

    for row in rows:
        assert told in many.table([row], folder, FileChecks("si"))
        assert [told] == json.loads(many.as_json([row], folder))["files"][0]["result"]["notes"]
    run(monkeypatch, "check", file, "--json", "-")
    assert [told] == json.loads(capsys.readouterr().out)["notes"]


def test_links_to_folders_are_told_and_not_followed(tmp_path: Path) -> None:
    save(tmp_path / "in" / "a.jsonl", HOLDS)
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "J1.log").write_text('{"value": [["w", 1, 5, true]]}\n')
    for name, to in (("b", "."), ("c", "."), ("d", "../one"), ("e.jsonl", "a.jsonl"), ("f", "/")):
        (tmp_path / "in" / name).symlink_to(to)

    rows = [check_file(str(path), FileChecks()) for path in histories(tmp_path / "in")]
    told = "a link to a folder, which is not followed"

    assert ["a.jsonl", "b", "c", "d", "e.jsonl", "f"] == [Path(row.file).name for row in rows]
    assert ["", told, told, "", "", told] == [told * (told in row.message) for row in rows]
    assert ["holds", "unreadable", "unreadable", "holds", "holds", "unreadable"] == [
        row.outcome for row in rows
    ]


@pytest.mark.slow
def test_the_json_of_a_folder_has_each_result(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(monkeypatch, "check", folder, "--level", "prefix", "--json", "-", "--jobs", "2")
    result = json.loads(capsys.readouterr().out)
    outcomes = {row["file"]: row["outcome"] for row in result["files"]}

    assert 2 == code == result["exit_code"]
    assert {"a.jsonl": "holds", "b.jsonl": "unreadable", "deep/c.jsonl": "holds",
            "viper": "holds"} == outcomes  # fmt: skip
    assert {"prefix"} == set(result["files"][0]["result"]["levels"])
    assert 0 < result["files"][0]["result"]["phases"]["read"]


def test_a_folder_that_is_one_history_is_checked_as_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == run(monkeypatch, "check", folder / "viper")
    assert "(viper): 1 transactions" in capsys.readouterr().out


@pytest.mark.parametrize("more", [["--svg", "x.svg"], []])
def test_a_folder_without_histories_and_a_drawing_of_many_are_mistakes(
    more: list[str],
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "empty").mkdir()

    assert 2 == run(monkeypatch, "check", folder if more else tmp_path / "empty", *more)
    assert "SW709" in capsys.readouterr().err


def dies_of_c(path: str, asked: FileChecks) -> Row:
    if path.endswith("c.jsonl"):
        os.kill(os.getpid(), signal.SIGKILL)
    return check_file(path, asked)


@pytest.mark.thorough
def test_a_process_that_dies_takes_only_its_own_file_with_it(folder: Path) -> None:
    files = [folder / "deep" / "c.jsonl", folder / "a.jsonl"]
    rows = list(in_processes(files, FileChecks("si"), 1, dies_of_c))

    assert ["internal error", "holds"] == [row.outcome for row in rows]
    assert "died" in rows[0].message
    assert 70 == exit_code(rows)


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [(["holds"], 0), (["holds", "undecided"], 3), (["undecided", "unreadable"], 2),
     (["unreadable", "violated", "holds"], 1), (["violated", "internal error"], 70)],
)  # fmt: skip
def test_the_exit_code_is_that_of_the_worst(outcomes: list[str], code: int) -> None:
    assert code == exit_code([Row("x", outcome) for outcome in outcomes])


def test_time_that_runs_out_is_told_in_the_row(tmp_path: Path) -> None:
    save(tmp_path / "a.jsonl", HOLDS)
    asked = FileChecks("si", options=Options(timeout=0.0))

    assert "undecided" == check_file(str(tmp_path / "a.jsonl"), asked).outcome


@pytest.mark.thorough
def test_a_result_in_the_folder_is_no_history(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "b.jsonl").unlink()
    (folder / "deep" / "c.jsonl").unlink()
    result, single = folder / "result.json", folder / "deep" / "a.json"
    check = ("check", folder, "--jobs", "1", "--json", result)
    run(monkeypatch, "check", folder / "a.jsonl", "--json", single)

    assert 0 == run(monkeypatch, *check)
    first = capsys.readouterr().out.splitlines()[-1]
    assert 0 == run(monkeypatch, *check)

    assert first == capsys.readouterr().out.splitlines()[-1] == "2 histories: 2 holds"
    names = [each["file"] for each in json.loads(result.read_text())["files"]]
    assert ["a.jsonl", "viper"] == names


@pytest.mark.parametrize(
    "text", ['{"schema": 1, "ops": []}', '{"schema": 1, ', '{"schema": 1, "folder": "a"}']
)
def test_a_history_that_looks_like_a_result_has_a_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)

    assert [tmp_path / "a.json"] == histories(tmp_path)


def test_a_history_is_not_written_over(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (folder / "a.jsonl").read_text()

    assert 2 == run(monkeypatch, "check", folder, "--json", folder / "a.jsonl")
    assert "SW706" in capsys.readouterr().err
    assert before == (folder / "a.jsonl").read_text()
