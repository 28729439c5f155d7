"""Names from files of others reach terminals and other tools as text, not as orders."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from statewalk.checker.cli import main
from statewalk.checker.traces.exports import FORMATS
from statewalk.dsl.errors import RunError, printable

SPEC = """
from statewalk import *


class Box(State):
    x: int = 0

    @action
    def up(self) -> None:
        self.x += any_of([1, 2])


@always
def small() -> bool:
    return box.x < 3


box = Box()
"""
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b2J\u202eevil\u2066\r::error::forged\x7f"
COMMANDS = ("\u3000::error::x", "\xa0 ::stop-commands::x", "a ##[error]x", "##vso[task.complete]",
            "##teamcity[x]")  # fmt: skip


def obeyed(text: str) -> list[str]:
    """Characters that a terminal obeys, colours and line ends aside."""
    return [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c != "\n"]


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trace in which every name is another."""
    monkeypatch.chdir(tmp_path)
    Path("spec.py").write_text(SPEC)
    main(["check", "spec.py", "--out", "run"])
    file = Path("run/small.trace.json")
    data = json.loads(file.read_text())

    def spoiled(part: Any) -> Any:
        if isinstance(part, dict):
            return {k: spoiled(v) for k, v in part.items()}
        if isinstance(part, list):
            return [spoiled(v) for v in part]
        return {"up": "up" + EVIL + "\nforged line", "x": "x" + EVIL, "small": "small" + EVIL}.get(
            part if isinstance(part, str) else "", part
        )

    file.write_text(json.dumps({**spoiled(data), "spec": "spec.py"}))
    return file


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "command",
    [
        ["show"],
        ["show", "--full"],
        ["show", "--props"],
        ["replay"],
        *(["export", "--format", f] for f in FORMATS),
    ],
)
def test_what_is_printed_of_a_trace(
    command: list[str], trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    main([command[0], str(trace), *command[1:]])
    out, err = capsys.readouterr()

    assert "owned" in out + err
    assert obeyed(out + err) == []
    assert not any(line.startswith("forged line") for line in (out + err).splitlines())


def test_colours_stay(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    from statewalk.checker.report.page import Page

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("CI", raising=False)
    page, file = Page(80), Terminal()
    page.add(("bad" + EVIL, "bad"))
    page.show(file)

    assert "]0;" in file.getvalue()
    assert "\x1b]" not in file.getvalue()
    assert "\x07" not in file.getvalue()


@pytest.mark.parametrize("format", ["junit", "sarif"])
def test_reports_for_other_tools(
    format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("a\x1b[2Jb\u202e")
    folder.mkdir()
    (folder / "spec.py").write_text(SPEC)
    main(["check", str(folder / "spec.py"), "--out", str(folder / "run"), "--github",
          f"--{format}", "out"])  # fmt: skip
    text = Path("out").read_text()
    printed = "".join(capsys.readouterr())

    assert obeyed(text) == obeyed(printed) == []
    if format == "junit":
        ElementTree.fromstring(text)
    else:
        json.loads(text)


def test_errors() -> None:
    assert obeyed(str(RunError("SW404", f"{EVIL} is not there.", help=EVIL))) == []
    assert json.loads(printable(json.dumps(EVIL, ensure_ascii=False))) == EVIL


@pytest.mark.parametrize("said", COMMANDS)
def test_what_runs_programs_for_others_is_told_no_command(said: str) -> None:
    shown = printable(f"first\n{said}\nlast")

    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())
    assert "##" not in shown
    assert json.loads(printable(json.dumps(said, ensure_ascii=False))) == said


@pytest.mark.parametrize("place", ["spec", "file"])
def test_a_file_of_several_lines_is_none(
    place: str, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads(trace.read_text())
    part = data if place == "spec" else data["steps"][0]
    part[place] = "k\nHOLDS  all"
    trace.write_text(json.dumps(data))

    assert 2 == main(["show", str(trace)])
    assert "SW401" in capsys.readouterr().err


def test_nor_can_a_spec_be_called_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k\nHOLDS  all.py"
    path.write_text(SPEC)

    assert 2 == main(["check", str(path)])
    assert not any(line.startswith("HOLDS") for line in capsys.readouterr().err.splitlines())
