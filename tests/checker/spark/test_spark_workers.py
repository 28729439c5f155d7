"""Spark's workers start with what they need, end quietly, and keep memory from task to task."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyspark
import pytest

from statewalk.checker.native.states import Shape
from statewalk.checker.spark.driver.jobs import waiting
from statewalk.checker.spark.session import daemon, session
from statewalk.checker.spark.tasks import feed
from statewalk.checker.spark.tasks.blobs import States
from statewalk.checker.spark.tasks.expanding import expand_task
from statewalk.checker.spark.tasks.merging import _inserted
from statewalk.checker.spark.tasks.plan import sources
from statewalk.dsl.errors import RunError

if TYPE_CHECKING:
    from statewalk.checker.spark.driver.jobs import Jobs, Report
    from statewalk.checker.spark.tasks.plan import Plan

SHAPE = Shape(3, np.dtype(np.uint16), 1, False)


def test_the_daemon_loads_what_tasks_run_and_starts_no_thread() -> None:
    archive = Path(pyspark.__file__).parent / "python" / "lib" / "pyspark.zip"
    code = f"""
import sys
sys.path.insert(0, {str(archive)!r})
from statewalk.checker.spark.session.daemon import prepare
prepare()
import os, statewalk.checker.spark.driver.jobs, pyspark
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
    first = feed.borrow(2, 5, SHAPE)
    first.partitions[0].reserve(100)
    feed.give_back(first, 100)

    assert feed.borrow(2, 5, Shape(3, np.dtype(np.uint16), 1, False)) is first
    assert feed.borrow(2, 5, SHAPE) is not first, "what is in use is not given to another task"


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
    first = feed.borrow(2, 5, SHAPE)
    feed.give_back(first, 0)

    assert feed.borrow(bits, n_roots, shape) is not first


def test_memory_that_hardly_was_needed_is_given_up() -> None:
    first = feed.borrow(2, 5, SHAPE)
    first.partitions[0].reserve(100)
    feed.give_back(first, 20)

    assert feed.borrow(2, 5, SHAPE) is not first


def test_large_memory_is_given_up() -> None:
    first = feed.borrow(2, 5, SHAPE)
    first.partitions[0].reserve(1 << 26)
    feed.give_back(first, 1 << 26)

    assert feed.borrow(2, 5, SHAPE) is not first


def test_a_few_states_are_put_between_others() -> None:
    def states(fps: list[int], links: list[int]) -> States:
        rows = np.array([[link % 256] for link in links], np.uint8)  # tells which of two it is
        fp, link = np.array(fps, np.uint64), np.array(links)
        return States(rows, fp, np.zeros(0, np.uint64), fp[:, None] + np.uint64(1), link)

    there = states([2, 4, 6, 8, 1 << 63], [20, 40, 60, 80, 90])
    few = states([1, 4, 5, 8, (1 << 64) - 1], [1, 39, 5, 81, 7])
    found = _inserted(there, few)

    assert found.fp.tolist() == [1, 2, 4, 5, 6, 8, 1 << 63, (1 << 64) - 1]
    assert found.link.tolist() == [1, 20, 39, 5, 60, 80, 90, 7]
    assert found.packed[:, 0].tolist() == found.link.tolist()
    assert (found.quiet[:, 0] == found.fp + np.uint64(1)).all()


def test_another_version_on_a_node_is_an_error() -> None:
    class Other:
        sources = b"of another version"

    with pytest.raises(RunError, match=r"SW334.*is not the driver's"):
        next(expand_task(cast("Plan", Other()), cast("Any", None), 0))


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (
            "o.a.SparkException: Error from python worker:\n  ModuleNotFoundError: No module named"
            " 'checker'\n\tat org.apache.spark.util.SparkErrorUtils.tryWithSafeFinally(X.scala:1)",
            "No module named 'checker'",
        ),
        (
            "o.a.PythonException: Traceback:\n  "
            "statewalk.dsl.errors.RunError: SW334 other sources\n"
            "\n\tat o.a.SomeError.handle(X.scala:1)\nCaused by: o.a.OtherException: x",
            "SW334 other sources",
        ),
        ("o.a.SparkException: Job aborted: Exception in task\n\tat o.a.Error.x(Y)", "Job aborted"),
    ],
)
def test_what_a_failed_job_is_said_to_be(told: str, said: str) -> None:
    def fails() -> list[Report]:
        raise RuntimeError(told)

    with pytest.raises(RunError) as caught:
        waiting(ThreadPoolExecutor(1), cast("Jobs", None), fails, lambda: False)

    assert caught.value.code == "SW333"
    assert said in str(caught.value)


def test_contexts_asked_for_side_by_side_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    def slowly(settings: dict[str, str]) -> object:
        context = object()
        time.sleep(0.2)
        made.append(context)
        return context

    monkeypatch.setattr(session, "_alive", lambda: made[0] if made else None)
    monkeypatch.setattr(session, "_context", slowly)
    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(session.local_context, "local[2]") for _ in range(2)]

    assert [future.result() for future in found] == made * 2


@pytest.mark.spark
def test_a_session_keeps_what_its_user_has_set() -> None:
    conf = session.local_session("local[2]").conf
    before = conf.get("spark.sql.shuffle.partitions")
    conf.set("spark.sql.shuffle.partitions", "7")
    try:
        again = session.local_session("local[2]")
        assert again.conf.get("spark.sql.shuffle.partitions") == "7"
    finally:
        conf.set("spark.sql.shuffle.partitions", before)
    assert before == "4"


@pytest.mark.spark
def test_workers_run_the_code_of_the_driver() -> None:
    context = session.local_context("local[2]")

    assert context.parallelize([0], 1).map(_where).collect() == [_where(0)]


def _where(_: int) -> tuple[str, bytes]:
    return daemon.__file__, sources()
