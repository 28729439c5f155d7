"""Files of the author named as Python's modules hide nothing from the processes that are begun."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from statewalk.checker.diary import play
from statewalk.checker.machine import ahead
from statewalk.checker.machine.spawning import processes
from statewalk.dsl.errors import RunError
from tests.places import ROOT

NAMES = ("signal", "token", "struct", "queue")


@pytest.fixture(autouse=True)
def hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text("raise SystemExit('hidden')\n")
    return tmp_path


@pytest.mark.thorough
def test_a_command_of_a_diary(hidden: Path) -> None:
    spec = str(ROOT / "specs" / "toys" / "capped.fizz")

    printed = play.execute(["check", spec], hidden)

    assert "hidden" not in printed
    assert "HOLDS" in printed


@pytest.mark.parametrize("code", [70, -11, 1 << 7])
def test_a_command_of_a_diary_that_crashes_is_no_answer(
    code: int, hidden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = subprocess.CompletedProcess([], code, "half", "SW900 internal error")
    monkeypatch.setattr(subprocess, "run", lambda *words, **options: done)

    with pytest.raises(
        RunError, match=f"ended with exit code {code}: statewalk check a.py"
    ) as told:
        play.execute(["check", "a.py"], hidden)
    assert "SW381" == told.value.code


@pytest.mark.thorough
def test_a_folder_of_histories(hidden: Path) -> None:
    (hidden / "runs").mkdir()
    for name in "ab":
        (hidden / "runs" / f"{name}.jsonl").write_text('{"session": 1, "ops": [["w", "x", 1]]}\n')
    script = hidden / "bin" / "run.py"
    script.parent.mkdir()
    script.write_text(
        "import sys\nfrom statewalk.checker.cli import main\n"
        "if __name__ == '__main__':\n    sys.exit(main(sys.argv[1:]))\n"
    )
    command = [sys.executable, str(script), "history", "check", "runs", "--jobs", "2"]

    done = subprocess.run(
        [*command, "--json", "-"], capture_output=True, text=True, timeout=120, check=False
    )

    assert "" == done.stderr
    assert ["holds", "holds"] == [row["outcome"] for row in json.loads(done.stdout)["files"]]


def test_the_environment_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    for before in (None, "", "1"):
        monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
        if before is not None:
            monkeypatch.setenv("PYTHONSAFEPATH", before)
        with processes(1):
            assert "1" == os.environ["PYTHONSAFEPATH"]
        assert before == os.environ.get("PYTHONSAFEPATH")


def test_kernels_that_are_compiled_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    began = list[list[str]]()

    class Begun:
        def __init__(self, words: list[str], **options: object) -> None:
            began.append(words)

        def poll(self) -> int:
            return 0

    monkeypatch.setattr(ahead, "Popen", Begun)
    monkeypatch.setattr(ahead, "_A_WHILE", -1.0)
    with ahead.Background(lambda: None) as background:
        background.is_done()

    assert ["-P"] == [words[1] for words in began]
