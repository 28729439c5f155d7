"""A standalone cluster on this machine: its nodes have no statewalk, and one of them is lost."""

from __future__ import annotations

import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from benchmarks.cluster import cluster, executors, kill, outcome
from statewalk.checker.spark.session.session import archive
from tests.places import ROOT

SPEC = ("check", str(ROOT / "models/kafka/init_pid.py"), "--set", "CLIENTS=3", "--no-liveness")
DIGEST = "from statewalk.checker.spark.tasks.plan import sources; print(sources().hex())"


@pytest.mark.slow
def test_the_archive_is_this_statewalk(tmp_path: Path) -> None:
    with zipfile.ZipFile(archive(tmp_path)) as found:
        found.extractall(tmp_path / "there")
    told = [
        subprocess.run(
            [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {where!r}); {DIGEST}"],
            capture_output=True, text=True, check=True, cwd=tmp_path,
        ).stdout
        for where in (str(tmp_path / "there"), str(ROOT))
    ]  # fmt: skip

    assert (tmp_path / "there/statewalk/dsl/fizz/text/fizz.lark").exists()
    assert told[0] == told[1]


@pytest.mark.slow
@pytest.mark.spark
def test_a_worker_is_lost_and_another_comes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "statewalk", *SPEC]
    native, spark, out = tmp_path / "native.json", tmp_path / "spark.json", tmp_path / "out"
    ending = ("--json", str(native), "--out", str(tmp_path / "n"))
    subprocess.run([*command, *ending], check=True, cwd=ROOT, capture_output=True)
    with cluster(tmp_path) as here:
        words = ["--engine", "spark", "--master", here.url, "--spark-native-until", "20"]
        words += ["--spark-tasks", "4", "--json", str(spark), "--out", str(out)]
        check = subprocess.Popen(
            [*command, *words], cwd=ROOT, env=here.environment, stdout=subprocess.DEVNULL
        )
        while not (out / "checkpoint" / "manifest.json").exists():
            assert check.poll() is None, "it ended before anything could be lost"
            time.sleep(0.01)
        time.sleep(1)
        lost = here.workers[0]
        killed = [lost.pid, *executors(lost)]
        for pid in killed:
            kill(pid)
        lost.wait()
        here.start_workers()
        assert check.wait(timeout=300) == 0
        assert all(worker.poll() is None for worker in here.workers)
        assert here.stop() == [], "all of it ends when asked to"

    assert len(killed) == 2
    assert outcome(native) == outcome(spark)
