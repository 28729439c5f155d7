"""Expressions along a saved trace, against what plain Python says of the same path."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from tests.places import ROOT


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    spec = text.split("```python counter.py\n")[1].split("```")[0]
    (tmp_path / "counter.py").write_text(spec, encoding="utf-8")
    assert main(["check", "counter.py", "--out", "run"]) == 1
    return "run/no_update_is_lost.trace.json"


def test_each_expression_has_a_value_in_each_state(
    trace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    code = main(["eval", trace, "counter.value", "[w.read for w in workers]", "--json", "-"])
    found = json.loads(capsys.readouterr().out)

    assert code == 0
    values = [[told["value"] for told in state["values"]] for state in found["states"]]
    assert [value for value, _ in values] == [0, 0, 0, 1, 1]  # two loads, two stores
    assert [sorted(read is not None for read in reads) for _, reads in values] == [
        [False, False], [False, True], [True, True], [True, True], [True, True],
    ]  # fmt: skip
    assert found["states"][0]["step"] is None
    assert found["states"][1]["step"].endswith("load")


def test_only_changes(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    code = main(["eval", trace, "counter.value", "--changes"])
    lines = capsys.readouterr().out.splitlines()

    assert code == 0
    assert [line.split() for line in lines if "counter.value" in line] == [
        ["counter.value", "0"], ["counter.value", "1"],
    ]  # fmt: skip


def test_properties_by_name_and_what_raises(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    code = main(["eval", trace, "no_update_is_lost", "1 // counter.value"])
    printed = capsys.readouterr().out

    assert code == 0
    assert printed.count("ZeroDivisionError") == 3
    assert printed.count("False") == 1


def test_a_trace_that_does_not_happen_any_more(
    trace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = Path("counter.py").read_text(encoding="utf-8")
    Path("counter.py").write_text(spec.replace("self.read + 1", "self.read + 2"), encoding="utf-8")
    capsys.readouterr()

    assert main(["eval", trace, "counter.value"]) == 5
    assert "DIVERGED" in capsys.readouterr().out


@pytest.mark.parametrize("expression", ["counter.", "nothing", "no_update_is_lost and True"])
def test_what_is_no_expression_is_a_mistake(
    trace: str, capsys: pytest.CaptureFixture[str], expression: str
) -> None:
    assert main(["eval", trace, expression]) == 2
    assert "SW371" in capsys.readouterr().err
