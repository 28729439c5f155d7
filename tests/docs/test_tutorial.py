"""The tutorial can be followed in one folder; its notebook shows what its cells give."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from tests.docs.notebook import code_cells, outputs, read
from tests.docs.test_errors import BLOCK, changed
from tests.places import ROOT

LESSONS = ("1-first-spec.md", "2-a-bug.md", "3-liveness.md", "4-ci.md")
SECONDS = re.compile(r", \d+\.\d+ s")


def test_the_lessons_can_be_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    follow(LESSONS, capsys)


def follow(lessons: Sequence[str], capsys: pytest.CaptureFixture[str]) -> None:
    for lesson in lessons:
        text = (ROOT / "docs/tutorial" / lesson).read_text("utf-8")
        for language, name, content in BLOCK.findall(text):
            if language == "python":
                Path(name).write_text(content, encoding="utf-8")
            if language == "diff":
                found = changed(Path(name).read_text("utf-8"), content)
                Path(name).write_text(found, encoding="utf-8")
            if language == "console":
                command, *shown = content.splitlines()
                main(shlex.split(command)[2:])
                printed = " ".join(SECONDS.sub("", capsys.readouterr().out).split())
                assert [] == [x for x in shown if " ".join(x.split()) not in printed], printed


@pytest.mark.thorough
def test_the_guide_compare_shows_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    follow(LESSONS[:2], capsys)
    text = (ROOT / "docs/how-to/compare.md").read_text("utf-8")
    shown = [content for language, _, content in BLOCK.findall(text) if language == "console"]
    command, _, first = shown[0].partition("\n")

    main(shlex.split(command)[2:])
    printed = capsys.readouterr().out

    assert [] == [part for part in (first, *shown[1:]) if part not in printed], printed


@pytest.mark.thorough
def test_the_tutorial_shows_what_its_cells_give() -> None:
    notebook = read()

    for cell, found in zip(code_cells(notebook), outputs(notebook), strict=True):
        page = "explore()" in "".join(cell["source"])
        assert cell["outputs"] == ([] if page else found), "python -m tests.docs.notebook"
        assert not page or "<iframe" in found[0]["data"]["text/html"][0]
