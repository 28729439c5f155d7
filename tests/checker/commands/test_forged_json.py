"""Saved JSON in which a part was replaced by what no program writes there: a clear error or the
right result, never an internal error.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.cli import main
from statewalk.checker.commands.everyday.rows import How
from statewalk.checker.commands.everyday.testing import Green
from statewalk.checker.commands.explore import _trace_in
from statewalk.checker.contract.saved import BEFORE, MANIFEST
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.disk import saving as disk
from statewalk.checker.disk.search import Limits
from statewalk.checker.native.checkpoints import SavedFinding, Totals
from statewalk.checker.native.manifests import write_manifest
from statewalk.checker.spark.driver import commits
from statewalk.checker.spark.tasks.files import Part, Stored
from statewalk.checker.verdict.exits import INTERNAL
from statewalk.dsl.errors import StatewalkError
from tests.cases import slow
from tests.checker.native.hand import two_phase_commit
from tests.places import ROOT

DIE_HARD = str(ROOT / "models/toys/die_hard.py")
NOTHING = object()
WRONG = [
    None, True, -1, 7, 10**30, 2.5, float("inf"), "5", "\ud800", "", [], {}, [[]], {"a": 1},
    NOTHING,
]  # fmt: skip
ALIKE = 3  # elements of a list are alike: some are forged
FEW, ALL = 97, 1

Place = tuple[str | int, ...]


def forged(data: Any, every: int) -> Iterator[tuple[Place, Any]]:
    """Yield places of JSON and the whole with something else there; one of each so many."""
    every_one = ((place, value) for place in _places(data) for value in WRONG)
    for place, value in islice(every_one, 0, None, every):
        new = deepcopy(data)
        part = new
        for key in place[:-1]:
            part = part[key]
        if value is NOTHING:
            del part[place[-1]]
        else:
            part[place[-1]] = value
        yield place, new


def _places(data: Any, at: Place = ()) -> Iterator[Place]:
    if at:
        yield at
    if isinstance(data, dict | list):
        keys = data if isinstance(data, dict) else range(min(len(data), ALIKE))
        for key in keys:
            yield from _places(data[key], (*at, key))


def test_forgeries_are_told_from_what_they_forge() -> None:
    data = {"a": [1, {"b": 2}]}

    found = [new for _, new in forged(data, 1)]
    assert 4 * len(WRONG) == len(found)
    assert {"a": [1, {"b": 2.5}]} in found
    assert {} in found
    assert {"a": [1, {"b": 2}]} == data


@pytest.mark.thorough
@pytest.mark.parametrize("every", [FEW, slow(ALL)])
def test_a_manifest(every: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    bounded = ["--keep-going", "--max-depth", "8", "--checkpoint-every", "0"]
    main(["check", DIE_HARD, "--engine", "native", "--out", str(run), *bounded])
    file = run / "checkpoint" / MANIFEST
    whole = {f.name: f.read_bytes() for f in file.parent.iterdir() if f.name != BEFORE}
    data = json.loads(whole[MANIFEST].decode().partition(" ")[2])
    assert data["totals"]["found"]  # of which steps can be forged, too

    for place, new in forged(data, every):
        for name, content in whole.items():
            (file.parent / name).write_bytes(content)
        (file.parent / BEFORE).unlink(missing_ok=True)
        text = json.dumps(new)
        file.write_text(f"{zlib.crc32(text.encode()):08x} {text}\n")
        assert INTERNAL != main(["resume", str(run)]), (place, capsys.readouterr().err)


@pytest.mark.parametrize("every", [FEW, slow(ALL)])
def test_a_manifest_of_a_search_in_files(every: int, tmp_path: Path) -> None:
    model, few = two_phase_commit(2, broken=True), Limits(1 << 40, 20, 15, 20, 40)
    options = SearchOptions(keep_going=True, checkpoint=str(tmp_path), max_depth=6)
    disk.explore(model, options, few)
    whole = {f.name: f.read_bytes() for f in tmp_path.iterdir()}
    data = json.loads(whole[MANIFEST].decode().partition(" ")[2])
    assert data["disk"]["runs"]

    for place, new in forged(data, every):
        for name, content in whole.items():
            (tmp_path / name).write_bytes(content)
        write_manifest(tmp_path, new, keep=False)
        assert _ends_well(
            lambda: disk.explore(
                model, SearchOptions(keep_going=True, checkpoint=str(tmp_path), resume=True), few
            )
        ), place


@pytest.mark.parametrize("every", [FEW, slow(ALL)])
def test_a_manifest_of_a_search_on_spark(every: int, tmp_path: Path) -> None:
    model = two_phase_commit(2, broken=True)
    fired = (1,) * len(model.actions)
    found = SavedFinding("agreement", "always", 0, ((0, (0,)), (1, ())), (2, (1,)), "text")
    part = Part(0, 4, 1, Stored("level-1", 10, 5), Stored("rows-1", 10, 5))
    about = commits.Committed(
        "run", 1, ("values-0000.npz",), {"values-0000.npz": (10, "ab")},
        Totals(1, fired, fired, {"depth": 1}, 1.5, (found,)), (),
        commits.Parts(4, Stored("early-1", 10, 5), ((part,),), ((part,),)),
    )  # fmt: skip
    key = {"files": {"a": "1"}, "constants": {}, "rest": {}, "premises": {}}
    data = json.loads(json.dumps({"format": commits.FORMAT, "key": key, **asdict(about)}))

    write_manifest(tmp_path, data, keep=False)
    assert about == commits.read(tmp_path, key, model)
    for place, new in forged(data, every):
        write_manifest(tmp_path, new, keep=False)
        assert _ends_well(lambda: commits.read(tmp_path, key, model)), place


def _ends_well(do: Callable[[], object]) -> bool:
    try:
        do()
    except StatewalkError as error:
        return "SW34" == error.code[:4]
    return True


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run, with a graph beside it."""
    here = ["--out", str(tmp_path / "run"), "--graph", str(tmp_path / "g")]
    main(["check", DIE_HARD, "--engine", "native", "--keep-going", *here])
    return tmp_path / "run"


TRACE = "run/goal_not_reached.trace.json"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("every", [FEW, slow(ALL)])
@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("run/request.json", ["resume", "run"]),
        ("g/graph.json", ["query", "g", "SELECT count(*) FROM states"]),
        (TRACE, ["show", TRACE, "--full"]),
        (TRACE, ["replay", TRACE]),
        (TRACE, ["export", TRACE, "--format", "mermaid"]),
        (TRACE, ["history", "from-trace", TRACE]),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_a_file_of_a_run(
    run: Path, every: int, file: str, command: list[str],
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(run.parent)
    path = run.parent / file
    data = json.loads(path.read_text(encoding="utf-8"))

    for place, new in forged(data, every):
        path.write_text(json.dumps(new), encoding="utf-8")
        assert INTERNAL != main(command), (place, capsys.readouterr().err)


@pytest.mark.thorough
def test_a_result_beside_traces(run: Path) -> None:
    file = run / "result.json"
    data = json.loads(file.read_text(encoding="utf-8"))

    for _, new in forged(data, ALL):
        file.write_text(json.dumps(new), encoding="utf-8")
        assert (run.parent / TRACE) == _trace_in(run)


def test_what_passed_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    how = How(1)
    green = Green.read(how)
    assert green.file is not None
    green.specs["a.py"] = ({"a.py": "digest"}, {"small": "holds"})
    green.write()
    data = json.loads(green.file.read_text(encoding="utf-8"))
    assert {"small": "holds"} == Green.read(how).passed("a.py", {"a.py": "digest"})

    for place, new in forged(data, ALL):
        green.file.write_text(json.dumps(new), encoding="utf-8")
        passed = Green.read(how).passed("a.py", {"a.py": "digest"})
        assert passed.keys() <= {"small"} or place[-1] in ("passed", "small", "specs"), place
