"""Every entry of docs/diary says what comes out when its cells run."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.cli import main
from statewalk.checker.diary.entry import Entry, entries
from statewalk.checker.diary.play import play
from tests.cases import slow
from tests.places import ROOT

QUICK = {"00", "05"}  # a few seconds in all; the others are run by `make test-slow`


def cases() -> list[Any]:
    found = entries(ROOT / "docs/diary")
    return [one if one.number in QUICK else slow(one) for one in found]


def here(words: list[str], folder: Path) -> str:
    """As `execute` does it, in this process."""
    out, err = io.StringIO(), io.StringIO()
    said, told = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
    with contextlib.chdir(folder), said, told:
        main(words)
    return out.getvalue() or err.getvalue()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("entry", cases(), ids=lambda entry: entry.path.stem)
def test_an_entry_says_what_comes_out(entry: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")

    difference = play(entry, here).difference

    assert "" == difference, f"\n{difference}"
