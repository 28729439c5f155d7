"""What lies where a file is expected and is none: nobody waits for a pipe that nobody writes to."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from tests.places import ROOT

DIE_HARD = str(ROOT / "models/toys/die_hard.py")


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    """What waits is ended; without this the tests would be, much later."""
    signal.alarm(60)
    yield
    signal.alarm(0)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["check", "{}.py"], "SW302"),
        (["check", "{}.fizz"], "SW302"),
        (["convert", "{}.fizz"], "SW302"),
        (["show", "{}"], "SW404"),
        (["export", "{}", "--format", "itf"], "SW404"),
        (["replay", "{}"], "SW404"),
        (["replay", "--steps", "{}", "--spec", DIE_HARD], "SW404"),
        (["history", "check", "{}"], "SW302"),
        (["history", "check", "{}", "--format", "edn"], "SW302"),
        (["history", "check", "{}", "--format", "dbcop"], "SW302"),
        (["history", "check", "{}", "--format", "polysi"], "SW302"),
        (["history", "check", "{}", "--format", "jsonl"], "SW302"),
    ],
)
def test_a_pipe_is_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: str
) -> None:
    given = [word.replace("{}", str(tmp_path / "pipe")) for word in arguments]
    os.mkfifo(next(word for word in given if "pipe" in word))

    assert main(given) == 2
    err = capsys.readouterr().err
    assert code in err
    assert "it is not a regular file" in err


@pytest.mark.parametrize("name", ["request.json", "checkpoint/manifest.json", "checkpoint/*.npz"])
def test_a_pipe_in_the_folder_of_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    run = tmp_path / "run"
    main(["check", DIE_HARD, "--engine", "native", "--max-depth", "3", "--out", str(run)])
    for file in run.glob(name):
        file.unlink()
        os.mkfifo(file)
    capsys.readouterr()

    assert main(["resume", str(run)]) == 2
    assert "not a regular file" in capsys.readouterr().err
