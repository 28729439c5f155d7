"""Kill parts of a Spark run at random and compare the results: `make chaos`.

Starts a standalone cluster on the loopback interface, one master and two workers, each with one
executor. Then checks a spec again and again while something is killed with SIGKILL at a random
moment of the distributed part of the search:

    executor   an executor's JVM; the worker starts another
    worker     a worker and its executor; the rest of the search runs on the other one
    return     as a worker, but another one is started at once and takes part
    driver     the check itself; `statewalk resume` goes on

Every result is compared with the native engine's: counts, transitions per action, verdicts, and the
traces step by step. `python benchmarks/chaos.py --help` lists the options.
"""

from __future__ import annotations

import argparse
import atexit
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.cluster import (  # noqa: E402  (after the path)
    Cluster,
    cluster,
    difference,
    executors,
    kill,
    outcome,
)

SPEC = (
    str(ROOT / "models" / "kafka" / "init_pid.py"),
    "--set", "CLIENTS=3", "--set", "MUTANT=no_epoch_bump", "--keep-going", "--no-liveness",
)  # fmt: skip
SPARK = ("--spark-native-until", "20", "--spark-tasks", "4", "--spark-buckets", "64")
KINDS = ("executor", "worker", "return", "driver")
TOO_LONG = 300.0  # seconds for one check


# -- one check -----------------------------------------------------------------------------------


def statewalk(here: Cluster | None, *words: str) -> subprocess.Popen[bytes]:
    """Start the command, on a cluster where one is given."""
    command = [sys.executable, "-m", "statewalk", *words]
    log, around = subprocess.DEVNULL, None if here is None else here.environment
    process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.PIPE, env=around)
    atexit.register(kill_running, process)
    return process


def kill_running(process: subprocess.Popen[bytes]) -> None:
    """Leave nothing behind when the trials are broken off."""
    if process.poll() is None:
        process.kill()


def finished(process: subprocess.Popen[bytes], file: Path) -> dict[str, Any]:
    """Wait for a check; its result."""
    _, errors = process.communicate(timeout=TOO_LONG)
    if process.returncode not in (0, 1) or not file.exists():
        raise SystemExit(f"A check ended with {process.returncode}:\n{errors.decode()[-2000:]}")
    return outcome(file)


def victim(kind: str, here: Cluster, driver: subprocess.Popen[bytes], dice: random.Random) -> str:
    """Kill something; what it was, or nothing where it was not there."""
    if kind == "driver":
        kill(driver.pid)
        driver.communicate()
        return f"driver {driver.pid}"
    worker = dice.choice(here.workers)
    found = executors(worker)
    if not found:
        return ""
    for pid in found if kind == "executor" else (worker.pid, *found):
        kill(pid)
    if kind == "return":
        worker.wait()
        here.start_workers()
    return f"{kind} {found[0]}"


def trial(
    kind: str, here: Cluster, folder: Path, dice: random.Random, seconds: float
) -> tuple[dict[str, Any], str, float]:
    """One check in which something is killed: its result, what was killed, and when."""
    while True:
        here.start_workers()
        out, file = Path(tempfile.mkdtemp(dir=folder)), folder / "result.json"
        file.unlink(missing_ok=True)
        words = ("--engine", "spark", "--master", here.url, *SPARK, "--out", str(out))
        driver = statewalk(here, "check", *SPEC, *words, "--json", str(file))
        manifest = out / "checkpoint" / "manifest.json"
        while not manifest.exists() and driver.poll() is None:
            time.sleep(0.01)
        moment = dice.uniform(0, seconds)
        try:
            driver.wait(moment)
        except subprocess.TimeoutExpired:
            told = victim(kind, here, driver, dice)
            if told and kind == "driver":
                driver = statewalk(here, "resume", str(out), "--json", str(file))
            result = finished(driver, file)
            shutil.rmtree(out)
            if told:
                return result, told, moment
        else:
            driver.communicate()  # it was over before anything could be killed: once more


def undisturbed(here: Cluster, folder: Path) -> tuple[dict[str, Any], float]:
    """The result of a check in which nothing is killed, and how long its levels took with Spark."""
    here.start_workers()
    out, file = Path(tempfile.mkdtemp(dir=folder)), folder / "result.json"
    words = ("--engine", "spark", "--master", here.url, *SPARK, "--out", str(out))
    driver = statewalk(here, "check", *SPEC, *words, "--json", str(file))
    while not (out / "checkpoint" / "manifest.json").exists() and driver.poll() is None:
        time.sleep(0.01)
    started = time.monotonic()
    result = finished(driver, file)
    return result, time.monotonic() - started


def run(times: int, seed: int, kinds: Sequence[str], folder: Path) -> int:
    """All trials; how many of them gave something else."""
    file = folder / "native.json"
    expected = finished(
        statewalk(None, "check", *SPEC, "--json", str(file), "--out", str(folder / "native")), file
    )
    print(f"native: {expected['verdict']}, {expected['counts']}, {len(expected['traces'])} traces")
    wrong, dice = 0, random.Random(seed)
    with cluster(folder) as here:
        found, seconds = undisturbed(here, folder)
        wrong += found != expected
        print(f"undisturbed: {difference(expected, found) or 'equal'}, {seconds:.1f} s with Spark")
        for number in range(times):
            for kind in kinds:
                started = time.monotonic()
                found, told, moment = trial(kind, here, folder, dice, 0.9 * seconds)
                same = found == expected
                wrong += not same
                told = f"{kind} {number + 1}/{times}: killed {told} after {moment:.2f} s"
                verdict = "equal" if same else f"DIFFERENT: {difference(expected, found)}"
                print(f"{told}; {verdict} ({time.monotonic() - started:.1f} s)", flush=True)
    print(f"{wrong} of {1 + times * len(kinds)} results differ")
    return wrong


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--times", type=int, default=10, help="trials of each kind (10)")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments (1)")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this; repeatable")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="statewalk-chaos-") as folder:
        wrong = run(arguments.times, arguments.seed, arguments.kind or KINDS, Path(folder))
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
