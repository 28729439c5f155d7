"""Every example of these pages is a spec that does what the page says, with its counts."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from tests.docs.test_errors import changed
from tests.places import ROOT

PAGES = {  # by page: the engine
    "reference/language.md": "reference",
    "how-to/networks.md": "native",
    "how-to/slow-spec.md": "native",
    "how-to/too-many-states.md": "native",
}
BLOCK = re.compile(r"^```(\w+) *([\w.]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Example:
    """The files of a section, and its commands with what they print and the files by then."""

    title: str
    engine: str
    files: dict[str, str] = field(default_factory=dict)
    commands: list[tuple[str, list[str], dict[str, str]]] = field(default_factory=list)


def examples(page: str) -> list[Example]:
    """Return the sections that have specs or commands; files of earlier sections stay."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    found: list[Example] = []
    for section in re.split(r"^##+ ", text, flags=re.MULTILINE)[1:]:
        files = dict(found[-1].files) if found else {}
        example = Example(section.partition("\n")[0], PAGES[page], files)
        blocks = BLOCK.findall(section)
        for language, name, content in blocks:
            if language == "python":
                example.files[name or "spec.py"] = content
            if language == "diff":
                example.files[name] = changed(example.files[name], content)
            for line in content.splitlines() if language == "console" else ():
                if line.startswith("$ statewalk "):
                    command = line.removeprefix("$ statewalk ")
                    example.commands.append((command, [], dict(example.files)))
                else:
                    example.commands[-1][1].append(line)
        if blocks and not example.commands:
            checked = f"check {blocks[-1][1] or 'spec.py'}"
            example.commands = [(checked, ["HOLDS"], example.files)]
        if blocks:
            found.append(example)
    return found


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "example", [e for page in PAGES for e in examples(page)], ids=lambda e: e.title
)
def test_the_example_does_what_it_says(
    example: Example,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    for command, expected, files in example.commands:
        for name, content in files.items():
            Path(name).write_text(content, encoding="utf-8")
        words = command.split()
        code = main([*words, "--engine", example.engine] if words[0] == "check" else words)
        printed = capsys.readouterr().out

        assert any(" violated " in line for line in expected) == code, printed
        for line in expected:
            assert " ".join(line.split()) in " ".join(printed.split())
