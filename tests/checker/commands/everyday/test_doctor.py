"""The doctor: it reports what works, and fails if something necessary does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker import api
from statewalk.checker.cli import main
from statewalk.checker.commands.everyday import doctor
from statewalk.checker.machine import extras, supervisor
from statewalk.checker.machine.installed import source
from statewalk.dsl import caches


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_here_all_is_well(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert 0 == main(["doctor"])
    out = capsys.readouterr().out

    assert "FAIL" not in out
    assert "ok   engine       native and reference agree" in out
    assert [] == list(tmp_path.iterdir())


def test_what_can_be_done_without_is_no_failure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "is_there", lambda name: name != "duckdb")
    monkeypatch.setattr(supervisor, "memory_there", lambda: 1 << 30)
    monkeypatch.setattr(doctor, "_engine", lambda: doctor.Finding("engine", "agrees"))

    assert 0 == main(["doctor"])
    out = capsys.readouterr().out
    assert "without duckdb" in out
    assert source().command("graph") in out
    assert "-    memory       1.0 GB" in out


def test_an_engine_that_counts_otherwise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = api.check

    def wrong(spec: str, engine: str) -> Any:
        run = right(spec, engine="reference")
        if engine == "reference":
            return run
        counts = replace(run.counts, distinct=1)
        return replace(run, result=replace(run.result, counts=counts))

    monkeypatch.setattr(api, "check", wrong)
    monkeypatch.setattr(doctor, "examined", lambda: iter([doctor._engine()]))

    assert 2 == main(["doctor"])


@pytest.mark.parametrize("home", ["/dev/null", ""])
def test_caches_that_cannot_be_written_are_named(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    monkeypatch.setenv("HOME", "/dev/null")
    found = doctor._caches()

    assert "-   " == found.mark
    assert "NUMBA_CACHE_DIR" in found.remedy


def test_a_user_without_a_home_has_no_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)

    assert "this user has no home folder" in doctor._caches().found
    assert caches.folder("kernels") is None


def test_caches_of_another_user_are_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert f"takes files: {tmp_path / 'statewalk'}" == doctor._caches().found
    monkeypatch.setattr("os.geteuid", lambda: (tmp_path / "statewalk").stat().st_uid + 1)

    assert "belongs to another user" in doctor._caches().found
    assert caches.folder("kernels") is None
