"""Every example of docs/language.md is a spec that holds, with the counts that it states."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from tests.places import ROOT

BLOCK = re.compile(r"^```(\w+) *([\w.]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Example:
    """The files of a section, and its commands with what they print."""

    title: str
    files: dict[str, str] = field(default_factory=dict)
    commands: list[tuple[str, list[str]]] = field(default_factory=list)


def examples() -> list[Example]:
    text = (ROOT / "docs" / "language.md").read_text("utf-8")
    found = []
    for section in re.split(r"^##+ ", text, flags=re.MULTILINE)[1:]:
        example = Example(section.partition("\n")[0])
        for language, name, content in BLOCK.findall(section):
            if language == "python":
                example.files[name or "spec.py"] = content
            for line in content.splitlines() if language == "console" else ():
                if line.startswith("$ statewalk "):
                    example.commands.append((line.removeprefix("$ statewalk "), []))
                else:
                    example.commands[-1][1].append(line)
        if example.files:
            example.commands = example.commands or [("check spec.py", ["HOLDS"])]
            found.append(example)
    return found


@pytest.mark.parametrize("example", examples(), ids=lambda e: e.title)
def test_the_example_does_what_it_says(
    example: Example,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, content in example.files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    for command, expected in example.commands:
        code = main([*command.split(), "--engine", "reference"])
        printed = capsys.readouterr().out

        assert 0 == code, printed
        for line in expected:
            assert " ".join(line.split()) in " ".join(printed.split())
