"""`statewalk explain` has something to say of every code."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from statewalk.checker.commands.explain import rows

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("code", rows())
def test_every_code_is_explained(capsys: pytest.CaptureFixture[str], code: str) -> None:
    assert 0 == main(["explain", code])
    out = capsys.readouterr().out
    page = ROOT / "docs/errors" / f"{code}.md"

    assert out.startswith(f"# {code} · {rows()[code]}")
    assert not page.exists() or page.read_text(encoding="utf-8") == out


@pytest.mark.parametrize("written", ["sw208", "208", " SW208 "])
def test_a_code_may_be_written_carelessly(capsys: pytest.CaptureFixture[str], written: str) -> None:
    assert 0 == main(["explain", written])
    assert "# SW208" in capsys.readouterr().out


def test_a_code_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["explain", "SW2088"])
    assert "SW327 There is no error SW2088. Did you mean SW208?" in capsys.readouterr().err


def test_all_codes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["explain"])
    assert list(rows()) == [line.split()[0] for line in capsys.readouterr().out.splitlines()]


@pytest.mark.slow
def test_a_wheel_has_every_page(tmp_path: Path) -> None:
    if find_spec("hatchling") is None:
        pytest.skip("needs hatchling, to build without the network")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    code = (
        "import sys; from statewalk.checker.cli import main; sys.exit(main(['explain', 'SW208']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path, env={"PYTHONPATH": str(installed)}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip

    assert (ROOT / "docs/errors/SW208.md").read_text(encoding="utf-8") == done.stdout
    found = {p.name for p in (installed / "checker/pages/errors").iterdir()}
    assert {p.name for p in (ROOT / "docs/errors").iterdir()} == found
