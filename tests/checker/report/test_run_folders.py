"""The folder of a run is made below the current one, and nowhere that a link leads."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.cli import main
from statewalk.checker.report.runs import new_folder
from statewalk.dsl.errors import RunError


@pytest.mark.parametrize("link", [".statewalk", ".statewalk/runs"])
def test_a_link_is_not_followed(link: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, other = tmp_path / "here", tmp_path / "other"
    other.mkdir()
    (here / link).parent.mkdir(parents=True)
    (here / link).symlink_to(other, target_is_directory=True)
    monkeypatch.chdir(here)

    with pytest.raises(RunError, match=rf"SW403.*{link} is a link"):
        new_folder()
    assert [] == list(other.iterdir())
    assert new_folder("elsewhere").path.is_dir()


@pytest.mark.parametrize("link", [".statewalk", ".statewalk/{}"])
@pytest.mark.parametrize("command", ["docs", "diary build"])
def test_pages_are_not_written_through_a_link(
    command: str, link: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = command.split()
    place = tmp_path / link.format(words[0])
    (tmp_path / "away").mkdir()
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(tmp_path / "away")
    monkeypatch.chdir(tmp_path)

    assert 2 == main(words)
    assert [] == list((tmp_path / "away").iterdir())
