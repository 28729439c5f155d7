"""Every code that the program can print has its page, and every page shows what it says.

A page under docs/errors/ has a part *Wrong* and a part *Right*. Each holds files (a block of Python
is spec.py, another name may follow the language) and perhaps a command; without one it is
``statewalk check spec.py``. *Right* begins with the files of *Wrong*; a ``diff`` block, with hunks
between lines ``@@``, changes its spec. What is printed under the command has to come out as it
stands there.
"""

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from tests.places import ROOT

PAGES = sorted((ROOT / "docs" / "errors").glob("SW*.md"))
BLOCK = re.compile(r"^```(\w+) *([\w./-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILES = {"python": "spec.py", "fizz": "spec.fizz", "json": "file.json"}
WARNINGS = ("SW5", "SW6")  # these do not change the exit code


@dataclass
class Part:
    """One half of a page: files by name, commands, and what the last command prints."""

    files: dict[str, str] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    printed: str = ""


def part_of(text: str, files: dict[str, str]) -> Part:
    part = Part(dict(files))
    for language, name, content in BLOCK.findall(text):
        if language == "console":
            lines = content.splitlines()
            part.commands += [x.removeprefix("$ statewalk ") for x in lines if x[:1] == "$"]
            part.printed += "\n".join(line for line in lines if line[:1] != "$")
        elif language == "diff":
            spec = name or next(f for f in ("spec.fizz", "spec.py") if f in part.files)
            part.files[spec] = changed(part.files[spec], content)
        else:
            part.files[name or FILES[language]] = content
    spec = "spec.fizz" if "spec.fizz" in part.files else "spec.py"
    part.commands = part.commands or [f"check {spec}"]
    return part


def changed(text: str, diff: str) -> str:
    """Return a text after each hunk of a diff; what a hunk replaces is there exactly once."""
    for hunk in re.split(r"^@@\n", diff, flags=re.MULTILINE):
        lines = hunk.splitlines(keepends=True)
        before, after = ("".join(x[1:] for x in lines if x[0] in " " + sign) for sign in "-+")
        assert text.count(before) == 1, f"{before!r} is there {text.count(before)} times"
        text = text.replace(before, after)
    return text


def parts(page: Path) -> tuple[Part, Part]:
    _, wrong, right = re.split(r"^## (?:Wrong|Right)\n", page.read_text("utf-8"), flags=re.M)
    before = part_of(wrong, {})
    return before, part_of(right, before.files)


def run(
    part: Part, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """The exit code of the last command, and what all of them print."""
    for name, content in part.files.items():
        (folder / name).write_text(content, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    code = 0
    for command in part.commands:
        words = shlex.split(command)
        engine = (
            ["--engine", "reference"] if words[0] == "check" and "--engine" not in words else []
        )
        try:
            code = main([*words, *engine])
        except SystemExit as stopped:
            code = int(stopped.code or 0)
    captured = capsys.readouterr()
    return code, captured.out + captured.err


@pytest.mark.sampled(6)
@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_wrong_example_gets_the_error(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    wrong, _ = parts(page)

    code, printed = run(wrong, tmp_path, monkeypatch, capsys)

    assert page.stem in printed
    assert squeezed(wrong.printed) in squeezed(printed)
    assert page.stem.startswith(WARNINGS) or code == 2


@pytest.mark.sampled(6)
@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_right_example_does_not(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, right = parts(page)

    code, printed = run(right, tmp_path, monkeypatch, capsys)

    assert page.stem not in printed
    assert code == 0, printed


def squeezed(text: str) -> str:
    return " ".join(text.split())


def codes_in_the_source() -> set[str]:
    found: set[str] = set()
    for package in ("dsl", "checker"):
        for file in (ROOT / package).rglob("*.py"):
            found |= set(re.findall(r"\bSW\d{3}\b", file.read_text("utf-8")))
    return found


def listed() -> dict[str, str]:
    """Code → its row in docs/reference/errors.md."""
    text = (ROOT / "docs" / "reference" / "errors.md").read_text("utf-8")
    rows = [(m[1], m[0]) for m in re.finditer(r"^- \[?(SW\d{3})\b.*$", text, re.MULTILINE)]
    assert len(dict(rows)) == len(rows), "a code that means two things"
    return dict(rows)


def test_every_code_is_listed() -> None:
    assert set() == codes_in_the_source() - listed().keys()


def test_no_code_is_listed_that_does_not_exist() -> None:
    assert set() == listed().keys() - codes_in_the_source()


def test_the_list_links_to_every_page_with_its_title() -> None:
    rows = listed()

    for page in PAGES:
        title = page.read_text("utf-8").splitlines()[0].partition(" · ")[2]
        assert f"- [{page.stem}](../errors/{page.stem}.md): {title}" == rows.get(page.stem)
