"""refused.md: what it says is refused gets its code, and what stands for it is checked."""

import re
import shlex
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from tests.places import ROOT

PAGE = (ROOT / "docs" / "explanation" / "refused.md").read_text("utf-8")
BLOCK = re.compile(r"^```(\w+) *([\w./-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILES = {"python": "spec.py", "fizz": "spec.fizz"}
PARTS = [part.partition("\n") for part in PAGE.split("\n## ")[1:]]
CODES = sorted({title.rpartition(" · ")[2] for title, _, _ in PARTS})


def given(
    blocks: list[tuple[str, str, str]], folder: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    """The exit code of the blocks' command (a check), what it prints, and what it is to print."""
    files = [FILES[language] for language, _, _ in blocks if language in FILES]
    command, said = f"check {files[-1]} --engine reference", ""
    for language, name, text in blocks:
        if language == "console":
            line, _, said = text.partition("\n")
            command = line.removeprefix("$ statewalk ")
        else:
            (folder / (name or FILES[language])).write_text(text, encoding="utf-8")
    code = main(shlex.split(command))
    captured = capsys.readouterr()
    return code, captured.out + captured.err, said


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("title", "text"), [(t, x) for t, _, x in PARTS], ids=lambda x: x[:40])
def test_what_is_refused_gets_its_code_and_the_way_around_is_checked(
    title: str,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    blocks = BLOCK.findall(text)
    first = 2 if blocks[1][0] == "console" else 1

    code, printed, _ = given(blocks[:first], tmp_path, capsys)
    assert (2, True) == (code, title.rpartition(" · ")[2] in printed), printed

    code, printed, said = given(blocks[first:], tmp_path, capsys)
    assert 0 == code, printed
    for line in said.splitlines():
        assert line in printed


@pytest.mark.parametrize("code", CODES)
def test_the_page_of_each_code_leads_here(code: str) -> None:
    assert "](../explanation/refused.md" in (ROOT / "docs" / "errors" / f"{code}.md").read_text(
        "utf-8"
    )
