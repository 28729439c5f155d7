"""``diary build`` writes entries: as their lines end, and not over what was saved meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.cli import main
from statewalk.checker.diary import play

OLD = "# A\n\n```console\n$ statewalk check a.py\n```\n\nEnd.\n"
NEW = OLD.replace("a.py\n", "a.py\nHOLDS\n")


@pytest.fixture(autouse=True)
def entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(play, "output", lambda *given: ["HOLDS"])
    (tmp_path / "01-a.md").write_text(OLD)
    return tmp_path / "01-a.md"


def test_line_ends_stay(entry: Path) -> None:
    entry.write_bytes(b"\xef\xbb\xbf" + OLD.encode().replace(b"\n", b"\r\n"))

    assert 0 == main(["diary", "build", ".", "--out", "site"])

    assert b"\xef\xbb\xbf" + NEW.encode().replace(b"\n", b"\r\n") == entry.read_bytes()


def test_what_is_saved_meanwhile_stays(
    entry: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def saved(*given: object) -> list[str]:
        entry.write_text(OLD + "More.\n")
        return ["HOLDS"]

    monkeypatch.setattr(play, "output", saved)

    assert 4 == main(["diary", "build", ".", "--out", "site"])

    assert OLD + "More.\n" == entry.read_text()
    assert "01-a.md: it was saved meanwhile, and is not written" in capsys.readouterr().out
