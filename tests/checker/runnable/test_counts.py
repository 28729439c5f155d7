"""What entries and models count in the Python of a browser is what they count elsewhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from statewalk.checker.api import declared_within
from statewalk.checker.cli import main
from statewalk.checker.diary.entry import entries
from statewalk.checker.library import entries as models
from tests.places import ROOT

NODE = shutil.which("node")
PYODIDE = ROOT / "build/pyodide"
MOST = 20_000  # states: more take minutes
LIMITS = {"--max-states": MOST, "--timeout": 3000}
COUNTS = re.compile(r"([\d,]+) distinct states · ([\d,]+) generated · depth (\d+)")
FOUND = re.compile(r"^(?:VIOLATED|HOLDS|!? +\d+  )")
SEARCHED_ELSEWHERE = ("CLIENTS=4", "CLIENTS=3,4")  # for a minute and more
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NODE is None or not PYODIDE.exists(), reason="make site brings Pyodide"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert 0 == main(["docs", "--runnable", str(PYODIDE), "--out", str(folder)])
    return folder


Ask = Callable[[dict[str, Any]], list[str]]


@pytest.fixture(scope="module")
def ask(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Ask Pyodide, which is loaded once for all, for the lines that a command prints."""
    assert NODE is not None
    harness = Path(__file__).with_name("pyodide.mjs")
    words = [NODE, str(harness), str(site), str(PYODIDE / "pyodide-lock.json")]
    folder = tmp_path_factory.mktemp("node")
    with subprocess.Popen(
        words, cwd=folder, stdin=PIPE, stdout=PIPE, encoding="utf-8", bufsize=1
    ) as python:
        assert python.stdin is not None and python.stdout is not None
        asked, answered = python.stdin, python.stdout

        def lines(request: dict[str, Any]) -> list[str]:
            asked.write(json.dumps(request) + "\n")
            found: list[str] = json.loads(answered.readline())["lines"]
            return found

        yield lines
        asked.close()


def told(lines: Any) -> list[Any]:
    """What is found, without times and what tells of the engine."""
    return [m for line in lines for m in (*COUNTS.findall(line), *FOUND.findall(line))]


def commands(number: str) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """Each command of an entry as a page asks for it, and what is recorded below it."""
    for one in entries(ROOT / "docs/diary"):
        for at, cell in enumerate(one.cells() if one.number == number else ()):
            for command, lines in cell.commands if cell.kind == "commands" else ():
                if not any(word in command for word in SEARCHED_ELSEWHERE):
                    asked = {"kind": "run", "entry": number, "cell": at, "texts": {}}
                    yield {**asked, "command": command, "limits": LIMITS}, lines


def small() -> Iterator[tuple[str, str, int]]:
    """Models of the library with a configuration of few states, and how many these are."""
    for model in models():
        known = [
            (one.expect.distinct, one.name)
            for one in declared_within(model.path).declared.configurations
            if one.expect is not None and one.expect.distinct is not None
        ]
        if known and 20 < min(known)[0] < 600:
            yield model.name, min(known)[1], min(known)[0]


@pytest.mark.parametrize("number", [f"{n:02}" for n in range(8)])
def test_an_entry_finds_what_it_says(number: str, ask: Ask) -> None:
    found = [(told(lines), told(ask(request))) for request, lines in commands(number)]
    assert found
    assert [recorded for recorded, _ in found] == [answered for _, answered in found]


def test_ten_models_of_the_library_count_what_they_expect(ask: Ask) -> None:
    ten = [one for one, _ in zip(small(), range(10), strict=False)]
    counts = []
    for name, config, _ in ten:
        command = f"statewalk check {name} --config {config}"
        lines = ask({"kind": "run", "command": command, "limits": LIMITS})
        counts += [int(n.replace(",", "")) for n, *_ in COUNTS.findall("\n".join(lines))[:1]]
    assert len(ten) == 10
    assert [distinct for *_, distinct in ten] == counts
