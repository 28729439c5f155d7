"""Starting is quick: what is slow to import is imported when it is needed."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from statewalk.checker.commands import COMMANDS
from statewalk.checker.contract.search import Progress
from statewalk.checker.report.progress import ProgressBlock, clock, outlook, short, span
from tests.cases import slow
from tests.places import ROOT

HEAVY = (
    "numba", "numpy", "pydantic", "rich", "lark", "pyspark", "pandas", "scipy", "duckdb", "xml",
    "email",
)  # fmt: skip


def imported(*arguments: str) -> set[str]:
    """The heavy packages that a command imports."""
    code = (
        "import sys\nfrom statewalk.checker.cli import main\n"
        "from statewalk.checker.engines import table\ntable.SECONDS = 1000.0\n"
        f"try:\n    main({list(arguments)!r})\nexcept SystemExit:\n    pass\n"
        f"print(*[m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stderr.split())


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["--help"], set[str]()),
        (["check", "--help"], set[str]()),
        (["show", "nothing.json"], {"pydantic", "email"}),
    ],
)
def test_help_imports_nothing_heavy(arguments: list[str], needed: set[str]) -> None:
    found = imported(*arguments) & set(HEAVY)

    assert found <= needed


@pytest.mark.parametrize(
    "more",
    [slow(()), slow(("--symmetry", "on")), ("--set", "BROKERS=1", "--set", "MUTANT=no_epoch_bump")],
)
def test_a_small_check_loads_no_compiler_and_arrays_for_liveness_alone(
    more: tuple[str, ...], tmp_path: Path
) -> None:
    """With symmetry and traces that are written; however slow the machine is."""
    check = ["check", "models/kafka/init_pid.py", "--out", str(tmp_path / "run"), *more]

    assert set() == imported(*check, "--no-liveness") & set(HEAVY)
    assert {"numpy"} >= imported(*check) & set(HEAVY)
    assert (tmp_path / "run" / "result.json").exists()


def test_help_lists_every_command_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["--help"])
    listed = capsys.readouterr().out

    assert [] == [name for name in ("check", "replay", "show", "history") if name not in listed]
    assert "check" in COMMANDS


def test_an_unknown_command_lists_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["chekc"])
    assert "there is no command chekc. Did you mean check?" in capsys.readouterr().err
    assert 2 == main(["nonsense"])
    assert "There are: new, convert, explain, check, " in capsys.readouterr().err


def progress(*levels: int) -> Progress:
    return Progress(
        len(levels), 2000, 1000, levels[-1], 2.0, 3 << 30, {0: 3, 1: 1}, levels, ("net", 1200)
    )


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_the_progress_block_is_refreshed_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    file = Terminal()
    block = ProgressBlock(file, "spec  N=3", {0: "send", 1: "receive"})
    block.started -= 65
    for levels in ((1, 5), (1, 5, 9)):
        block.shown_at -= 1
        block(progress(*levels))
    block.close()
    first, second, _ = file.getvalue().split("\x1b[J")

    assert first.splitlines()[0] == "00:01:05  checking spec  N=3"
    assert " depth 2 · 2.0 k generated (1.0 k distinct) · queue 5 · 1.0 k/s" in first
    assert " hot: send 75 % of new states · receive 25 % · widest variable: net (1.2 k " in first
    assert all(len(line) < 100 for line in first.splitlines())
    assert "growing" in second
    assert second.endswith("\x1b[3A")


def test_the_progress_block_fits_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    block = ProgressBlock(Terminal(), "spec  " + "N=3 " * 40, {0: "send", 1: "receive"})
    block(progress(1, 5, 9))
    lines = block.lines(65)

    assert all(len(line) < 80 for line in lines[1:])
    assert any("widest variable: net (1.2 k distinct values)" in line for line in lines)


@pytest.mark.thorough
def test_it_is_said_that_the_engine_is_compiled() -> None:
    script = (
        "import sys\nfrom statewalk.checker.native.running import telling\n"
        "from numba import njit\n"
        "from statewalk.checker.report.progress import ProgressBlock\n"
        "with telling(ProgressBlock(sys.stderr, 'spec').compiling):\n"
        "    njit(lambda x: x + 1)(3)\n    njit(lambda x: x + 2)(3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert "compiling the engine, once: later checks start at once\n" == done.stderr


def test_elsewhere_it_is_a_line_now_and_then() -> None:
    file = StringIO()
    block = ProgressBlock(file, "spec")
    block.started -= 5
    block(progress(1, 5))
    block.shown_at -= 10
    block(progress(1, 5))
    block.close()

    assert 1 == len(file.getvalue().splitlines())
    assert file.getvalue().startswith("00:00:05 depth 2 · 2.0 k generated")


def test_times_and_sizes_are_short() -> None:
    assert ("01:01:01", "12.9 M") == (clock(3661), short(12_900_000))
    assert ["1 s", "99 s", "2 min", "2 h"] == [*map(span, (0, 99, 100, 7000))]


def test_an_end_is_foretold_only_behind_the_largest_level() -> None:
    bell = (1, 4, 9, 16, 20, 16, 9, 4)

    assert "" == outlook(bell[:6], 10.0, progress(*bell[:6]))
    assert "past the largest level: 1 s more (a guess)" == outlook(bell, 10.0, progress(*bell))
