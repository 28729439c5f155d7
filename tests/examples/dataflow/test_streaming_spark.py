"""A stream of batches gives each epoch once, whatever ends it and wherever: as the model says."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from examples.dataflow import epochs
from examples.dataflow.epochs import Refused, Saved, alone
from examples.dataflow.streaming import run
from statewalk.checker.spark.session.session import local_session
from tests.cases import slow
from tests.examples.dataflow.batches import POINTS, arm, expected, put, random_log, said, session
from tests.places import ROOT

LENGTH = 3  # batches


def go_on(folder: Path) -> None:
    run(session(), folder / "in", folder / "out", at_once=1)


def killed(folder: Path, who: str, point: str, epoch: int) -> None:
    """Run a job that is killed, or whose Java is, and see that it was."""
    command = [sys.executable, "-m", "tests.examples.dataflow.batches", str(folder / "in")]
    command += [str(folder / "out"), who, point, str(epoch)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=300)

    assert done.returncode == (1 if who == "java" else -signal.SIGKILL), done.stderr.decode()


WHERE = [(who, at, epoch) for epoch in (1, 2, 3) for at in POINTS for who in ("python", "java")]


class Struck(Exception):
    pass


@pytest.mark.spark
def test_a_job_that_fails_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that is killed does, without another Java."""

    def strike() -> None:
        raise Struck("here")

    log = random_log(7, 1, 6)
    put(tmp_path / "in", 1, log[0])
    with monkeypatch.context() as armed:
        armed.setattr(epochs, "publish", epochs.publish)  # is put back
        arm("kept", 1, strike)
        with pytest.raises(Exception, match="Struck: here"):
            go_on(tmp_path)
    assert (tmp_path / "out" / "epochs" / "00000001").exists()  # and Spark does not know it

    go_on(tmp_path)

    assert expected(log) == said(tmp_path / "out")


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(("who", "point", "epoch"), WHERE)
def test_a_killed_job_goes_on(tmp_path: Path, who: str, point: str, epoch: int) -> None:
    log = random_log(7, LENGTH, 6)
    for number, batch in enumerate(log, start=1):
        put(tmp_path / "in", number, batch)

    killed(tmp_path, who, point, epoch)

    kept = sorted(p.name for p in (tmp_path / "out" / "epochs").iterdir() if p.name.isdigit())
    renamed = point == "kept" or (who, point) == ("java", "written")  # Python still renames
    assert len(kept) == epoch - (not renamed)
    go_on(tmp_path)
    assert expected(log) == said(tmp_path / "out")


@pytest.mark.spark
@pytest.mark.slow
def test_what_cannot_go_on_is_refused(tmp_path: Path) -> None:
    log = random_log(3, 1, 4)
    put(tmp_path / "in", 1, log[0])
    go_on(tmp_path)
    put(tmp_path / "in", 3, log[0])

    with pytest.raises(Refused, match=r"00000003.json came before batch 2"):
        go_on(tmp_path)
    with alone(tmp_path / "out"), pytest.raises(Refused, match="another job"):
        go_on(tmp_path)
    assert expected(log) == said(tmp_path / "out")
    rows = next((tmp_path / "out" / "epochs" / "00000001" / "rows").glob("*.json"))
    rows.write_text("", encoding="utf-8")
    with pytest.raises(Refused, match="not those that were written"):
        go_on(tmp_path)


BATCHES = {
    "2 of its lines": ['{"tid": 1}', '{"tid": 1, "item": "a-b"}', '{"end": 1, "records": 2}'],
    "is not whole": ['{"tid": 1, "root": "a"}', '{"end": 1, "records": 2}'],
    "is batch 2": ['{"end": 2, "records": 0}'],
}


@pytest.mark.spark
@pytest.mark.parametrize("what", [slow(what) for what in BATCHES])
def test_batches_that_are_wrong_are_refused(tmp_path: Path, what: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "00000001.json").write_text("\n".join(BATCHES[what]), encoding="utf-8")

    with pytest.raises(Refused, match=what):
        go_on(tmp_path)
    assert [] == list((tmp_path / "out" / "epochs").iterdir())


@pytest.mark.spark
@pytest.mark.slow
def test_a_job_that_forgot_its_progress_compares_and_goes_on(tmp_path: Path) -> None:
    log = random_log(5, 3, 4)
    for number, batch in enumerate(log[:2], start=1):
        put(tmp_path / "in", number, batch)
    go_on(tmp_path)
    shutil.rmtree(tmp_path / "out" / "progress")
    shutil.rmtree(tmp_path / "out" / "epochs" / "00000002")
    put(tmp_path / "in", 3, log[2])

    go_on(tmp_path)

    assert expected(log) == said(tmp_path / "out")
    shutil.rmtree(tmp_path / "out" / "progress")
    put(tmp_path / "in", 2, log[0])
    with pytest.raises(Refused, match="not what epoch 2 was made of"):
        go_on(tmp_path)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_batches_taken_together_give_the_same(tmp_path: Path, seed: int) -> None:
    log = random_log(seed, 6, 8)
    for number, batch in enumerate(log, start=1):
        put(tmp_path / "in", number, batch)

    run(local_session("local[2]"), tmp_path / "in", tmp_path / "out")

    assert expected(log) == said(tmp_path / "out")


def test_a_missing_epoch_is_noticed(tmp_path: Path) -> None:
    saved = Saved(tmp_path)
    for epoch in (1, 3):
        saved.path(epoch).mkdir()

    with pytest.raises(Refused, match=r"00000002: it is missing"):
        saved.last()
    with pytest.raises(Refused, match=r"mark.json cannot be read"):
        saved.mark(1)
    assert saved.mark(4) is None
