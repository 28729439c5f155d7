"""Traces of logs and comparisons show steps, and replay says no more of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from tests.places import ROOT

SPEC = str(ROOT / "models/toys/die_hard.py")


def test_the_trace_of_a_log_is_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.jsonl").write_text('{"action": "fill_big"}\n' * 2)
    assert 0 == main(["conform", SPEC, "log.jsonl", "--out", "way.json"])

    assert 0 == main(["replay", "way.json", "--spec", SPEC])
    assert "REPRODUCED  2 steps of" in capsys.readouterr().out


def test_a_property_is_not_passed_over_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert 1 == main(["check", SPEC, "--out", "run"])
    trace = next(Path("run").glob("*.trace.json"))
    told = json.loads(trace.read_text())
    trace.write_text(json.dumps(told | {"property": "step"}))

    assert 5 == main(["replay", str(trace), "--spec", SPEC])
    assert "the spec has no such step" in " ".join(capsys.readouterr().out.split())
