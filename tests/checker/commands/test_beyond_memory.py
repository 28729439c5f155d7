"""``--max-memory``: what does not fit goes to files, which are taken away, and it is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from statewalk.checker.disk import saving
from statewalk.checker.disk.search import Disk, Limits
from tests.places import ROOT

TWO_PHASE = ROOT / "models" / "toys" / "two_phase_commit.py"


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is taken to be full early."""

    def of(search: object, folder: Path, limits: Limits, **more: object) -> Disk:
        return Disk(search, folder, replace(limits, after=100, held=90), **more)  # type: ignore[arg-type]

    monkeypatch.setattr(saving, "Disk", of)


def test_the_report_says_from_where_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    code = main(["check", str(TWO_PHASE), "--max-memory", "4G"])
    shown = capsys.readouterr().out
    folder = tmp_path / ".statewalk" / "runs" / "0001"

    assert 0 == code
    assert "288 distinct states" in shown
    assert "disk        states in files from depth 4 on · at most 0 MB" in shown
    assert (folder / "result.json").exists() and not (folder / "disk").exists()


def test_a_check_in_files_is_resumed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    out = ["--max-memory", "4G", "--max-depth", "8", "--out", "out"]
    assert 3 == main(["check", str(TWO_PHASE), *out])
    assert list((tmp_path / "out" / "checkpoint").glob("*.column"))
    request = tmp_path / "out" / "request.json"
    request.write_text(request.read_text().replace('"max_depth": 8', '"max_depth": 80'))
    capsys.readouterr()

    assert 0 == main(["resume", "out"])
    assert "288 distinct states" in capsys.readouterr().out
    assert not list((tmp_path / "out" / "checkpoint").glob("*.column"))


def test_constraints_of_steps_stay_in_memory(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.py").write_text(
        "from statewalk import Role, action, constraint, old, on_step\n"
        "class C(Role):\n    n: int = 0\n"
        "    @action\n    def more(self) -> None:\n        self.n += 1\n"
        "c = C()\n"
        "@constraint\n@on_step\ndef small() -> bool:\n    return old(c.n) < 9\n"
    )
    code = main(["check", "spec.py", "--max-memory", "1M"])
    shown = " ".join(capsys.readouterr().out.split())

    assert 3 == code
    assert "SW346 The search did not go on from disk: what constraints of steps refuse" in shown
