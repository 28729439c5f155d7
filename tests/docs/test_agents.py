"""The page for assistants: its spec does what it says, and names commands and codes that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from statewalk.checker.commands import COMMANDS
from tests.places import ROOT

TEXT = (ROOT / "AGENTS.md").read_text(encoding="utf-8")


def test_the_spec_does_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (spec,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    Path("spec.py").write_text(spec, encoding="utf-8")
    (session,) = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
    lines = session.splitlines()

    for command, expected in zip(lines[::2], lines[1::2], strict=True):
        words = command.removeprefix("$ statewalk ").split()
        assert 0 == main([*words, "--engine", "reference"])
        assert expected in capsys.readouterr().out


def test_commands_and_codes_exist() -> None:
    named = set(re.findall(r"[`$] ?statewalk ([a-z]+)", TEXT))

    assert named <= set(COMMANDS)
    for code in re.findall(r"SW\d+", TEXT):
        assert (ROOT / "docs" / "errors" / f"{code}.md").exists()
