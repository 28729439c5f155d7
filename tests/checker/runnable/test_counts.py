"""What entries and models count in the Python of a browser is what they count elsewhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
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


def answered(site: Path, requests: list[dict[str, Any]], folder: Path) -> list[list[str]]:
    """The lines that each command prints in Pyodide."""
    assert NODE is not None
    (folder / "requests.json").write_text(json.dumps(requests), encoding="utf-8")
    harness = Path(__file__).with_name("pyodide.mjs")
    words = [NODE, str(harness), str(site), str(PYODIDE / "pyodide-lock.json"), "requests.json"]
    done = subprocess.run(words, cwd=folder, capture_output=True, encoding="utf-8", check=True)
    return [json.loads(line)["lines"] for line in done.stdout.splitlines()]


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


@pytest.mark.parametrize("number", [f"{n:02}" for n in range(8)])
def test_an_entry_finds_what_it_says(number: str, site: Path, tmp_path: Path) -> None:
    asked = list(commands(number))
    found = answered(site, [request for request, _ in asked], tmp_path)
    assert asked
    assert [told(lines) for _, lines in asked] == [told(lines) for lines in found]


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


def test_ten_models_of_the_library_count_what_they_expect(site: Path, tmp_path: Path) -> None:
    chosen = [one for one, _ in zip(small(), range(10), strict=False)]
    asked = [
        {"kind": "run", "command": f"statewalk check {name} --config {config}", "limits": LIMITS}
        for name, config, _ in chosen
    ]
    found = answered(site, asked, tmp_path)
    searched = [COUNTS.findall("\n".join(lines))[0] for lines in found]
    counts = [int(distinct.replace(",", "")) for distinct, *_ in searched]
    assert len(chosen) == 10
    assert [distinct for *_, distinct in chosen] == counts
