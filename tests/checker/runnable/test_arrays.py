"""Without compiler and numpy, checks and comparisons come out as they do with them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.cli import main
from tests.cases import slow
from tests.places import ROOT

ARRAYS = ROOT / "checker/runnable/arrays"
# A machine without numpy, compiler, timers, processes and threads.
BARE = f"""
import signal, sys
sys.path.insert(0, {str(ARRAYS)!r})
sys.modules["numba"] = None
del signal.setitimer
from statewalk.checker.machine import able
able.PROCESSES = able.FORKS = able.THREADS = False
"""
AGAIN = """
import json
from statewalk.checker.machine.again import here

print(json.dumps([here(words) for words in json.loads(sys.argv[1])]))
"""


def bare(commands: list[list[str]], folder: Path) -> list[Any]:
    words = ["-c", BARE + AGAIN, json.dumps(commands)]
    return [[_untimed(printed), code] for printed, _, code in json.loads(run(words, folder).stdout)]


@pytest.fixture
def usual(capsys: pytest.CaptureFixture[str]) -> Callable[[list[list[str]]], list[Any]]:
    """What commands find with numpy, and with a compiler."""

    def found(commands: list[list[str]]) -> list[Any]:
        codes = [(main(words), capsys.readouterr().out) for words in commands]
        return [[_untimed(printed), code] for code, printed in codes]

    return found


Usual = Callable[[list[list[str]]], list[Any]]


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], capture_output=True, check=False, cwd=folder, encoding="utf-8"
    )


def _untimed(printed: str) -> Any:
    """Return what a command found, without what tells of the machine and of the moment."""
    return _without(json.loads(printed), {"seconds", "trace", "run", "engine", "collision"})


def _without(data: Any, names: set[str]) -> Any:
    if isinstance(data, dict):
        return {k: _without(v, names) for k, v in data.items() if k not in names}
    return [_without(v, names) for v in data] if isinstance(data, list) else data


DIARY = ROOT / "docs/diary"
ASKING, MOVING = str(DIARY / "01/asking.py"), str(DIARY / "04/moving.py")
QUICK = [[ASKING, "--set", "BROKERS=2", "--set", "MUTANT=weak_asking"]]
LONG = [
    [ASKING, "--set", "BROKERS=2", "--set", "CLIENTS=2"],
    [ASKING, "--set", "CLIENTS=3", "--set", "TIDS=2", "--set", "MUTANT=phantom_pending",
     "--property", "everybody_gets_a_pid"],
    [MOVING, "--set", "MUTANT=decisions_are_left", "--property", "everybody_gets_a_pid"],
    [str(DIARY / "07/two_systems.py"), "--set", "RECOVERY=kip939"],
]  # fmt: skip
COMPARE = [
    ["compare", str(DIARY / "07/two_systems.py"), "--vary", "RECOVERY=abort,kip939", "--json", "-"],
]


@pytest.mark.thorough
@pytest.mark.parametrize("specs", [QUICK, slow(LONG)], ids=["quick", "long"])
def test_checks_find_what_they_find_natively(
    specs: list[list[str]], usual: Usual, tmp_path: Path
) -> None:
    commands = [["check", *words, "--json", "-"] for words in specs]
    expected = usual(commands)
    assert expected == bare(commands, tmp_path)
    assert all(isinstance(found, dict) and found["properties"] for found, _ in expected)


@pytest.mark.slow
def test_comparisons_come_out_as_with_numpy(usual: Usual, tmp_path: Path) -> None:
    expected = usual(COMPARE)
    assert expected == bare(COMPARE, tmp_path)
    assert all(isinstance(found, dict) for found, _ in expected)
