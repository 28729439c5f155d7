"""Whatever goes wrong in the program, the exit code is none that means a verdict."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

from statewalk.checker.cli import main
from statewalk.dsl.state.refs import NeedsState
from statewalk.dsl.view import Disabled
from tests.places import ROOT

SPEC = str(ROOT / "models/toys/die_hard.py")

# every stage of a check, from the first line to the last
PLACES = [
    "statewalk.checker.cli.prepare_streams",
    "statewalk.checker.cli.make_parser",
    "statewalk.checker.cli._guarded",
    "statewalk.checker.commands.check.options_of",
    "statewalk.checker.commands.check.read_settings",
    "statewalk.checker.commands.checking.load_within",
    "statewalk.checker.commands.checking.new_folder",
    "statewalk.checker.commands.checking.search",
    "statewalk.checker.commands.checking.report",
    "statewalk.checker.machine.streams.width",
    "statewalk.checker.commands.checking.write_json",
    "statewalk.checker.api.choose",
    "statewalk.checker.liveness.in_a_check.Liveness.after",
    "statewalk.checker.verdict.judge.properties",
    "statewalk.checker.verdict.conclude.conclude",
    "statewalk.checker.report.page.Page.show",
    "statewalk.checker.report.ci.to_junit",
    "statewalk.checker.report.runs.RunFolder.write",
    "statewalk.checker.verdict.exits.exit_code",
]


class Broken(Exception):
    """Even its text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError


ERRORS = [
    RuntimeError("no idea"),
    KeyError("x"),
    AssertionError(),
    RecursionError("deep"),
    StopIteration(),
    UnicodeDecodeError("utf-8", b"x", 0, 1, "odd"),
    OSError(5, "Input/output error", "some.file"),
    Broken(),
    NeedsState(),
    Disabled(),
    GeneratorExit(),
    BaseException("odd"),
]


def failing(monkeypatch: pytest.MonkeyPatch, place: str, error: BaseException) -> None:
    def fail(*_: Any, **__: Any) -> NoReturn:
        raise error

    monkeypatch.setattr(place, fail)


def check(folder: Path) -> int:
    words = ["check", SPEC, "--engine", "reference", "--out", str(folder / "run")]
    return main([*words, "--json", str(folder / "r.json"), "--junit", str(folder / "r.xml")])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("place", PLACES)
def test_a_bug_anywhere_exits_with_70(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    failing(monkeypatch, place, NeedsState())

    assert 70 == check(tmp_path)
    err = capsys.readouterr().err
    assert "SW900 internal error: NeedsState" in err
    assert "Please attach" in err
    assert "Traceback" not in err


@pytest.mark.sampled(4)
@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    "place", ["statewalk.checker.cli.make_parser", "statewalk.checker.commands.checking.search"]
)
def test_a_bug_of_any_kind_exits_with_70(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, error: BaseException
) -> None:
    failing(monkeypatch, place, error)

    assert 70 == check(tmp_path)


@pytest.mark.parametrize("code", [0, 1, None, "text"])
def test_an_exit_in_the_middle_is_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: Any
) -> None:
    failing(monkeypatch, "statewalk.checker.commands.checking.search", SystemExit(code))

    assert 2 == check(tmp_path)


def test_where_nothing_can_be_said_the_exit_code_still_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, "statewalk.checker.commands.checking.search", RuntimeError())
    failing(monkeypatch, "tempfile.mkstemp", RuntimeError())

    assert 70 == check(tmp_path)


def test_the_program_exits_so_too() -> None:
    code = (
        "import sys\nimport statewalk.checker.cli as cli\n"
        "from statewalk.dsl.state.refs import NeedsState\n"
        "def fail(*_): raise NeedsState\n"
        "cli._parsed = fail\nsys.exit(cli.main(['check', 'x']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)

    assert 70 == done.returncode
    assert b"SW900" in done.stderr


@pytest.mark.parametrize(
    "place", ["statewalk.checker.cli.make_parser", "statewalk.checker.commands.checking.search"]
)
def test_too_little_memory_is_no_bug_of_ours_and_no_result(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    failing(monkeypatch, place, MemoryError())

    assert 3 == check(tmp_path)
    assert "there is not enough memory" in capfd.readouterr().err
