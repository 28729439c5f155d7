"""Paths that are no regular files: nobody waits for a pipe without a writer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from tests.places import ROOT

Put = Callable[[Path, Path], None]
DIE_HARD = str(ROOT / "models/toys/die_hard.py")


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    """End waiting processes, before the limit of a test does."""
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


def _link(file: Path, victim: Path) -> None:
    file.symlink_to(victim)


def _link_to_pipe(file: Path, victim: Path) -> None:
    os.mkfifo(file.parent.parent / f"{file.name}.pipe")
    file.symlink_to(file.parent.parent / f"{file.name}.pipe")


def _link_to_nothing(file: Path, victim: Path) -> None:
    file.symlink_to(victim.with_name("nothing"))


def _second_name(file: Path, victim: Path) -> None:
    os.link(victim, file)


def _pipe(file: Path, victim: Path) -> None:
    os.mkfifo(file)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("put", [_link, _link_to_pipe, _link_to_nothing, _second_name, _pipe])
def test_a_run_writes_to_files_of_its_own_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], put: Put, engine: str
) -> None:
    run, victim = tmp_path / "run", tmp_path / "victim"
    check = ["check", DIE_HARD, "--engine", engine, "--out", str(run)]
    main(check)
    names = {str(f.relative_to(run)) for f in run.rglob("*") if f.is_file()}
    names |= {"lock", "checkpoint/lock", "checkpoint/manifest.json.new", "checkpoint/manifest.json"}
    victim.write_text("precious")
    (run / "checkpoint").mkdir(exist_ok=True)
    for name in names:
        (run / name).unlink(missing_ok=True)
        put(run / name, victim)
    capsys.readouterr()

    assert 1 == main(check)
    assert "VIOLATED" in capsys.readouterr().out
    assert "precious" == victim.read_text()
    assert not (tmp_path / "nothing").exists()
    for name in ("request.json", "result.json", "evidence.json"):
        assert (run / name).is_file()
        assert not (run / name).is_symlink()
    assert not (run / "lock").exists()


def test_a_checkpoint_that_is_a_link_is_replaced(tmp_path: Path) -> None:
    run, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    run.mkdir()
    elsewhere.mkdir()
    (elsewhere / "mine.npz").write_text("precious")
    (run / "checkpoint").symlink_to(elsewhere)

    main(["check", DIE_HARD, "--engine", "native", "--max-depth", "3", "--out", str(run)])

    assert ["mine.npz"] == [f.name for f in elsewhere.iterdir()]
    assert not (run / "checkpoint").is_symlink()
    assert (run / "checkpoint/manifest.json").is_file()


def test_a_file_of_one_s_own_that_is_called_lock_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lock").write_text("mine")

    assert 2 == main(["check", DIE_HARD, "--out", str(tmp_path)])
    assert "SW345" in capsys.readouterr().err
    assert "mine" == (tmp_path / "lock").read_text()


def test_a_pipe_that_the_user_names_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        main(["check", DIE_HARD, "--json", str(pipe), "--out", str(tmp_path / "run")])
        told = json.loads(reader.communicate()[0])

    assert "violated" == told["verdict"]
    assert pipe.is_fifo()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("request.json", '{"url": "x"}', 2),
        ("request.json", "", 2),
        ("result.json", '{"type": "Feature", "properties": {"name": "x"}}', 2),
        ("evidence.json", '{"traces": ["my.trace.json"]}', 2),
        ("checkpoint/manifest.json", '{"name": "my extension"}', 1),
        ("checkpoint/best.npz", "weights", 1),
        ("checkpoint/level-1.npz", "weights", 1),
        ("checkpoint/a.b.column", "cells", 1),
        ("goal_not_reached.trace.json", '{"steps": []}', 1),
    ],
)
def test_a_run_removes_no_file_of_another_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, code: int
) -> None:
    file = tmp_path / "run" / name
    file.parent.mkdir(parents=True)
    file.write_text(text)

    check = ["check", DIE_HARD, "--engine", "native", "--out", str(tmp_path / "run")]
    assert code == main([*check, "--checkpoint-every", "0.001"])

    assert text == file.read_text()
    shown = "".join(capsys.readouterr())
    assert (code == 2 or name.endswith("trace.json")) == ("no run wrote it" in shown), shown
