"""A check that was begun with ``--out`` can be gone on with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli import main

MODELS = Path(__file__).parents[2] / "models"


def _counts(capsys: pytest.CaptureFixture[str]) -> object:
    return json.loads(capsys.readouterr().out)["counts"]


def test_a_search_cut_at_a_depth_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = str(MODELS / "toys/two_phase_commit.py")
    whole = ["check", spec, "--set", "RMS=4", "--json", "-"]

    assert 0 == main([*whole, "--out", "whole"])
    expected = _counts(capsys)
    assert 3 == main([*whole, "--out", "run", "--max-depth", "6"])
    capsys.readouterr()
    request = json.loads(Path("run/request.json").read_text())
    del request["options"]["max_depth"]
    Path("run/request.json").write_text(json.dumps(request))
    assert 0 == main(["resume", "run", "--spec", spec, "--json", "-"])
    assert expected == _counts(capsys)


def test_a_spec_named_by_a_relative_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(MODELS)
    out = str(tmp_path / "run")
    main(["check", "toys/counters.py", "--out", out, "--max-depth", "2"])
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()

    assert 3 == main(["resume", out, "--spec", str(MODELS / "toys/counters.py")])
    assert "SW341" not in capsys.readouterr().err


WRONG = ["threads", "max_depth", "timeout", "properties", "spark", "checkpoint_every"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "its request.json cannot be read (Expecting value"),
        ("{", "its request.json cannot be read"),
        ("[]", "its request.json does not hold a check."),
        ("{}", "its request.json does not hold a check."),
        ('{"spec": 1, "options": {}}', "its request.json does not hold a check."),
        ('{"spec": "x", "options": {"a": 1}}', "its request.json does not hold a check."),
        *(
            (f'{{"spec": "x", "constants": {{}}, "options": {{"{name}": "many"}}}}', "not hold a")
            for name in WRONG
        ),
    ],
)
def test_a_folder_that_cannot_be_resumed(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "request.json").write_text(text)

    assert 2 == main(["resume", str(tmp_path)])
    printed = capsys.readouterr().err
    assert "SW342" in printed
    assert said in printed


def test_a_changed_spec_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = Path("spec.py")
    text = (MODELS / "toys/counters.py").read_text()
    spec.write_text(text)
    main(["check", "spec.py", "--out", "run", "--max-depth", "2"])
    spec.write_text(text.replace("shared.value += 1", "shared.value += 2"))
    capsys.readouterr()

    assert 2 == main(["resume", "run"])
    assert "SW341" in capsys.readouterr().err
