"""A spec that a file of others names is not run unasked."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path

import pytest

from statewalk.checker.cli import main

SPEC = """
from pathlib import Path

from statewalk import *

Path(__file__).with_name("went").touch()


class Box(State):
    x: int = 0

    @action
    def up(self) -> None:
        require(self.x < 5)
        self.x += 1


@always
def small() -> bool:
    return box.x < 3


box = Box()
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A folder with a spec, and one with its run; the current directory is a third."""
    theirs, run, here = (tmp_path / name for name in ("theirs", "run", "here"))
    theirs.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    (theirs / "spec.py").write_text(SPEC)
    main(["check", str(theirs / "spec.py"), "--out", str(run)])
    (theirs / "went").unlink()
    return theirs, run


def commands(run: Path) -> list[list[str]]:
    return [["replay", str(run / "small.trace.json")], ["resume", str(run)]]


@pytest.mark.parametrize("which", [0, 1])
def test_a_spec_elsewhere(
    which: int, places: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    theirs, run = places
    command = commands(run)[which]
    capsys.readouterr()

    assert 2 == main(command)
    assert "SW406" in capsys.readouterr().err
    assert not (theirs / "went").exists()
    assert which == main([*command, "--spec", str(theirs / "spec.py")])
    assert (theirs / "went").exists()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(("said", "runs"), [("y\n", True), ("n\n", False), ("", False)])
def test_a_terminal_is_asked(
    which: int, said: str, runs: bool, places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, run = places
    monkeypatch.setattr(sys, "stdin", Terminal(said))
    monkeypatch.setattr(sys, "stderr", told := Terminal())
    code = main(commands(run)[which])

    assert code == (which if runs else 2)
    assert "Run it? [y/N]" in told.getvalue()
    assert (theirs / "went").exists() == runs


@pytest.mark.parametrize("which", [0, 1])
def test_where_it_lies_with_what_names_it(
    which: int, places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    theirs, run = places
    monkeypatch.chdir(tmp_path)
    assert which == main(commands(run)[which])
    monkeypatch.chdir(theirs)
    own = theirs / ".statewalk/runs/0001"
    assert 1 == main(["check", str(theirs / "spec.py"), "--out", str(own)])
    monkeypatch.chdir(tmp_path / "here")

    assert which == main(commands(own)[which])


def test_after_resume_the_spec_is_named_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.py").write_text(SPEC)
    main(["check", "spec.py", "--out", "run", "--max-depth", "1"])
    main(["resume", "run"])

    assert "spec.py" == json.loads(Path("run/result.json").read_text())["spec"]


def asks_for(run: Path, **options: object) -> None:
    file = run / "request.json"
    about = json.loads(file.read_text())
    about["options"] |= options
    file.write_text(json.dumps(about))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["--graph", "--master", "--spark-folder", "checkpoint"])
def test_resume_writes_below_the_folder_unless_told(
    name: str, places: tuple[Path, Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    theirs, run = places
    place = tmp_path / "victim"
    place.mkdir()
    if name == "--graph":
        asks_for(run, graph=str(place))
    elif name == "checkpoint":
        (run / "checkpoint").rename(tmp_path / "moved")
        (run / "checkpoint").symlink_to(place)
    else:
        url = "spark://example:7077"
        key, value = ("master", url) if name == "--master" else ("folder", str(place))
        asks_for(run, engine="spark", spark={key: value})
    command = ["resume", str(run), "--spec", str(theirs / "spec.py")]

    assert 2 == main(command)
    assert f"SW407 {run} asks for {name}" in capsys.readouterr().err
    assert [] == list(place.iterdir())
    assert not (theirs / "went").exists()
    if name == "--graph":
        assert 1 == main([*command, name, str(place)])
        assert (place / "graph.json").exists()


@pytest.mark.parametrize("said", ["request", "checkpoint"])
def test_a_graph_below_the_folder_needs_no_word_and_a_request_moves_no_checkpoint(
    said: str, places: tuple[Path, Path], tmp_path: Path
) -> None:
    theirs, run = places
    asks_for(run, graph=str(run / "g"))
    if said == "checkpoint":
        asks_for(run, checkpoint=str(tmp_path / "victim"), resume=True)
        shutil.rmtree(run / "checkpoint")

    assert 1 == main(["resume", str(run), "--spec", str(theirs / "spec.py")])
    assert (run / "g/graph.json").exists()
    assert not (tmp_path / "victim").exists()
