"""A checkpoint believes only its own files, has one writer, and never ends a search."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.chaos_native import ALIKE
from statewalk.checker import native
from statewalk.checker.contract.saved import BEFORE, MANIFEST
from statewalk.checker.contract.search import Progress, SearchOptions
from statewalk.checker.machine.locks import LOCK, held
from statewalk.checker.native import checkpoints, manifests
from statewalk.dsl.errors import RunError
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from tests.checker.native.agreement import told
from tests.checker.native.hand import two_phase_commit

MODEL = two_phase_commit(3, broken=True)
OPTIONS = SearchOptions(keep_going=True)


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return told(native.explore(MODEL, OPTIONS))


def begun(folder: Path, model: Model = MODEL, depth: int = 6) -> SearchOptions:
    """The options with which a search that was cut goes on; it was saved before every level."""
    saving = replace(OPTIONS, checkpoint=str(folder))
    for at in (depth - 1, depth):
        resume = at == depth
        native.explore(model, replace(saving, max_depth=at, resume=resume))
    return replace(saving, resume=True)


def rewritten(folder: Path, change: dict[str, Any]) -> None:
    """Forge both manifests, check sum and all."""
    for name in (MANIFEST, BEFORE):
        data = json.loads((folder / name).read_text().partition(" ")[2])
        text = json.dumps({**data, **change})
        (folder / name).write_text(f"{zlib.crc32(text.encode()):08x} {text}\n")


def refused(options: SearchOptions, code: str = "SW343") -> str:
    with pytest.raises(RunError) as raised:
        native.explore(MODEL, options)
    assert code == raised.value.code
    return str(raised.value)


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["level-0003", "frontier", "values-0000", "manifest"])
def test_a_file_of_another_search_is_not_believed(
    kind: str, tmp_path: Path, expected: dict[str, Any]
) -> None:
    options = begun(tmp_path / "one")
    begun(tmp_path / "two")
    for file in (tmp_path / "two").glob(f"{kind}*"):
        shutil.copy(file, tmp_path / "one")

    if kind in ("frontier", "manifest"):  # nothing else is the other's: no commit is whole
        assert "is a file of another search" in refused(options)
    else:
        assert f"{kind}.npz is a file of another search" in refused(options)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("file", "name", "change"),
    [
        ("frontier", "rows", lambda rows: np.full_like(rows, 255)),
        ("frontier", "rows", lambda rows: np.pad(rows, ((0, 0), (0, 3)), constant_values=1)),
        ("frontier", "rows", lambda rows: rows.astype(complex)),
        ("level-0003", "fp", lambda fps: fps.astype(float)),
        ("level-0003", "fp", lambda fps: fps[:-1]),
        ("level-0003", "link", lambda links: links.reshape(1, -1)),
        ("values-0000", "slots", lambda slots: slots + 99),
        ("values-0000", "slots", lambda slots: slots - 99),
        ("values-0000", "value_ends", lambda ends: ends[:-1]),
        ("values-0000", "value_ends", lambda ends: -ends),
        ("values-0000", "path_ends", lambda ends: ends * 0),
        ("values-0000", "value_bytes", lambda data: data * 0 + 255),
    ],
)
def test_arrays_that_no_search_writes_are_damage_though_their_digests_fit(
    file: str, name: str, change: Callable[[Any], Any], tmp_path: Path
) -> None:
    options = begun(tmp_path)
    path = max(tmp_path.glob(f"{file}*.npz"))
    with np.load(path) as loaded:
        arrays = dict(loaded)
    run = arrays.pop("run").tobytes().decode()
    about = manifests.read_manifest(tmp_path / MANIFEST)["files"]
    written = manifests.write_arrays(path, run, {**arrays, name: change(arrays[name])})
    rewritten(tmp_path, {"files": {**about, path.name: written}})
    (tmp_path / BEFORE).unlink()

    assert "is damaged" in refused(options)


def test_a_newest_manifest_that_is_missing_is_told(tmp_path: Path) -> None:
    options = begun(tmp_path)
    (tmp_path / MANIFEST).unlink()

    found = native.explore(MODEL, options)

    assert any(f"{MANIFEST} is missing" in said for said in found.warnings)


def test_a_level_of_another_search_hides_no_violation(tmp_path: Path) -> None:
    spec = tmp_path / "alike.py"
    spec.write_text(ALIKE)
    options = begun(tmp_path / "one", load(spec, {"K": 1}), depth=12)
    begun(tmp_path / "two", load(spec, {"K": 2}), depth=12)
    shutil.copy(tmp_path / "two" / "level-0008.npz", tmp_path / "one")

    with pytest.raises(RunError, match=r"level-0008\.npz is a file of another search"):
        native.explore(load(spec, {"K": 1}), options)


def test_files_of_one_search_in_each_others_places(tmp_path: Path) -> None:
    options = begun(tmp_path)
    one, two = tmp_path / "level-0002.npz", tmp_path / "level-0003.npz"
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)

    assert "level-0002.npz has" in refused(options)


def test_a_damaged_newest_commit_is_told_and_the_one_before_used(
    tmp_path: Path, expected: dict[str, Any]
) -> None:
    options = begun(tmp_path)
    newest = sorted(tmp_path.glob("level-*"))[-1]
    newest.unlink()
    found = native.explore(MODEL, options)

    assert expected == told(found)
    assert 1 == len(found.warnings)
    assert f"{newest} is missing. The search went on from depth 5" in found.warnings[0]


def test_the_commit_that_was_fallen_back_to_is_not_lost_by_the_next(
    tmp_path: Path, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = begun(tmp_path)
    sorted(tmp_path.glob("level-*"))[-1].unlink()
    saved_always(monkeypatch)
    replaces: list[Any] = []
    original = os.replace

    def dying(old: Any, new: Any) -> None:
        replaces.append(new)
        if len(replaces) == 3:  # the damaged manifest's place, the kept one, then the new one
            raise KeyboardInterrupt
        original(old, new)

    monkeypatch.setattr(os, "replace", dying)
    with pytest.raises(KeyboardInterrupt):
        native.explore(MODEL, options)
    monkeypatch.undo()

    assert expected == told(native.explore(MODEL, options))


ODD = ["", "{}", "[]", "hello", "null", "00000000 {}", "\x00\xff"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", ODD)
def test_an_odd_manifest_is_damage(text: str, tmp_path: Path) -> None:
    options = begun(tmp_path)
    for name in (MANIFEST, BEFORE):
        (tmp_path / name).write_text(text, encoding="latin-1")

    assert str(tmp_path / MANIFEST) in refused(options)


FORGED: list[dict[str, Any]] = [
    {"depth": -1},
    {"depth": 99},
    {"depth": "six"},
    {"files": []},
    {"files": {"level-0000.npz": 3}},
    {"values": None},
    {"run": 7},
    {"totals": {}},
    {"totals": []},
    {
        "totals": {
            "initial": 1, "fired": [5], "fresh": [5], "cut": {}, "seconds": 1.0, "found": [],
        }
    },
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("change", FORGED, ids=str)
def test_a_forged_manifest_is_damage(change: dict[str, Any], tmp_path: Path) -> None:
    options = begun(tmp_path)
    rewritten(tmp_path, change)

    refused(options)


@pytest.mark.parametrize("name", ["fired", "fresh", "initial"])
def test_forged_counts_that_do_not_fit_are_damage(name: str, tmp_path: Path) -> None:
    options = begun(tmp_path)
    totals = json.loads((tmp_path / MANIFEST).read_text().partition(" ")[2])["totals"]
    totals[name] = totals[name] + 1 if name == "initial" else [n + 1 for n in totals[name]]
    if name == "fired":
        totals[name] = totals[name][1:]
    rewritten(tmp_path, {"totals": totals})

    refused(options)


@pytest.mark.thorough
def test_any_bit_may_flip(tmp_path: Path, expected: dict[str, Any]) -> None:
    begun(tmp_path / "whole")
    chance = random.Random(1)
    files = sorted(p.name for p in (tmp_path / "whole").iterdir())
    for number in range(25):
        folder = tmp_path / "damaged"
        shutil.copytree(tmp_path / "whole", folder)
        file = folder / chance.choice(files)
        data = bytearray(file.read_bytes())
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        file.write_bytes(data)
        try:
            found = native.explore(MODEL, replace(OPTIONS, checkpoint=str(folder), resume=True))
        except RunError as error:
            outcome: Any = error.code
        else:
            outcome = told(found)
        assert outcome in ("SW343", expected), (number, file)
        shutil.rmtree(folder)


# -- writers ---------------------------------------------------------------------------------------


def test_a_second_writer_is_told_who_holds_the_folder(tmp_path: Path) -> None:
    with held(tmp_path):
        said = refused(replace(OPTIONS, checkpoint=str(tmp_path)), "SW345")

    assert f"{tmp_path} is being written to by process {os.getpid()} on " in said
    assert not (tmp_path / LOCK).exists()


def test_a_folder_that_another_took_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: dict[str, Any]
) -> None:
    saved_always(monkeypatch)
    folder = tmp_path / "run"

    def taken(progress: Progress) -> None:
        if progress.level == 4:
            shutil.rmtree(folder)
            folder.mkdir()
            (folder / LOCK).write_text("another's")

    found = native.explore(MODEL, replace(OPTIONS, checkpoint=str(folder), on_progress=taken))

    assert expected == told(found)
    assert [LOCK] == [p.name for p in folder.iterdir()]
    assert "was taken away" in found.warnings[0]


# -- saving ----------------------------------------------------------------------------------------


def saved_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "_SHARE", 0)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EIO])
def test_a_search_goes_on_unsaved(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: dict[str, Any]
) -> None:
    saved_always(monkeypatch)

    def full(*_: object) -> tuple[int, str]:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(checkpoints, "write_arrays", full)
    warned: list[str] = []
    options = replace(
        OPTIONS, checkpoint=str(tmp_path), on_progress=lambda p: warned.extend(p.warnings)
    )
    found = native.explore(MODEL, options)

    assert expected == told(found)
    assert os.strerror(number) in found.warnings[0]
    assert found.warnings[0] in warned
    assert "Nothing of the search is saved" in found.warnings[0]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("after", range(0, 18, 3))
def test_saving_is_tried_again_once_there_is_room(
    after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: dict[str, Any]
) -> None:
    saved_always(monkeypatch)
    calls = iter(range(10_000))
    original = os.fsync

    def sometimes(handle: int) -> None:
        if after <= next(calls) < after + 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        original(handle)

    monkeypatch.setattr(os, "fsync", sometimes)
    saving = replace(OPTIONS, checkpoint=str(tmp_path))
    stopped = native.explore(MODEL, replace(saving, max_depth=9))
    monkeypatch.undo()

    resumed = native.explore(MODEL, replace(saving, resume=True))
    assert () == stopped.warnings
    assert "depth 9" in str(stopped.statistics["checkpoint"])
    assert expected == told(resumed)
    assert () == resumed.warnings


def test_a_folder_that_is_gone_is_not_written_to_by_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: dict[str, Any]
) -> None:
    saved_always(monkeypatch)
    folder = tmp_path / "checkpoint"

    def removed(progress: Progress) -> None:
        if progress.level == 5:
            shutil.rmtree(folder, ignore_errors=True)

    found = native.explore(MODEL, replace(OPTIONS, checkpoint=str(folder), on_progress=removed))

    assert expected == told(found)
    assert "SW403" in found.warnings[0]
    assert not (folder / MANIFEST).exists()


def _slowly(monkeypatch: pytest.MonkeyPatch, folder: Path, took: float) -> None:
    """A search whose first, small commit takes long, and each level 40 s."""
    original = manifests.write_manifest
    slow = iter([took])
    clock = [time.monotonic()]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def first_is_slow(*arguments: Any, **given: Any) -> None:
        clock[0] += next(slow, 0.0)
        original(*arguments, **given)

    def passing(progress: Progress) -> None:
        clock[0] += 40.0

    monkeypatch.setattr(checkpoints, "write_manifest", first_is_slow)
    saving = replace(OPTIONS, checkpoint=str(folder), checkpoint_every=1.0)
    native.explore(MODEL, replace(saving, on_progress=passing))


def test_a_slow_first_commit_does_not_keep_the_next_from_being_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    depths: list[int] = []
    original = checkpoints.Writer.note

    def noted(self: checkpoints.Writer, depth: int, seconds: float) -> None:
        depths.append(depth)
        original(self, depth, seconds)

    monkeypatch.setattr(checkpoints.Writer, "note", noted)
    _slowly(monkeypatch, tmp_path, took=200.0)

    waited = [later - earlier for earlier, later in pairwise(depths[:3])]
    assert [4, 1] == waited  # levels of 40 s: 300 s at most
