"""Reports line by line, without colour. Times are replaced by ``#``.

After a wanted change: ``STATEWALK_RENEW=1 pytest tests/checker/report``, then read the difference.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from statewalk.checker.report.progress import COMPILING
from tests.cases import some

HERE = Path(__file__).resolve().parent
WIDTHS = (80, 160)
CHECK = ["check", "lease.py", "--engine", "reference"]
TRACE = ".statewalk/runs/0001/one_writer.trace.json"
QUEUE = ["check", "queue.py", "--engine", "reference"]
BROKEN = [*CHECK, "--set", "MUTANT=two_owners"]

# name → commands; the output of the last one is the snapshot
CASES: dict[str, tuple[list[str], ...]] = {
    "holds": (CHECK,),
    "violated": (BROKEN,),
    "bounded": ([*CHECK, "--max-depth", "3"],),
    "deadlock": ([*CHECK, "--set", "MUTANT=stuck"],),
    "assertion": ([*CHECK, "--set", "MUTANT=surprise", "--property", "Assertion"],),
    "error": ([*CHECK, "--set", "MUTANT=crash"],),
    "unreached": ([*CHECK, "--set", "ROUNDS=0"],),
    "view": ([*CHECK, "--view", "on"],),
    "expected": ([*CHECK, "--config", "broken"],),
    "unexpected": ([*CHECK, "--config", "small", "--set", "ROUNDS=1"],),
    "sweep": ([*CHECK, "--set", "ROUNDS=1..3", "--set", "MUTANT=two_owners"],),
    "show_full": (BROKEN, ["show", TRACE, "--full"]),
    "strict": ([*CHECK, "--set", "ROUNDS=1", "--strict"],),
    "props": ([*BROKEN, "--props"],),
    "show_props": (BROKEN, ["show", TRACE, "--props"]),
    "simulate": (["simulate", "lease.py"],),
    "simulate_violated": (["simulate", "lease.py", "--set", "MUTANT=two_owners"],),
    "simulate_error": (["simulate", "lease.py", "--set", "MUTANT=crash"],),
    "vacuous": ([*QUEUE, *(f"--property={n}" for n in ("is_empty", "found_again"))],),
    "lasso": ([*QUEUE, "--set", "MUTANT=lazy", "--property", "is_empty"],),
    "cut": ([*QUEUE, "--set", "BOUND=true"],),
    "unchecked": ([*QUEUE, "--max-depth", "2"],),
    "symmetry": ([*QUEUE, "--symmetry", "on", "--property", "both_busy"],),
    "replay": (BROKEN, ["replay", TRACE]),
    "diverged": (BROKEN, ["replay", TRACE, "--spec", "repaired.py"]),
}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(HERE / "specs/lease.py", tmp_path)
    shutil.copy(HERE / "specs/queue.py", tmp_path)
    text = (tmp_path / "lease.py").read_text()
    repaired = text.replace('MUTANT in ("two_owners", "surprise")', "False")
    (tmp_path / "repaired.py").write_text(repaired)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "width"),
    [
        *((name, WIDTHS[0]) for name in CASES),
        *some(((name, width) for width in WIDTHS[1:] for name in CASES), every=12),
    ],
)
def test_a_report_looks_as_it_should(
    name: str, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for command in CASES[name]:
        capsys.readouterr()
        main(command)
    printed = capsys.readouterr()
    text = re.sub(r" *\d+\.\d\d s\b", " #", printed.out)
    file = HERE / "snapshots" / f"{name}-{width}.txt"
    if os.environ.get("STATEWALK_RENEW"):
        file.write_text(text, encoding="utf-8")

    assert file.read_text(encoding="utf-8") == text
    assert "" == printed.err.replace(COMPILING, "")
    assert "\x1b" not in text


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CASES)
def test_lines_fit_the_page(name: str) -> None:
    file = HERE / "snapshots" / f"{name}-80.txt"
    lines = file.read_text(encoding="utf-8").splitlines()

    # commands to copy stay whole, whatever their length
    assert [] == [x for x in lines if len(x) > 80 and "statewalk " not in x]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mutant", ["two_owners", "stuck", "surprise", "crash"])
def test_a_counterexample_is_no_longer_than_need_be(mutant: str) -> None:
    """The lengths were counted by hand on the spec."""
    from statewalk import check

    lengths = {"two_owners": 4, "stuck": 3, "surprise": 4, "crash": 5}
    result = check("lease.py", {"MUTANT": mutant}, engine="reference")
    shortest = min(p.length for p in result.properties if p.verdict == "violated" and p.length)

    assert lengths[mutant] == shortest
