"""The help of commands: all are listed, and every option has a text."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from statewalk.checker.cli import make_parser
from statewalk.checker.commands import COMMANDS, GROUPS


def test_every_command_is_in_one_group_and_every_option_has_a_text() -> None:
    assert sorted(COMMANDS) == sorted(name for names in GROUPS.values() for name in names)
    assert [] == list(_without_text(make_parser(), "statewalk"))


def _without_text(parser: argparse.ArgumentParser, name: str) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command, below in action.choices.items():
                yield from _without_text(below, f"{name} {command}")
        elif not action.help:
            yield f"{name} {action.dest}"
