"""A search in files goes on after whatever ended it, and says what keeps it from going on."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from random import Random
from typing import Any

import pytest

from statewalk.checker import native
from statewalk.checker.contract.saved import COLUMN, MANIFEST
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.disk import explore, runs
from statewalk.checker.disk import saving as disk
from statewalk.checker.disk.search import Limits
from statewalk.checker.native.checkpoints import FORMAT
from statewalk.checker.native.manifests import read_manifest, write_manifest
from statewalk.dsl.errors import RunError
from tests.cases import slow, some
from tests.checker.native.agreement import told
from tests.checker.native.generated import generate
from tests.checker.native.hand import two_phase_commit

BROKEN = two_phase_commit(3, broken=True)
FEW = Limits(1 << 40, 20, 15, 20, 40)


def options_of(folder: Path, **more: Any) -> SearchOptions:
    return SearchOptions(keep_going=True, checkpoint=str(folder), **more)


def begun(folder: Path, depth: int = 6, **more: Any) -> SearchOptions:
    """A search that was ended at a depth; the options to resume it with."""
    disk.explore(BROKEN, options_of(folder, max_depth=depth, **more), FEW)
    return options_of(folder, resume=True, **more)


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return told(native.explore(BROKEN, SearchOptions(keep_going=True)))


@pytest.mark.parametrize("depth", [slow(2), 4, slow(7), 11])
@pytest.mark.parametrize("bits", [64, slow(128)])
def test_a_resumed_search_ends_like_one_that_was_never_interrupted(
    depth: int, bits: int, tmp_path: Path, expected: dict[str, Any]
) -> None:
    options = begun(tmp_path, depth, fingerprint_bits=bits)
    if bits == 128:
        expected = told(
            native.explore(BROKEN, SearchOptions(keep_going=True, fingerprint_bits=128))
        )
    resumed = disk.explore(BROKEN, options, FEW)

    assert expected == told(resumed)
    assert [] == list(tmp_path.glob(f"*{COLUMN}"))


def test_what_is_in_files_is_resumed_without_a_limit(
    tmp_path: Path, expected: dict[str, Any]
) -> None:
    options = begun(tmp_path)

    assert expected == told(explore(BROKEN, options))


@pytest.mark.parametrize("calls", some([3, 5, 8, 12, 20, 30], every=6))
def test_an_interrupt_loses_one_level_at_most(
    calls: int, tmp_path: Path, expected: dict[str, Any]
) -> None:
    left = iter(range(calls))
    stopped = disk.explore(
        BROKEN, options_of(tmp_path, interrupted=lambda: next(left, None) is None), FEW
    )
    resumed = disk.explore(BROKEN, options_of(tmp_path, resume=True), FEW)

    assert "interrupt" == stopped.stopped
    assert stopped.counts.distinct == sum(stopped.levels)
    assert expected == told(resumed)


@pytest.mark.parametrize("seed", some(range(24), every=24))
def test_generated_models_are_resumed(seed: int, tmp_path: Path) -> None:
    model = generate(Random(seed))
    given = Limits(1 << 40, seed % 5, 4, 5, 6)
    whole = told(native.explore(model, SearchOptions(keep_going=True, max_states=200)))
    for depth in (2, 4):
        folder = tmp_path / str(depth)
        stopped = disk.explore(model, options_of(folder, max_depth=depth), given)
        resume = stopped.stopped == "depth"
        options = options_of(folder, max_states=200, resume=resume)

        assert whole == told(disk.explore(model, options, given))


# -- damage ----------------------------------------------------------------------------------------


def refused(options: SearchOptions) -> str:
    with pytest.raises(RunError) as raised:
        disk.explore(BROKEN, options, FEW)
    assert "SW343" == raised.value.code
    return raised.value.message


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["links", "seen", "level"])
@pytest.mark.parametrize("how", ["short", "changed", "missing"])
def test_a_damaged_file_is_named(kind: str, how: str, tmp_path: Path) -> None:
    options = begun(tmp_path)
    file = sorted(tmp_path.glob(f"{kind}*{COLUMN}"))[-1]
    data = file.read_bytes()
    if how == "short":
        file.write_bytes(data[:-3])
    elif how == "changed":
        file.write_bytes(data[:8] + bytes([data[8] ^ 1]) + data[9:])
    else:
        file.unlink()

    assert file.name in refused(options)


CHANGES: list[Callable[[dict[str, Any]], object]] = [
    lambda about: about["disk"].pop("links"),
    lambda about: about["disk"].update(sizes=[1, 2]),
    lambda about: about["disk"].update(since="1"),
    lambda about: about["disk"]["links"].__setitem__(0, "/etc/passwd"),
    lambda about: about["disk"]["links"].__setitem__(1, "|O"),
    lambda about: about["disk"]["level"].__setitem__(2, None),
    lambda about: about["disk"]["level"].__setitem__(3, -1),
    lambda about: about["disk"]["runs"].pop(),
    lambda about: about["disk"]["runs"].append([]),
    lambda about: about["totals"].update(initial=2),
    lambda about: about.update(disk=[]),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("change", CHANGES)
def test_a_forged_manifest_is_damage(
    change: Callable[[dict[str, Any]], object], tmp_path: Path
) -> None:
    options = begun(tmp_path)
    about = read_manifest(tmp_path / MANIFEST)
    change(about)
    write_manifest(tmp_path, about, keep=False)

    assert "does not describe a search" in refused(options)


def test_another_search_is_refused(tmp_path: Path) -> None:
    begun(tmp_path)
    with pytest.raises(RunError) as raised:
        disk.explore(two_phase_commit(2), options_of(tmp_path, resume=True), FEW)

    assert "SW341" == raised.value.code


def test_what_was_written_after_the_last_commit_is_left_out(
    tmp_path: Path, expected: dict[str, Any]
) -> None:
    options = begun(tmp_path)
    with open(tmp_path / f"links{COLUMN}", "ab") as file:
        file.write(bytes(24))
    (tmp_path / f"new-000999.fp{COLUMN}").write_bytes(b"half of")

    assert expected == told(disk.explore(BROKEN, options, FEW))


# -- a full disk -----------------------------------------------------------------------------------


@pytest.mark.parametrize("writes", some(range(0, 90, 5), every=9))
def test_a_full_disk_ends_the_search_with_what_is_known(
    writes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: dict[str, Any]
) -> None:
    left = iter(range(writes))

    class Full(FileIO):
        def write(self, data: Any) -> int:
            if next(left, None) is None:
                raise OSError(errno.ENOSPC, "No space left on device", self.name)
            return super().write(data)

    monkeypatch.setattr(runs, "FileIO", Full)
    options = SearchOptions(keep_going=True, scratch=str(tmp_path / "disk"))
    found = disk.explore(BROKEN, options, FEW)

    assert ("memory", False) == (found.stopped, found.complete)
    *whole, last = found.levels  # the last one may not be whole
    assert tuple(whole) == expected["levels"][: len(whole)]
    assert last <= expected["levels"][len(whole)]
    assert any(text.startswith("SW403") and "No space left" in text for text in found.warnings)
    assert not (tmp_path / "disk").exists()


def test_files_are_taken_away(tmp_path: Path) -> None:
    scratch = tmp_path / "run" / "disk"
    found = disk.explore(BROKEN, SearchOptions(keep_going=True, scratch=str(scratch)), FEW)

    assert found.complete
    assert found.statistics["disk"][1] > 0
    assert not scratch.exists()


def test_a_manifest_is_json(tmp_path: Path) -> None:
    begun(tmp_path)
    about = read_manifest(tmp_path / MANIFEST)

    assert about == json.loads(json.dumps(about))
    assert FORMAT == about["format"]
