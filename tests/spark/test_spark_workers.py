"""Spark's workers start with what they need, end quietly, and keep memory from task to task."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyspark
import pytest

from checker.native.states import Shape
from checker.spark import daemon, room

SHAPE = Shape(3, np.dtype(np.uint16), 1, False)


def test_the_daemon_loads_what_tasks_run_and_starts_no_thread() -> None:
    archive = Path(pyspark.__file__).parent / "python" / "lib" / "pyspark.zip"
    code = f"""
import sys
sys.path.insert(0, {str(archive)!r})
from checker.spark.daemon import prepare
prepare()
import os, checker.spark.jobs, pyspark
print(len(os.listdir("/proc/self/task")), "numba" in sys.modules, pyspark.__file__)
"""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )

    assert told.stdout.split() == ["1", "True", pyspark.__file__]


def test_only_archives_of_the_installed_spark_are_left_out(tmp_path: Path) -> None:
    home = Path(pyspark.__file__).parent
    other, own = str(tmp_path / "other.zip"), str(home / "python" / "lib" / "pyspark.zip")
    rest = [entry for entry in sys.path if not entry.endswith(".zip")]

    assert daemon.without_archives([own, *rest, other]) == [*rest, other]


def test_an_archive_that_is_all_there_is_of_spark_is_kept(tmp_path: Path) -> None:
    path = [str(tmp_path), str(tmp_path / "pyspark.zip")]

    assert daemon.without_archives(path) == path


def test_a_worker_whose_spark_is_gone_ends_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(sock: object, authenticated: bool) -> int:
        raise BrokenPipeError(sock, authenticated)

    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    daemon.quiet(broken)(None, True)

    assert ended == [0]


def test_memory_is_taken_over_by_the_next_task_of_the_same_shape() -> None:
    first = room.borrow(2, 5, SHAPE)
    first.partitions[0].reserve(100)
    room.give_back(first, 100)

    assert room.borrow(2, 5, Shape(3, np.dtype(np.uint16), 1, False)) is first
    assert room.borrow(2, 5, SHAPE) is not first, "what is in use is not given to another task"


@pytest.mark.parametrize(
    ("bits", "n_roots", "shape"),
    [
        (3, 5, SHAPE),
        (2, 6, SHAPE),
        (2, 5, Shape(4, np.dtype(np.uint16), 1, False)),
        (2, 5, Shape(3, np.dtype(np.uint32), 1, False)),
        (2, 5, Shape(3, np.dtype(np.uint16), 2, False)),
    ],
)
def test_memory_of_another_shape_is_not(bits: int, n_roots: int, shape: Shape) -> None:
    first = room.borrow(2, 5, SHAPE)
    room.give_back(first, 0)

    assert room.borrow(bits, n_roots, shape) is not first


def test_memory_that_hardly_was_needed_is_given_up() -> None:
    first = room.borrow(2, 5, SHAPE)
    first.partitions[0].reserve(100)
    room.give_back(first, 20)

    assert room.borrow(2, 5, SHAPE) is not first
