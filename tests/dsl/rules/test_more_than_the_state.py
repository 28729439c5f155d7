"""A step that asks the machine, or the clock, is refused, by whatever name it asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.api import load
from statewalk.dsl.errors import SpecError

SPEC = """
{imports}
from statewalk import State, action

class C(State):
    n: int = 0

    @action
    def up(self) -> None:
        self.n = len(str({asks})) % 3

c = C()
"""
ASKS = [
    ("import os", "os.path.exists('x')"),
    ("import os.path", "os.path.realpath('x')"),
    ("from os import path", "path.abspath('x')"),
    ("from os.path import getsize as size", "size('x')"),
    ("import posixpath", "posixpath.exists('x')"),
    ("import genericpath", "genericpath.isfile('x')"),
    ("import getpass", "getpass.getuser()"),
    ("import filecmp", "filecmp.cmp('a', 'b')"),
    ("import signal", "signal.getsignal(2)"),
    ("from email.utils import localtime", "localtime().second"),
]
DOES_NOT = [
    ("import os", "os.path.join('a', 'b')"),
    ("from os.path import splitext", "splitext('a.b')"),
    ("import posixpath", "posixpath.basename('a/b')"),
]


@pytest.mark.parametrize(("imports", "asks"), ASKS)
def test_a_step_that_asks_is_refused(imports: str, asks: str, tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(SPEC.format(imports=imports, asks=asks))

    with pytest.raises(SpecError, match="differs from run to run") as caught:
        load(tmp_path / "spec.py")

    assert "SW104" == caught.value.code


@pytest.mark.parametrize(("imports", "asks"), DOES_NOT)
def test_what_a_path_says_by_itself_may_be_asked(imports: str, asks: str, tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(SPEC.format(imports=imports, asks=asks))

    load(tmp_path / "spec.py")
