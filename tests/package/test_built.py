"""Built packages hold one name, complete, from the checkout and from the source archive."""

from __future__ import annotations

import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.package.building import build
from tests.places import ROOT

pytestmark = pytest.mark.slow


def content(wheel: Path) -> dict[str, bytes]:
    with ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


def test_a_wheel_holds_one_name_and_all_of_it(wheel: Path) -> None:
    names = set(content(wheel))
    sources = {
        f"statewalk/{file.relative_to(ROOT).as_posix()}"
        for folder in ("dsl", "checker", "models")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in (".py", ".lark", ".js", ".css")
    }
    pages = {
        f"statewalk/checker/pages/{file.relative_to(ROOT / 'docs').as_posix()}"
        for file in (ROOT / "docs").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    others = {
        "__init__.py", "__main__.py", "py.typed", "checker/commands/everyday/AGENTS.md",
    }  # fmt: skip

    assert {"statewalk", "statewalk-0.1.0.dist-info"} == {name.split("/")[0] for name in names}
    assert sources | pages | {f"statewalk/{name}" for name in others} == {
        name for name in names if name.startswith("statewalk/")
    }


def test_a_wheel_built_from_the_sdist_is_the_one_built_from_the_checkout(
    wheel: Path, tmp_path: Path
) -> None:
    with tarfile.open(build("sdist", ROOT, tmp_path / "sdist")) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.glob("statewalk-*")

    again = build("wheel", unpacked, tmp_path / "wheel")

    assert content(wheel) == content(again)
