"""conform.md says what the program does: its files are written, its commands run in order."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from tests.places import ROOT

PAGE = (ROOT / "docs/how-to/conform.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+) *([\w.-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


@pytest.mark.thorough
def test_the_page_can_be_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    ran = 0
    for language, name, content in BLOCK.findall(PAGE):
        if language == "console":
            for command, expected in COMMAND.findall(content):
                printed = output(command, capsys)
                assert " ".join(expected.split()) in " ".join(printed.split()), command
                ran += 1
        elif name:
            Path(name).write_text(content, encoding="utf-8")
    assert ran >= 6


def output(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what a command prints; it may write into a file instead."""
    line, _, file = command.partition(" > ")
    words = shlex.split(line)
    if words[0] == "statewalk":
        main(words[1:])
        printed = capsys.readouterr().out
    else:
        program = [sys.executable, *words[1:]] if words[0] == "python" else words
        program = [sys.executable, "-m", *words] if words[0] == "pytest" else program
        printed = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True).stdout
    if file:
        Path(file).write_text(printed, encoding="utf-8")
    return printed
