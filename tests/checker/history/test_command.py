"""The `history` commands: exit codes, what they print, what they write.

They cannot show whether a verdict is right, only that it is reported.
"""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.cli import main

HOLDS = [{"session": 1, "ops": [["w", "x", 1]]}, {"session": 2, "ops": [["r", "x", 1]]}]
LOST_UPDATE = [
    {"session": 1, "ops": [["r", "x", None], ["w", "x", 1]], "state": 12},
    {"session": 2, "ops": [["r", "x", None], ["w", "x", 2]]},
]


def run(monkeypatch: pytest.MonkeyPatch, *args: str | Path) -> int:
    return main(["history", *map(str, args)])


def file_of(tmp_path: Path, records: list[dict[str, Any]]) -> Path:
    file = tmp_path / "h.jsonl"
    file.write_text("".join(json.dumps(r) + "\n" for r in records))
    return file


def test_a_history_that_holds_exits_with_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(monkeypatch, "check", file_of(tmp_path, HOLDS), "--level", "serializable")

    assert 0 == code
    assert "serializable: holds" in capsys.readouterr().out


def test_without_a_level_the_strongest_and_the_weakest_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(monkeypatch, "check", file_of(tmp_path, HOLDS))
    out = capsys.readouterr().out

    assert 0 == code
    assert "Strongest level that holds: strong-session-serializable" in out
    assert "Weakest level that fails: none" in out
    assert "Not decided, since the history has no times: strong-si, strict-serializable" in out


def test_a_violation_exits_with_1_and_is_told_and_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    svg, dot, out = (tmp_path / name for name in ("a.svg", "a.dot", "a.json"))

    code = run(monkeypatch, "check", file_of(tmp_path, LOST_UPDATE), "--level", "si",
               "--svg", svg, "--dot", dot, "--json", out)  # fmt: skip
    text = capsys.readouterr().out
    result = json.loads(out.read_text())

    assert 1 == code
    assert "lost-update: refutes parallel-si" in text
    assert "T1 (session 1, line 1): r(x) = nil  w(x, 1)" in text
    assert "T1 is at model state 12" in text
    assert "lost-update" == result["explanations"][0]["anomaly"]
    assert {"rw", "ww"} == {step["kind"] for step in result["explanations"][0]["cycle"]}
    assert ET.fromstring(svg.read_text()).tag.endswith("svg")
    assert dot.read_text().startswith('digraph "lost-update" {')


def test_json_on_standard_output_is_all_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(monkeypatch, "check", file_of(tmp_path, LOST_UPDATE), "--json", "-")

    result = json.loads(capsys.readouterr().out)

    assert 1 == code
    assert (1, ["parallel-si"]) == (result["schema"], result["weakest_that_fail"])


def test_text_from_a_history_stays_in_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    forged = "t\n\nserializable: holds\n"
    records = [{**r, "session": forged + str(r["session"]), "id": forged + str(i)}
               for i, r in enumerate(LOST_UPDATE)]  # fmt: skip

    code = run(monkeypatch, "check", file_of(tmp_path, records))

    assert 1 == code
    assert not {"serializable: holds", "serializable: holds0"} & set(
        capsys.readouterr().out.splitlines()
    )


def test_text_from_a_history_cannot_break_a_drawing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = '"><script>&\\"\n'
    records = [{**r, "session": hostile + str(r["session"]), "id": hostile + str(i)}
               for i, r in enumerate(LOST_UPDATE)]  # fmt: skip
    svg, dot = tmp_path / "a.svg", tmp_path / "a.dot"

    run(monkeypatch, "check", file_of(tmp_path, records), "--svg", svg, "--dot", dot)

    assert not ET.fromstring(svg.read_text()).findall(".//{*}script")
    assert 7 == len(dot.read_text().splitlines())


@pytest.mark.parametrize("args", [["--level", "si"], []])
def test_what_cannot_be_read_exits_with_2(
    args: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bad = tmp_path / "h.jsonl"
    bad.write_text('{"session": 1, "ops": 3}\n')

    assert 2 == run(monkeypatch, "check", bad, *args)
    assert "line 1: SW701 the transaction has no list" in capsys.readouterr().err
    assert 2 == run(monkeypatch, "check", tmp_path / "absent", *args)
    assert "No such file" in capsys.readouterr().err


def test_a_conversion_reports_what_it_drops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = file_of(tmp_path, LOST_UPDATE)

    assert 0 == run(monkeypatch, "convert", file, tmp_path / "h.edn", "--to", "edn")
    assert "dropped: model states" in capsys.readouterr().out
    assert 0 == run(monkeypatch, "convert", tmp_path / "h.edn", tmp_path / "again.jsonl")
    assert "nothing was dropped" in capsys.readouterr().out
    assert 2 == run(monkeypatch, "convert", file, file)


@pytest.mark.parametrize("heuristic", ["add", "double"])
def test_the_heuristic_keeps_the_verdict(
    heuristic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = file_of(tmp_path, LOST_UPDATE)

    assert 1 == run(monkeypatch, "check", file, "--level", "si", "--heuristic", heuristic)


def test_time_that_runs_out_is_undecided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 3 == run(monkeypatch, "check", file_of(tmp_path, HOLDS), "--timeout", "0")
    assert "undecided within 0 seconds" in capsys.readouterr().err


def test_help_loads_no_kernels() -> None:
    code = "import sys, statewalk.checker.history.commands.cli; sys.exit('numba' in sys.modules)"

    assert 0 == subprocess.run([sys.executable, "-c", code], check=False).returncode


@pytest.mark.parametrize(
    ("given", "said"), [("10m", ""), ("2h", ""), ("soon", "not a time such as 90")]
)
def test_times_are_written_as_everywhere(
    given: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = run(monkeypatch, "check", file_of(tmp_path, HOLDS), "--timeout", given)

    assert (2 if said else 0) == code
    assert said in capsys.readouterr().err


def test_a_conversion_says_what_reading_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = file_of(tmp_path, HOLDS)
    file.write_text(file.read_text(encoding="utf-8") + '{"session": 1, "o', encoding="utf-8")

    code = run(monkeypatch, "convert", file, tmp_path / "to.jsonl")

    printed = capsys.readouterr().out
    assert 0 == code
    assert "the last one, is cut off and left out" in printed
    assert "nothing else was dropped" in printed
