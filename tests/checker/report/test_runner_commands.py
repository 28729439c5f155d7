"""Texts of a spec are no commands to a CI runner."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from statewalk.checker.cli import main

SPEC = """
action Init:
    x = 0

atomic action A:
    require x < 2
    x = x + 1
    fail("a\\n::stop-commands::t\\nHOLDS  1 invariant\\n  ::error::no")

always assertion P:
    return x >= 0
"""


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_an_error_of_several_lines(
    engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "spec.fizz").write_text(SPEC, encoding="utf-8")
    main(["check", str(tmp_path / "spec.fizz"), "--engine", engine, "--github",
          "--out", str(tmp_path / "run")])  # fmt: skip
    said = capsys.readouterr()
    commands = re.findall(r"^\s*::.*", said.out + said.err, re.MULTILINE)

    assert all(re.match(r"::(error|warning|notice) file=", command) for command in commands)
    assert not re.search(r"^HOLDS", said.out, re.MULTILINE)
    assert "stop-commands" in said.out
