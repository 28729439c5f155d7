"""Every command on a page is one that the program reads: its name, options and their values."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from statewalk.checker.cli import make_parser
from tests.places import ROOT

PAGES = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
BLOCK = re.compile(r"^```(?:console|text)? *\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:\$ )?statewalk +([a-z]+\b.*)$", re.MULTILINE)
NO_SHELL = re.compile(r"  +#.*$| [|>] .*$| \[options\]$")


def commands(page: Path) -> Iterator[str]:
    for block in BLOCK.findall(page.read_text("utf-8")):
        for command in COMMAND.findall(block.replace("\\\n", " ")):
            yield NO_SHELL.sub("", command)


CASES = {command: page for page in PAGES for command in commands(page)}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("command", CASES)
def test_the_program_reads_the_command(command: str) -> None:
    words = shlex.split(command)

    assert make_parser(words[0]).parse_args(words).run


def test_pages_have_commands() -> None:
    assert 200 < len(CASES)
