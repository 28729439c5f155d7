"""A constant may be a function or a class: results, traces and checkpoints have its name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from statewalk.checker.cli import main

SPEC = """
from collections.abc import Callable
from statewalk import Constant, State, action, always, config, deadlock, require

def three() -> int:
    return 3

def nine() -> int:
    return 9

F: Constant[Callable[[], int]] = three

class Other:
    pass

KIND: Constant[type[Other]] = Other

class Counter(State):
    n: int = 0

    @action
    def up(self) -> None:
        require(self.n < F())
        self.n += 1

c = Counter()
deadlock(False)

@always
def small() -> bool:
    return c.n < 5

config("more", F=nine)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.py").write_text(SPEC)
    return tmp_path


def test_a_trace_with_a_function_is_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    assert 1 == main(["check", "s.py", "--config", "more", "--out", "run", "--json", "r.json"])
    assert "F=nine" in capsys.readouterr().out
    assert {"F": "nine", "KIND": "Other"} == json.loads(Path("r.json").read_text())["constants"]

    assert 0 == main(["replay", "run/small.trace.json"])
    assert "REPRODUCED" in capsys.readouterr().out


def test_a_search_with_a_function_is_resumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert 3 == main(
        ["check", "s.py", "--config", "more", "--out", "run", "--checkpoint-every", "0",
         "--max-depth", "3"]
    )  # fmt: skip
    request = Path("run/request.json")
    asked = json.loads(request.read_text())
    del asked["options"]["max_depth"]
    request.write_text(json.dumps(asked))

    assert 1 == main(["resume", "run"])
    assert "after 5 steps" in capsys.readouterr().out


def test_a_function_is_given_by_its_name() -> None:
    assert 0 == main(["check", "s.py", "--set", "F=three"])
    assert 1 == main(["check", "s.py", "--set", "F=nine"])


def test_a_trace_with_a_function_without_a_name_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("s.py").write_text(SPEC.replace("F=nine", "F=lambda: 9"))
    assert 1 == main(["check", "s.py", "--config", "more", "--out", "run"])

    assert 2 == main(["replay", "run/small.trace.json"])
    assert "SW405 The trace does not have the value of F, which was" in capsys.readouterr().err
