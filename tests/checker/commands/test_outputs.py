"""Outputs: a command never writes to its input, and two options never write one file."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from statewalk.checker.cli import main, make_parser

SPEC = """
from statewalk import State, action, always

class Counter(State):
    n: int = 0

    @action
    def up(self) -> None:
        self.n = 1 - self.n

counter = Counter()
"""
# commands that read a file and write others: what they are given besides
GIVEN = {
    "check": ["FILE"],
    "compare": ["FILE", "toys/die_hard"],
    "conform": ["toys/die_hard", "FILE"],
    "cover": ["FILE"],
    "simulate": ["FILE"],
    "test": ["FILE"],
    "show": ["FILE"],
    "export": ["FILE", "--format", "json"],
    "history check": ["FILE"],
    "history from-trace": ["FILE", "--spec", "toys/die_hard"],
}
# `check --out` is a folder
FOLDERS = {("check", "--out")}


def _commands(parser: argparse.ArgumentParser, name: str = "") -> Iterator[tuple[str, str]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, inner in action.choices.items():
                yield from _commands(inner, f"{name} {word}".strip())
        elif action.metavar == "FILE" and action.option_strings:
            if re.search(r"writ|draw|save|also|page", str(action.help)):
                yield name, action.option_strings[-1]


WRITERS = [(c, o) for c, o in _commands(make_parser()) if c in GIVEN and (c, o) not in FOLDERS]


def test_that_the_options_are_found() -> None:
    assert {("check", "--json"), ("cover", "--pytest"), ("history check", "--svg")} <= set(WRITERS)
    assert len(WRITERS) >= 20


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("command", "option"), WRITERS)
def test_what_is_read_is_not_written(
    command: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spec.py"
    file.write_text(SPEC)
    (tmp_path / "link.py").symlink_to(file)
    given = [str(file) if word == "FILE" else word for word in GIVEN[command]]
    assert main([*command.split(), *given, option, str(tmp_path / "link.py")]) == 2
    assert "link.py cannot be written: the command reads it." in capsys.readouterr().err
    assert file.read_text() == SPEC


def test_two_options_do_not_write_one_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "spec.py", str(tmp_path / "out")
    file.write_text(SPEC)
    assert main(["check", str(file), "--json", out, "--junit", out]) == 2
    assert "--json writes it already" in capsys.readouterr().err


def test_a_module_of_the_spec_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "part_of_it.py").write_text(SPEC)
    file = tmp_path / "spec.py"
    file.write_text("from part_of_it import *\n")
    asked = ["check", str(file), "--out", str(tmp_path / "run"), "--engine", "reference"]
    assert main([*asked, "--json", str(tmp_path / "part_of_it.py")]) == 2
    assert "the spec is loaded from it" in capsys.readouterr().err
    assert (tmp_path / "part_of_it.py").read_text() == SPEC
