"""``python -m statewalk`` is the command, and finds the modules that the command finds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

STEPS = """
from statewalk import State, action, require
class S(State):
    x: int = 0
    @action
    def go(self) -> None:
        require(self.x < LIMIT)
        self.x += 1
s = S()
"""


@pytest.mark.thorough
def test_python_m_finds_what_the_command_finds(tmp_path: Path) -> None:
    (tmp_path / "tuning.py").write_text("N = 9")
    (tmp_path / "specs").mkdir()
    body = "try:\n    from tuning import N\nexcept ImportError:\n    N = 2\nLIMIT = N"
    (tmp_path / "specs/spec.py").write_text(body + STEPS)
    found = {}
    for safe in ([], ["-P"]):
        command = [
            sys.executable,
            *safe,
            "-m",
            "statewalk",
            "check",
            "specs/spec.py",
            "--json",
            "-",
        ]
        ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        found[len(safe)] = json.loads(ran.stdout)["counts"]["distinct"]

    assert {0: 3, 1: 3} == found
