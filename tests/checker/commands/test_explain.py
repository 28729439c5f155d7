"""`statewalk explain` has something to say of every code."""

from __future__ import annotations

import pytest

from statewalk.checker.cli import main
from statewalk.checker.commands.explain import rows
from tests.places import ROOT


@pytest.mark.sampled(6)
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
