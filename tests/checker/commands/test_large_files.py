"""Files that are larger than anything that is read: one line, and nothing is read whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from statewalk.checker.history.formats import READERS
from tests.places import ROOT

DIE_HARD = str(ROOT / "models/toys/die_hard.py")
FIZZ = "action Init:\n    n = 0\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["check", "large.py"], "SW302"),
        (["check", "large.fizz"], "SW302"),
        (["convert", "large.fizz"], "SW302"),
        (["show", "large"], "SW401"),
        (["replay", "--steps", "large", "--spec", DIE_HARD], "SW404"),
        (["resume", "large"], "SW342"),
        *(
            (["history", "check", "large", "--format", form], "SW302")
            for form in ("edn", "dbcop", "polysi", "jsonl")
        ),
        (["history", "check", "logs", "--format", "viper"], "SW302"),
        (["history", "check", "logs", "--format", "cobra"], "SW302"),
    ],
)
def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("logs").mkdir()
    in_folder = {"resume": "large/request.json", "history": "logs/J1.log"}
    if arguments[0] == "resume":
        Path("large").mkdir()
    for name in (in_folder.get(arguments[0]), *(a for a in arguments if a.startswith("large"))):
        if name is not None and not Path(name).is_dir():
            Path(name).touch()
            os.truncate(name, 60 << 30)  # takes no room on disk

    assert 2 == main(arguments)
    err = capsys.readouterr().err
    assert code in err
    assert "larger than 1" in err


def test_a_history_that_memory_has_no_room_for_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> None:
        raise MemoryError

    monkeypatch.setitem(READERS, "edn", full)
    (tmp_path / "history.edn").touch()

    assert 2 == main(["history", "check", str(tmp_path / "history.edn"), "--format", "edn"])
    assert "SW701 the history is larger than the free memory" in capsys.readouterr().err


def test_large_options_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.fizz").write_text(FIZZ)
    Path("fizz.yaml").touch()
    os.truncate("fizz.yaml", 60 << 30)

    assert 2 == main(["check", "spec.fizz"])
    err = capsys.readouterr().err
    assert "SW151" in err
    assert "longer than 64,000 characters" in err
