"""A resumed check looks for the premises that were looked for before it was cut short."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.api import check
from statewalk.checker.contract.saved import MANIFEST
from statewalk.checker.verdict import guards
from statewalk.dsl.errors import RunError

SPEC = """
from statewalk import Role, action, always, deadlock, require

deadlock(False)


class Grid(Role):
    x: int = 0
    y: int = 0

    @action
    def right(self) -> None:
        require(self.x < 6)
        self.x += 1

    @action
    def up(self) -> None:
        require(self.y < 6)
        self.y += 1


grid = Grid()


@always
def met_soon() -> bool:
    return grid.x != 2 or grid.y >= 0


@always
def never_met() -> bool:
    return grid.x < 9 or grid.y == 0
"""
FEW, MANY = 0, guards.RUNS


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "grid.py"
    path.write_text(SPEC)
    return path


def checked(spec: Path, runs: int, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Any:
    """A check on a machine that comes to so many runs of actions before its search."""
    with monkeypatch.context() as patched:
        patched.setattr(guards, "RUNS", runs)
        return check(
            spec, engine=options.pop("engine", "native"), checkpoint=str(spec.parent / "kept"),
            **options,
        )  # fmt: skip


@pytest.mark.parametrize(("before", "after"), [(FEW, MANY), (MANY, FEW)])
def test_a_search_goes_on_with_the_premises_that_it_began_with(
    before: int, after: int, spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked(spec, before, monkeypatch, max_depth=5)
    resumed = checked(spec, after, monkeypatch, resume=True)

    assert "holds" == resumed.verdict
    assert ["never_met"] == [p.name for p in resumed.properties if p.vacuous]
    assert [] == [p.name for p in resumed.properties if "premise" in p.name]


@pytest.mark.slow
@pytest.mark.spark
def test_a_search_on_spark_goes_on_with_the_premises_that_it_began_with(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {"engine": "spark", "spark": {"native_until": 1}}
    checked(spec, FEW, monkeypatch, max_depth=5, **asked)
    resumed = checked(spec, MANY, monkeypatch, resume=True, **asked)

    assert "holds" == resumed.verdict
    assert ["never_met"] == [p.name for p in resumed.properties if p.vacuous]


def test_a_search_in_files_goes_on_with_the_premises_that_it_began_with(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked(spec, FEW, monkeypatch, max_depth=5, max_memory=1 << 40)
    resumed = checked(spec, MANY, monkeypatch, max_memory=1 << 40, resume=True)

    assert "holds" == resumed.verdict


@pytest.mark.parametrize("premises", [{"premise of nothing": ""}, ["premise of met_soon"], 7])
def test_a_manifest_that_names_other_premises_is_damaged(
    premises: object, spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked(spec, FEW, monkeypatch, max_depth=5)
    path = spec.parent / "kept" / MANIFEST
    data = json.loads(path.read_text().partition(" ")[2])
    data["key"]["premises"] = premises
    text = json.dumps(data)
    path.write_text(f"{zlib.crc32(text.encode()):08x} {text}\n")

    with pytest.raises(RunError) as raised:
        checked(spec, FEW, monkeypatch, resume=True)
    assert "SW343" == raised.value.code
