"""The help of commands: all are listed, and every option has a text."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

import pytest

from statewalk.checker.cli import make_parser
from statewalk.checker.commands import COMMANDS, GROUPS


def test_every_command_is_in_one_group_and_every_option_has_a_text() -> None:
    assert sorted(COMMANDS) == sorted(name for names in GROUPS.values() for name in names)
    assert [] == list(_without_text(make_parser(), "statewalk"))


@pytest.mark.parametrize("arguments", [[], ["check"], ["history", "check"]])
def test_help_has_colours_where_they_are_wanted_and_the_same_words(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def printed() -> str:
        with pytest.raises(SystemExit):
            make_parser().parse_args([*arguments, "--help"])
        return capsys.readouterr().out

    monkeypatch.setenv("NO_COLOR", "1")
    plain = printed()
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = printed()

    assert "\033" not in plain
    assert "\033[36m--help\033[0m" in coloured
    assert "\033[1musage:\033[0m" in coloured
    assert re.sub(r"\033\[\d+m", "", coloured) == plain


def _without_text(parser: argparse.ArgumentParser, name: str) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command, below in action.choices.items():
                yield from _without_text(below, f"{name} {command}")
        elif not action.help:
            yield f"{name} {action.dest}"
