"""Kernels kept on disk: all follow a change of any file that has a part in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from numba import types
from numba.core.dispatcher import Dispatcher

from statewalk.checker.machine import compiling
from statewalk.checker.machine.locks import waited_for
from statewalk.checker.native.kernels import tables
from statewalk.dsl import caches
from tests.places import ROOT

KERNELS = [name for name in compiling.SOURCES if "kernels" in name]
# One kernel each that calls into another file, and one that knows a constant of another.
OUTER = """
import numpy as np
from statewalk.checker.history.decide.kernels.weak import missed
from statewalk.checker.spark.tasks.run_kernels import narrow_links
from statewalk.checker.native.kernels.tables import put_hashed

reads = np.array([[2, 0, 0], [2, 1, 1]])
first, written = np.array([0, 1, 3, 3]), np.array([0, 0, 1])
emitted = missed(3, 2, reads, first, written, False, np.zeros((9, 8), np.int64), 0)

keys, children = np.zeros(64, np.uint64), np.zeros(64, np.int64)
put_hashed(keys, children, np.array([12345], np.uint64), np.array([1]))

narrow = np.zeros((1, 8), np.uint8)
narrow_links(np.array([1 << 40]), np.array([0]), 1, 2, 2, narrow)
print(emitted, int(np.flatnonzero(keys)[0]), narrow.tolist())
"""
EDITS = {
    "history/decide/kernels/reach.py": ("    return m + 1\n", "    return m + 5\n"),
    "native/kernels/walking.py": (
        "return key ^ (key >> S32)\n",
        "return (key ^ (key >> S32)) + U1\n",
    ),
    "native/kernels/arrays.py": ("POSITION_SHIFT = 28\n", "POSITION_SHIFT = 27\n"),
}


def test_every_kernel_has_the_stamp_of_all() -> None:
    modules = [
        import_module("statewalk.checker." + name.removesuffix(".py").replace("/", "."))
        for name in KERNELS
    ]
    caches: list[Any] = [
        getattr(value, "_cache", None)
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
    ]
    kept = [cache._cache_file for cache in caches if hasattr(cache, "_cache_file")]

    assert 30 < len(kept)
    assert {compiling.STAMP} == {file._source_stamp for file in kept}
    assert all(file._version.endswith(compiling.STAMP) for file in kept)


def test_a_call_with_a_constant_asks_for_no_code_of_its_own() -> None:
    @compiling.inlined
    def later(number: int, steps: int) -> int:
        return number + steps

    @compiling.inlined
    def twice_later(number: int) -> int:
        once = later(number, 1)
        return later(once, number)

    twice_later.compile((types.int64,))  # type: ignore[attr-defined]

    assert [(types.int64, types.int64)] == list(later.overloads)  # type: ignore[attr-defined]


KEEPING = """
import numpy as np
from statewalk.checker.native.kernels.runs import mark

print("ready", flush=True)
input()
found = np.zeros(1, np.bool_)
one = np.ones(1, np.uint64)
mark(one, one[:0], one, one[:0], found)
print(found)
"""


@pytest.mark.slow
def test_of_two_processes_one_compiles_and_the_other_waits_for_that(tmp_path: Path) -> None:
    given = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DEBUG_CACHE": "1"}
    command = [sys.executable, "-c", KEEPING]
    both = [
        subprocess.Popen(command, env=given, stdin=-1, stdout=-1, cwd=ROOT, text=True)
        for _ in range(2)
    ]
    for process in both:
        assert process.stdout is not None
        while process.stdout.readline() != "ready\n":
            assert process.poll() is None
    for process in both:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    told = "".join(process.communicate()[0] for process in both)

    assert 2 == told.count("[ True]")
    assert 1 == told.count("data saved")
    assert [] == list(tmp_path.rglob("*.lock"))


def test_a_lock_is_waited_for_but_not_without_end(tmp_path: Path) -> None:
    file = tmp_path / "lock"

    def taken() -> float:
        with waited_for(file, 60.0):
            return time.monotonic()

    with waited_for(file, 60.0), waited_for(file, 0.01):
        nested = True  # the inner one goes on without
    with ThreadPoolExecutor(1) as pool:
        with waited_for(file, 60.0):
            other = pool.submit(taken)
            time.sleep(0.1)
            let_go = time.monotonic()
        waited = other.result()

    assert nested
    assert let_go <= waited
    assert [] == list(tmp_path.iterdir())


def outer(tree: Path, cache: Path) -> list[str]:
    """Return what outer kernels of a tree give, in a process of its own."""
    given = {**os.environ, "PYTHONPATH": str(tree), "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-B", "-c", OUTER]
    done = subprocess.run(command, cwd=tree, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split(maxsplit=2)


@pytest.mark.slow
def test_an_outer_kernel_follows_a_change_of_what_it_calls(tmp_path: Path) -> None:
    tree, cache = tmp_path / "tree", tmp_path / "cache"
    for package in ("checker", "dsl", "models", "statewalk"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tree / package, ignore=ignored, symlinks=True)
    before = outer(tree, cache)
    assert before == outer(tree, cache)
    for name, (old, new) in EDITS.items():
        file = tree / "checker" / name
        about = file.stat()
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1
        file.write_text(text.replace(old, new), encoding="utf-8")
        os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))  # as some tools leave it

    after = outer(tree, cache)

    assert [str(int(before[0]) * 5)] == after[:1]
    assert all(old != new for old, new in zip(before, after, strict=True))


MARK = KEEPING.replace('print("ready", flush=True)\ninput()\n', "")


def marked(cache: Path) -> str:
    """Return what a process that needs a kernel says of where it finds and keeps it."""
    given = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "NUMBA_DEBUG_CACHE": "1"}
    command = [sys.executable, "-c", MARK]
    done = subprocess.run(command, env=given, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "[ True]" in done.stdout
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("end", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda text: b"",
        lambda text: text[: len(text) // 2],
        lambda text: text[:-1],
        lambda text: text[:200] + bytes([text[200] ^ 1]) + text[201:],
    ],
)
def test_a_kernel_that_is_damaged_is_compiled_anew(
    damage: Callable[[bytes], bytes], end: str, tmp_path: Path
) -> None:
    assert "data saved" in marked(tmp_path)
    (file,) = tmp_path.rglob(end)
    file.write_bytes(damage(file.read_bytes()))

    assert "data saved" in marked(tmp_path)
    assert "data saved" not in marked(tmp_path)


@pytest.mark.thorough
def test_a_kernel_under_the_name_of_another_is_not_believed(tmp_path: Path) -> None:
    marked(tmp_path)
    (file,) = tmp_path.rglob("*.nbc")
    other = file.with_name(file.name.replace(".1.", ".2."))
    shutil.copy(file, other)

    cache: Any = tables.put_hashed._cache._cache_file
    cache._check(str(file))
    with pytest.raises(ValueError, match="does not hold"):
        cache._check(str(other))


@pytest.mark.thorough
def test_where_nothing_can_be_written_it_is_compiled_and_said_once(tmp_path: Path) -> None:
    (tmp_path / "no folder").write_text("")
    said = marked(tmp_path / "no folder")

    assert 1 == said.count("warning: the compiled engine is not kept")
    assert "data saved" not in said


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="the system has no owners of files")
def test_kernels_in_a_folder_of_another_user_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(caches, "place", lambda: tmp_path)
    assert 2 == len(compiling.readable(compiling.readable))
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)

    assert 1 == len(compiling.readable(compiling.readable))


def test_what_is_compiled_for_all_users_is_not_left_out_as_one_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(caches, "place", lambda: tmp_path)
    monkeypatch.setattr(compiling, "ahead", True)
    assert [compiling.tree_of(compiling.readable)] == compiling.readable(compiling.readable)
    monkeypatch.setattr(os, "access", lambda *about: False)

    assert 2 == len(compiling.readable(compiling.readable))


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() != 0, reason="only root gives files away")
def test_kernels_in_a_named_folder_of_another_user_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    folder = compiling.writable(compiling.readable)
    assert folder is not None
    assert [folder] == compiling.readable(compiling.readable)
    os.chown(folder, 12345, 12345)

    assert [] == compiling.readable(compiling.readable)
    assert compiling.writable(compiling.readable) is None
