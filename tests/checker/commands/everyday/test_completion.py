"""Shells are told the commands, options and values that the parser knows."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from statewalk.checker.cli import main
from statewalk.checker.commands import COMMANDS
from statewalk.checker.commands.everyday.completion import all_words

TRY = """
COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); COMPREPLY=(); _statewalk; echo "${COMPREPLY[*]}"
"""


def test_the_words_are_those_of_the_parser() -> None:
    words = all_words()

    assert set(COMMANDS) == set(words.commands)
    assert "--engine" in words.commands["check"].options
    assert "native" in words.commands["check"].options["--engine"]
    assert "check" in words.commands["history"].commands
    assert ("bash", "zsh", "fish") == words.commands["completion"].values


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["ch"], "check"),
        (["check", "--eng"], "--engine"),
        (["check", "--engine", "na"], "native"),
        (["history", "fro"], "from-trace"),
        (["history", "check", "--lev"], "--level"),
        (["completion", "fi"], "fish"),
    ],
)
def test_bash_completes(typed: list[str], offered: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "bash"])
    script = capsys.readouterr().out

    words = ["bash", "-c", script + TRY, "bash", "statewalk", *typed]
    done = subprocess.run(words, check=True, capture_output=True, text=True)

    assert offered == done.stdout.strip()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_scripts(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["completion", shell])
    assert "--engine" in (out := capsys.readouterr().out) or "-l engine" in out
