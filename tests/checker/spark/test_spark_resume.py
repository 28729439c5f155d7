"""A search with Spark goes on after whatever ended it, and says when it cannot."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.cli import main
from statewalk.checker.contract.saved import MANIFEST
from statewalk.checker.contract.search import Exploration, SearchOptions
from statewalk.checker.machine.locks import held
from statewalk.checker.native import explore as explore_natively
from statewalk.checker.spark import explore
from statewalk.dsl.errors import RunError
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from tests.cases import slow, some
from tests.places import ROOT

MODELS = ROOT / "models"
SPEC = MODELS / "toys/two_phase_commit.py"
SETTINGS: dict[str, Any] = {"buckets": 8, "tasks": 2, "native_until": 100}
KINDS = ["level-00005", "rows-", "early-", "values-", "seen-"]
DAMAGES = ["missing", "shorter", "changed"]


def _model() -> Model:
    return load(SPEC, {"RMS": 4})


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a search that was cut at a depth."""
    folder = tmp_path_factory.mktemp("begun") / "search"
    options = SearchOptions(keep_going=True, checkpoint=str(folder), max_depth=8)
    found = explore(_model(), options, **SETTINGS)

    assert found.stopped == "depth"
    assert (folder / MANIFEST).exists()
    return folder


def _copied(begun: Path, folder: Path) -> SearchOptions:
    """The options with which a copy of the search goes on."""
    shutil.copytree(begun, folder, dirs_exist_ok=True)
    return SearchOptions(keep_going=True, checkpoint=str(folder), resume=True)


def _same(found: Exploration, model: Model | None = None) -> None:
    native = explore_natively(model or _model(), SearchOptions(keep_going=True))

    assert native.counts == found.counts
    assert native.levels == found.levels
    assert native.findings == found.findings
    assert native.witnesses == found.witnesses
    assert native.fired == found.fired
    assert native.fresh == found.fresh


@pytest.mark.spark
@pytest.mark.parametrize("tasks", [1, slow(2), slow(3)])
def test_a_search_goes_on_whatever_the_number_of_tasks(
    begun: Path, tmp_path: Path, tasks: int
) -> None:
    options = _copied(begun, tmp_path)

    _same(explore(_model(), options, **{**SETTINGS, "tasks": tasks, "buckets": 64}))


@pytest.mark.slow
@pytest.mark.spark
def test_a_search_with_suspended_runs_goes_on(tmp_path: Path) -> None:
    spec = MODELS.parent / "specs" / "toys" / "threads_own.py"
    options = SearchOptions(keep_going=True, checkpoint=str(tmp_path))
    explore(load(spec), replace(options, max_depth=6), **{**SETTINGS, "native_until": 20})
    found = explore(load(spec), replace(options, resume=True), **SETTINGS)

    _same(found, load(spec))


@pytest.mark.slow
@pytest.mark.spark
def test_a_search_goes_on_twice(begun: Path, tmp_path: Path) -> None:
    options = _copied(begun, tmp_path)
    explore(_model(), replace(options, max_depth=10), **SETTINGS)

    _same(explore(_model(), options, **SETTINGS))


@pytest.mark.spark
@pytest.mark.parametrize(
    ("which", "damage"), some(product(KINDS, DAMAGES), every=len(KINDS) * len(DAMAGES))
)
def test_a_damaged_file_is_named(begun: Path, tmp_path: Path, which: str, damage: str) -> None:
    options = _copied(begun, tmp_path)
    files = sorted(file for file in tmp_path.iterdir() if file.name.startswith(which))
    file = files[0]
    data = bytearray(file.read_bytes())
    if damage == "missing":
        file.unlink()
    elif damage == "shorter":
        file.write_bytes(data[:-1])
    else:
        at = len(data) // 2 if which == "values-" else _last_byte(data)
        data[at] ^= 1
        file.write_bytes(data)

    with pytest.raises(RunError, match="SW343") as raised:
        explore(_model(), options, **SETTINGS)
    assert which == "values-" or file.name in str(raised.value)


def _last_byte(data: bytearray) -> int:
    """A byte of the last column, which is padded with zeros."""
    return max(at for at in range(len(data)) if data[at])


@pytest.mark.spark
def test_a_changed_spec_is_refused(begun: Path, tmp_path: Path) -> None:
    options = _copied(begun, tmp_path)

    with pytest.raises(RunError, match="SW341"):
        explore(load(SPEC, {"RMS": 5}), options, **SETTINGS)
    with pytest.raises(RunError, match="SW341"):
        explore(_model(), replace(options, properties=("consistent",)), **SETTINGS)


@pytest.mark.spark
def test_a_manifest_that_is_damaged_or_not_there(begun: Path, tmp_path: Path) -> None:
    options = _copied(begun, tmp_path)
    manifest = tmp_path / MANIFEST
    manifest.write_bytes(manifest.read_bytes().replace(b'"depth"', b'"Depth"'))

    with pytest.raises(RunError, match="SW343"):
        explore(_model(), options, **SETTINGS)
    manifest.unlink()
    with pytest.raises(RunError, match="SW340"):
        explore(_model(), options, **SETTINGS)


def test_a_run_directory_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    options = SearchOptions(checkpoint=str(tmp_path / "file" / "run"))

    with pytest.raises(RunError, match="SW344"):
        explore(_model(), options, **SETTINGS)


@pytest.mark.slow
@pytest.mark.spark
def test_a_killed_driver_is_resumed_by_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    settings = ["--master", "local[1]", "--spark-buckets", "8", "--spark-tasks", "2"]
    command = ["check", str(SPEC), "--set", "RMS=5", "--engine", "spark", *settings]
    command += ["--spark-native-until", "100", "--out", str(out)]
    child = subprocess.Popen(
        [sys.executable, "-m", "statewalk", *command],
        cwd=MODELS.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while _depth(out / "checkpoint") < 9:
        assert child.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()

    monkeypatch.chdir(tmp_path)
    assert 0 == main(["check", str(SPEC), "--set", "RMS=5", "--json", "-"])
    native = json.loads(capsys.readouterr().out)
    assert 0 == main(["resume", str(out), "--spec", str(SPEC), "--json", "-"])
    resumed = json.loads(capsys.readouterr().out)
    assert native["counts"] == resumed["counts"]
    assert native["actions"] == resumed["actions"]
    assert [(p["name"], p["verdict"], p["length"]) for p in native["properties"]] == [
        (p["name"], p["verdict"], p["length"]) for p in resumed["properties"]
    ]


def _depth(folder: Path) -> int:
    """The last committed level of a folder; -1 before there is one."""
    try:
        return int(json.loads((folder / MANIFEST).read_text().partition(" ")[2])["depth"])
    except (OSError, ValueError):
        return -1


@pytest.mark.slow
@pytest.mark.spark
def test_values_of_another_search_are_not_believed(begun: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    explore(
        _model(), SearchOptions(keep_going=True, checkpoint=str(other), max_depth=8), **SETTINGS
    )
    options = _copied(begun, tmp_path / "own")
    for file in other.glob("values-*"):
        shutil.copy(file, tmp_path / "own")

    with pytest.raises(RunError, match="npz is a file of another search"):
        explore(_model(), options, **SETTINGS)


@pytest.mark.slow
@pytest.mark.spark
def test_the_first_line_of_a_file_is_checked_too(begun: Path, tmp_path: Path) -> None:
    options = _copied(begun, tmp_path)
    file = next(tmp_path.glob("level-00005*"))
    file.write_bytes(file.read_bytes().replace(b'"link"', b'"lint"', 1))

    with pytest.raises(RunError, match="does not hold what was written to it"):
        explore(_model(), options, **SETTINGS)


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    options = SearchOptions(checkpoint=str(tmp_path))

    with held(tmp_path), pytest.raises(RunError, match="SW345"):
        explore(_model(), options, **SETTINGS)
